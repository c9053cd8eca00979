#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l10-zombies", "hundreds of orphans: pid 1 inside must reap them", "life", 1, "inits that do not wait")
r = t.probe("""
for i in range(800):
    pid=os.fork()
    if pid==0:
        if os.fork()==0: os._exit(0)
        os._exit(0)
    os.waitpid(pid,0)
end=time.time()+4
def zombies():
    n=0
    for p in os.listdir('/proc'):
        if p.isdigit():
            try: f=open('/proc/%s/stat'%p).read().rsplit(')',1)[1].split(); n+=f[0]=='Z'
            except OSError: pass
    return n
while zombies()>3 and time.time()<end: time.sleep(.1)
n=zombies()
escaped('%d zombies stay'%n) if n>3 else blocked('800 orphans reaped')
""", timeout=30)
t.judge(r)
