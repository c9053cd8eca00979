#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("c08-stdio", "positive control: input, output and error stay apart and arrive byte for byte; a closed reader ends the writer", "control", 1)
blob = os.urandom(3 << 20)
src = t.out("in.bin", ""); open(src, "wb").write(blob)
with open(src, "rb") as f: r = t.run(["/bin/sh", "-c", "echo error >&2; cat"], stdin=f, timeout=20)
if r.out != blob: t.bad("input came back changed: %d of %d bytes" % (len(r.out), len(blob)))
if r.err.strip() != b"error": t.bad("standard error is not the command's: %r" % r.err[:80])
p = t.popen(["/bin/sh", "-c", "exec cat /dev/zero"])
p.stdout.read(4096); p.stdout.close()
try: p.wait(6)
except subprocess.TimeoutExpired: t.bad("the command goes on although nobody reads")
t.ok("3 MiB there and back; ended with %s when the reader closed" % p.returncode)
