#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("l08-caller-thread-ends", "the thread that started the launcher ends while its process lives on: the command must not die", "life", 2, "prctl(2): the parent of PR_SET_PDEATHSIG is a thread")
argv, box = t.script("import time\nprint('up',flush=True)\ntime.sleep(1.5)\nprint('finished')\n"), []
th = threading.Thread(target=lambda: box.append(t.popen(argv)))
th.start(); th.join()
o, e = box[0].communicate(timeout=12)
if b"up" not in o: t.skip("did not run: %r" % e[:120])
t.ok("finished") if b"finished" in o and box[0].returncode == 0 else t.bad("the command died with the thread that started it: status %s" % box[0].returncode)
