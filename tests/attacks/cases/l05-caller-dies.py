#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l05-caller-dies", "the caller of the launcher is killed", "life", 3, "PR_SET_PDEATHSIG")
mark = "orphan-" + t.tok
code = "import os,time\nif os.fork()==0:\n os.setsid(); time.sleep(30); os._exit(0)\nprint('up',flush=True)\ntime.sleep(30)\n"
argv = t.launcher() + t.script(code) + [mark]
caller = "import subprocess,sys,time\np=subprocess.Popen(sys.argv[1:],stdin=subprocess.DEVNULL)\ntime.sleep(30)\n"
p = subprocess.Popen([sys.executable, "-c", caller] + argv, env=t.env(), cwd=t.ws, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
t._procs.append(p)
t.wait_up(p); time.sleep(0.3)
n = len(t.find_marked(mark))
os.kill(p.pid, signal.SIGKILL); p.wait(3)
gone = t.wait_gone(mark, 5)
left = t.find_marked(mark)
for x in left:
    try: os.kill(x, 9)
    except OSError: pass
t.ok("all gone with the caller (%d before)" % n) if gone else t.bad("%d process(es) outlived the caller" % len(left))
