#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l06-late-writes", "writes into the workspace after the launcher was killed for a timeout", "life", 3, "langfuse#15955")
code = "import os,signal,sys,time\nfor s in (1,2,3,15,20,21,22): signal.signal(s,signal.SIG_IGN)\nfor i in range(3):\n if os.fork()==0:\n  os.setsid()\n  if i==2 and os.fork(): os._exit(0)\n  for k in range(300):\n   open(sys.argv[1],'a').write('x'); time.sleep(0.1)\n  os._exit(0)\nprint('up',flush=True)\ntime.sleep(30)\n"
beat = os.path.join(t.inner, "beat")
for how in ("SIGKILL", "SIGTERM, then SIGKILL"):
    p = t.popen(t.script(code) + [beat, "late-" + t.tok])
    t.wait_up(p); time.sleep(0.4)
    if how != "SIGKILL":
        os.kill(p.pid, signal.SIGTERM)
        try: p.wait(1)
        except subprocess.TimeoutExpired: pass
    if p.poll() is None: os.kill(p.pid, signal.SIGKILL)
    p.wait(3)
    time.sleep(0.5); a = os.path.getsize(beat)
    time.sleep(1.2); b = os.path.getsize(beat)
    for x in t.find_marked("late-" + t.tok):
        try: os.kill(x, 9)
        except OSError: pass
    if b > a: t.bad("%s: %d more writes after the end" % (how, b - a))
t.ok("nothing was written after the end")
