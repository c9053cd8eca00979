#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l09-signal-games", "signals from inside: kill pid 1 and everybody else by pid, leave stopped children behind", "life", 2, "pid namespaces; bad inits")
s = t.sleeper(25)
r = t.probe("""
host=int(ARGS[0]); d,_=rd('/proc/%d/cmdline'%host)
others=[int(p) for p in os.listdir('/proc') if p.isdigit() and int(p)!=os.getpid()]
if d and b'host-sleeper-' in d: escaped('processes of the host can be seen, so they are left alone'); others=[]
pid=os.fork()
if pid==0: os.setsid(); os.kill(os.getpid(),signal.SIGSTOP); os._exit(0)
pid=os.fork()
if pid==0:
    for s in (1,2,3,10,12,13,14,15,17,23,34): signal.signal(s,signal.SIG_IGN)
    os.setsid(); time.sleep(30); os._exit(0)
for sig in (signal.SIGSTOP,signal.SIGTERM,signal.SIGUSR1,signal.SIGHUP,signal.SIGCHLD,signal.SIGCONT,signal.SIGKILL):
    for p in others:
        try: os.kill(p,sig)
        except OSError as e: info('%d to %d: %s'%(sig,p,exc(e)))
time.sleep(.3)
blocked('still here after killing %d others'%len(others)); os._exit(37)
""", [s.pid], timeout=10)
if s.poll() is not None: t.bad("the host's process died")
if r.timed_out: t.bad("the launcher hangs: a stopped child is left")
if r.tags("BLOCKED") and not r.tags("ESCAPED") and r.rc != 37: t.bad("the command's own status was lost: %s" % r.rc)
t.judge(r)
