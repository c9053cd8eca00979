#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("e02-launcher-environ", "read the caller's environment from the launcher, its init, the parent, or stale memory of the own process", "env", 3, "inflexa#88; gh-aw-firewall#720; sandlock#246")
env = {"GITHUB_TOKEN": t.secret_value, "HARMLESS_NAME": t.secret_value, "LC_CANARY": t.secret_value}
r = t.probe("""
n=0; seen=0
pids={int(x) for x in os.listdir('/proc') if x.isdigit()}|{1,os.getppid(),os.getpid()}
for p in sorted(pids):
    tops=['/proc/%d'%p]
    try: tops+=['/proc/%d/task/%s'%(p,k) for k in os.listdir('/proc/%d/task'%p)]
    except OSError: pass
    for top in tops:
        d,e=rd(top+'/environ',1<<20)
        if d is not None: seen+=1
        if d and b'CANARY-' in d: os.write(1,d[-300:]); escaped('environ of '+top); n=1
if not n: blocked('%d environments read, none holds the secret'%seen)
""", env=env)
# The first moments: an init that has not yet become another program still carries the caller's environment.
for _ in range(15):
    q = t.run(["/bin/cat", "/proc/1/environ", "/proc/self/environ", "/proc/1/cmdline"], env=env)
    if t.leaked(q): t.bad("the caller's environment was readable right after the start")
t.judge(r)
