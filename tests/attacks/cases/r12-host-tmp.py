#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import tempfile
t = Test("r12-host-tmp", "read and write the host's shared /tmp, /var/tmp and /dev/shm", "fs-read", 2, "GHSA for predictable /tmp files: CVE-2026-46406")
paths = []
for d in ("/tmp", "/var/tmp", "/dev/shm"):
    if os.path.isdir(d) and os.access(d, os.W_OK) and not t.ws.startswith(d + "/atk-nope"):
        paths.append(t.mk(os.path.join(d, "atk-canary-" + t.tok)))
back = [p + ".from-inside" for p in paths]
t.rm_later(*back)
r = t.probe("""
n=0
for p in ARGS:
    d,e=rd(p)
    if d: os.write(1,d); escaped('host file visible: '+p); n=1
    wr(p+'.from-inside', b'x')
if not n: blocked('host temp dirs not visible')
""", paths)
seen = [b for b in back if os.path.exists(b)]
t.judge(r, extra_fail="file written inside appeared on the host: %s" % ", ".join(seen) if seen else None)
