#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import random
t = Test("l11-killed-early", "SIGKILL of the launcher at every moment of its start leaves processes, mounts, cgroups or files", "life", 2, "codex#37318")
argv = t.script("import time\ntime.sleep(20)\n")
mark = "early-" + t.tok
def mounts():
    return {l.split(" - ")[0].split()[4] for l in open("/proc/self/mountinfo")}
def files():
    return {os.path.relpath(os.path.join(r, n), t.ws) for r, d, f in os.walk(t.ws) for n in d + f if not r.startswith(t.inner)}
def empty_groups():
    """Leaf control groups without a process. What others are just using is not among them for long."""
    found = set()
    for r, d, f in os.walk("/sys/fs/cgroup"):
        if r.count("/") > 7: d[:] = []
        try:
            if "cgroup.procs" in f and not d and not open(r + "/cgroup.procs").read(): found.add(r)
        except OSError: pass
    return found
whole = t.run(["/bin/true"])
if whole.rc != 0: t.skip("does not run: " + whole.first_error())
m0, f0, g0 = mounts(), files(), empty_groups()
rng = random.Random(7)
span = max(whole.secs * 1.5, 0.02)
for i in range(60):
    p = t.popen(argv + [mark], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(span * i / 60 + rng.random() * span / 60)
    p.kill(); p.wait(3)
left = [] if t.wait_gone(mark, 4) else ["%d processes" % len(t.find_marked(mark))]
for _ in range(3):                             # what a killed launcher could not remove, the next start may
    t.run(["/bin/true"]); stale = (mounts() - m0, files() - f0, empty_groups() - g0)
    if not any(stale): break
    time.sleep(1)
left += sorted(stale[0]) + sorted(stale[1]) + sorted(stale[2])
t.bad("left behind: " + " ".join(left)[:200]) if left else t.ok("60 starts killed within %.0f ms, nothing left" % (span * 1000))
