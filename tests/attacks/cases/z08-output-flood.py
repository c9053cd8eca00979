#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("z08-output-flood", "endless output that nobody reads: the launcher must not collect it; input that nobody reads must not hang it", "res", 2, "unbounded relays")
def memory(pid):
    """Resident MiB of a process and its descendants that the host can see."""
    total, todo = 0, [pid]
    while todo:
        p = todo.pop()
        try:
            total += next((int(l.split()[1]) for l in open("/proc/%d/status" % p) if l.startswith("VmRSS")), 0)
            for k in os.listdir("/proc/%d/task" % p): todo += [int(c) for c in open("/proc/%d/task/%s/children" % (p, k)).read().split()]
        except OSError: pass
    return total >> 10
p = t.popen(["/bin/sh", "-c", "echo up; exec cat /dev/zero"])
t.wait_up(p)
time.sleep(1.5); a = memory(p.pid)
time.sleep(1.0); b = memory(p.pid)
p.kill(); p.wait(3)
if b > 200 or b > a + 32: t.bad("%d MiB, then %d MiB are held for a reader that does not read" % (a, b))
src = os.path.join(t.outside, "big")
with open(src, "wb") as f: f.truncate(512 << 20)
with open(src) as f: q = t.run(["/bin/sh", "-c", "echo started; exit 7"], stdin=f, timeout=8)
if q.timed_out: t.bad("hangs when the command does not read its input")
if b"started" not in q.out: t.skip("did not run: " + q.first_error())
t.ok("%d MiB held; ends with %s when input is not read" % (b, q.rc)) if q.rc == 7 else t.bad("status %s instead of 7" % q.rc)
