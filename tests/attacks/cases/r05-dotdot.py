#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("r05-dotdot", "climb out of the workspace with .. (relative, absolute, by handle, by chdir, through /proc)", "fs-read", 3, "CVE-2025-54794, CWE-22")
p = t.out("secret.txt")
r = t.probe("""
ws,out=ARGS; rel=os.path.basename(out)+'/secret.txt'; n=0
def hit(how,d):
    global n
    if d: os.write(1,d); escaped('read by '+how); n=1
for c in ('../'+rel,'./.atk-x/../../'+rel,ws+'/../'+rel,ws+'//.././/'+rel,'/proc/self/cwd/../'+rel,'/proc/self/root'+out+'/secret.txt','/proc/thread-self/cwd/../'+rel,'../'*40+out[1:]+'/secret.txt'):
    hit(c,rd(c)[0])
fd=os.open('.',os.O_RDONLY)
for flags in (os.O_RDONLY,os.O_PATH):
    try:
        up=os.open('..',flags|os.O_DIRECTORY,dir_fd=fd)
        hit('openat(..)',os.read(os.open(rel,os.O_RDONLY,dir_fd=up),99))
    except OSError as e: info('openat: '+exc(e))
try: os.chdir('..'); hit('chdir(..)',rd(rel)[0])
except OSError as e: info('chdir: '+exc(e))
if not n: blocked('.. leads to nothing of the host')
""", [t.ws, t.outside])
t.judge(r)
