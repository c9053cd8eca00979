#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("w06-cross-boundary", "truncate, link, rename, exchange and O_TMPFILE+linkat across the edge of the workspace; hard link out of a read-only directory", "fs-write", 3, "Landlock ABI 2 and 3; sandlock#179")
p = t.out("victim.txt", "original\n")
r = t.probe("""
v,out=ARGS; b=os.path.dirname(sys.argv[0]); done=[]
own=b+'/own'; open(own,'w').write('tampered')
LINKAT,RENAMEAT2=(265,316) if ARCH=='x86_64' else (37,276)
def tried(n,r,e=0):
    if r>=0: done.append(n)
    else: info(n+': '+ename(e))
def attempt(n,f):
    try: f(); done.append(n)
    except OSError as e: info(n+': '+exc(e))
tried('truncate',*sysc(NR['truncate'],v.encode(),0))
attempt('link in',lambda: os.link(v,b+'/hard'))
attempt('link out',lambda: os.link(own,out+'/hard'))
attempt('rename out',lambda: os.rename(own,out+'/moved'))
attempt('rename in',lambda: os.rename(v,b+'/taken'))
tried('exchange',*sysc(RENAMEAT2,-100,own.encode(),-100,v.encode(),2))
try:
    fd=os.open(b,os.O_TMPFILE|os.O_RDWR,0o644); os.write(fd,b'tampered')
    tried('O_TMPFILE+linkat',*sysc(LINKAT,-100,('/proc/self/fd/%d'%fd).encode(),-100,(out+'/tmpfile').encode(),0x400))
    tried('linkat empty path',*sysc(LINKAT,fd,b'',-100,(out+'/tmpfile2').encode(),0x1000))
except OSError as e: info('O_TMPFILE: '+exc(e))
import glob
for src in [os.path.realpath('/bin/sh'),'/etc/ld.so.cache','/etc/passwd']+glob.glob('/usr/share/*/*')[:2]:
    try: fd=os.open(src,os.O_PATH|os.O_NOFOLLOW)
    except OSError: continue
    if not stat.S_ISREG(os.fstat(fd).st_mode): continue
    dst=b+'/sys-'+os.path.basename(src)
    tried('hard link of '+src,*sysc(LINKAT,-100,('/proc/self/fd/%d'%fd).encode(),-100,dst.encode(),0x400))
escaped('done: '+', '.join(done)) if done else blocked('the edge holds')
""", [p, t.outside])
host = [n for n in os.listdir(t.outside) if n != "victim.txt"]
if not os.path.exists(p) or open(p).read() != "original\n": host.append("victim changed")
t.judge(r, extra_fail="on the host: " + " ".join(host) if host else None)
