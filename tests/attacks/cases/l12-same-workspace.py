#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l12-same-workspace", "eight jails start at once in one workspace, one is killed: the others are not affected", "life", 2, "placeholder and lock races")
argv = t.script("import sys,time\nopen(sys.argv[1],'w').write('x')\nprint('up',flush=True)\ntime.sleep(float(sys.argv[2]))\nprint('finished')\n")
ps = [t.popen(argv + [os.path.join(t.inner, "f%d" % i), "1.2" if i else "20"]) for i in range(8)]
t.wait_up(ps[0])
os.kill(ps[0].pid, signal.SIGKILL)
bad = []
for i, p in enumerate(ps[1:], 1):
    try: o, e = p.communicate(timeout=12)
    except subprocess.TimeoutExpired: bad.append("%d hangs" % i); continue
    if b"finished" not in o or p.returncode: bad.append("%d: status %s %r" % (i, p.returncode, e[:60]))
    elif not os.path.exists(os.path.join(t.inner, "f%d" % i)): bad.append("%d: its file is missing" % i)
t.bad("; ".join(bad)) if bad else t.ok("7 finished, 1 killed")
