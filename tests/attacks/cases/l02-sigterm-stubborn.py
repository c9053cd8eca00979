#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l02-sigterm-stubborn", "SIGTERM, SIGHUP or SIGINT of the launcher while the command and its children, in sessions of their own, ignore signals", "life", 3, "langfuse#15955")
code = "import os,signal,sys,time\nfor s in (1,2,3,15,20,21,22): signal.signal(s,signal.SIG_IGN)\nfor i in range(3):\n if os.fork()==0:\n  os.setsid()\n  if i==2 and os.fork(): os._exit(0)\n  for k in range(300):\n   open(sys.argv[1],'a').write('x'); time.sleep(0.1)\n  os._exit(0)\nprint('up',flush=True)\ntime.sleep(30)\n"
told = []
for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    mark = "stubborn-%d-%s" % (sig, t.tok)
    p = t.popen(t.script(code) + [os.path.join(t.inner, "beat"), mark])
    t.wait_up(p); time.sleep(0.3)
    n = len(t.find_marked(mark))
    os.kill(p.pid, sig)
    if sig == signal.SIGINT: time.sleep(0.5); os.kill(p.pid, signal.SIGTERM)     # Ctrl-C may be the command's to ignore
    gone = t.wait_gone(mark, 7)
    left = t.find_marked(mark)
    for x in left:
        try: os.kill(x, 9)
        except OSError: pass
    if not gone: t.bad("signal %d: %d of %d processes are left after 7 s" % (sig, len(left), n))
    p.wait(5); told.append("%d -> status %s" % (sig, p.returncode))
t.ok("all gone; " + ", ".join(told))
