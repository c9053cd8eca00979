#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("x06-odd-workspace", "workspaces whose names hold spaces, quotes, newlines, bytes that are no text, options, patterns", "env", 2, "quoting of mount arguments")
sec = t.out("secret.txt")
NAMES = [b"two words", b" edges ", b"quote'\"s", b"new\nline", b"tab\tbell\x07", b"\xff\xfe-bytes", b"-dash", b"--bind", b"$(touch x)`id`", b"*?[a]{b,c}", b"back\\slash\\040", b"semi;colon:comma,equals=", b"\xc3\xa4\xe2\x80\xae", b"100%", b"#hash", b"~", b"x" * 200]
base = os.fsencode(t.outside) + b"/odd"
ws = os.fsencode(t.ws)
if os.path.basename(t.launcher()[0]) == "env": t.bad("no launcher, so every workspace shows the outside")
bad = []
for name in NAMES:
    d = base + b"/" + name; os.makedirs(d)
    with open(base + b"/sibling", "w") as f: f.write(t.secret_value)
    argv = [os.fsencode(a).replace(ws, d) for a in t.launcher()]
    env = {os.fsencode(k): os.fsencode(v) for k, v in t.env().items()}; env.update({b"WS": d, b"PWD": d})
    code = "printf %s \"$(pwd)\" > here; cat ../sibling \"$1\" 2>/dev/null; echo ran"
    p = subprocess.run(argv + [b"/bin/sh", b"-c", code.encode(), b"sh", sec.encode()], env=env, cwd=d, stdin=subprocess.DEVNULL, capture_output=True, timeout=12)
    if t.secret_value.encode() in p.stdout: t.bad("workspace %r shows its surroundings" % name)
    here = open(d + b"/here", "rb").read() if os.path.exists(d + b"/here") else None
    if here != d: bad.append("%r: status %s, %r" % (name, p.returncode, p.stderr[-80:] if here is None else here[-40:]))
t.bad("; ".join(bad)) if bad else t.ok("%d names" % len(NAMES))
