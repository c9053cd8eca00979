#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("s05-host-root", "sandboxed process runs as host uid 0 (global root) behind its mapping", "syscall", 3, "runc/userns advice: root-owned /proc/sys stays writable for global uid 0")
# What counts is the id the kernel checks permissions with, so the host looks at the process itself. The owner of a
# file says less: through an idmapped mount a new file belongs to the owner of the workspace, whoever made it.
argv = t.script("""
import sys, time
open(sys.argv[1]+'/owner','w').write('x')
print('up',flush=True); time.sleep(15)
""") + [t.inner, "root-" + t.tok]
t.wait_up(t.popen(argv))
line = b"\0".join(a.encode() for a in argv) + b"\0"
jailed = [p for p in t.find_marked("root-" + t.tok) if open("/proc/%d/cmdline" % p, "rb").read() == line]
if not jailed: t.skip("the jailed process is not visible from here")
for p in jailed:
    ids = [l.split()[1:] for l in open("/proc/%d/status" % p) if l.startswith(("Uid:", "Gid:"))]
    if "0" in ids[0] or "0" in ids[1]: t.bad("pid %d runs with host uids %s and gids %s" % (p, " ".join(ids[0]), " ".join(ids[1])))
owner = os.stat(os.path.join(t.inner, "owner")).st_uid
if owner == 0 and os.stat(t.ws).st_uid != 0: t.bad("a file created inside belongs to host uid 0, the workspace does not")
t.ok("host uids %s, gids %s; a new file belongs to uid %d" % (" ".join(ids[0]), " ".join(ids[1]), owner))
