#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import shutil
t = Test("x07-nested", "the launcher inside its own jail: it works as promised or refuses, but is never silently weaker", "env", 3, "nested sandboxes that fall back to none")
sec = t.out("secret.txt")
mid = t.wsf("atk-mid-%s/secret.txt" % t.tok)
sub = t.wsdir("atk-sub-" + t.tok)
prog = os.path.realpath(t.launcher()[0])
copy = os.path.join(t.inner, "launcher"); shutil.copy(prog, copy); os.chmod(copy, 0o755)
inner = [copy] + [a.replace(t.ws, sub) for a in t.launcher()[1:]]
code = "cat '%s' '%s' 2>/dev/null; echo x > '%s/../planted'; echo ran" % (sec, mid, sub)
r = t.run(inner + ["/bin/sh", "-c", code], timeout=15, env={"WS": sub})
planted = os.path.join(t.ws, "planted"); t.rm_later(planted)
if t.leaked(r): t.bad("the inner jail shows what is outside its own workspace")
if os.path.exists(planted): t.bad("the inner jail writes outside its own workspace")
if b"ran" in r.out: t.ok("a jail inside a jail works")
t.ok("refused: status %s, %s" % (r.rc, r.first_error())) if r.rc else t.skip("nothing ran and nothing was refused")
