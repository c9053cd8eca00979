#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("c07-status", "positive control: status of the command, of a signal, of a program that is missing or cannot be executed", "control", 1)
data = os.path.join(t.inner, "not-executable"); open(data, "w").close()
rows = [(["/bin/sh", "-c", "exit %d" % n], (n,)) for n in (0, 1, 2, 64, 124, 125, 255)]
rows += [(["/bin/sh", "-c", "kill -%d $$" % n], (128 + n, -n)) for n in (1, 2, 6, 13, 15)]
rows += [(["/no/such/program"], (127,)), ([data], (126,))]
wrong = []
for argv, accepted in rows:
    r = t.run(argv)
    if r.rc not in accepted: wrong.append("%s -> %s, not %s" % (argv[-1], r.rc, accepted[0]))
t.bad("; ".join(wrong)) if wrong else t.ok("%d rows" % len(rows))
