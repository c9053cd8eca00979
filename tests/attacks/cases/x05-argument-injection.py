#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("x05-argument-injection", "commands and arguments that look like options of the launcher or of what it starts", "env", 3, "CVE-2024-32462, CVE-2020-17367")
sec = t.out("secret.txt")
for name in ("--help", "--bind", "--version"):
    r = t.run([name, "/", "/", "/bin/cat", sec])
    if t.leaked(r): t.bad("%s was taken as an option" % name)
    if r.rc == 0: t.bad("%s was answered by the launcher: %s" % (name, r.first_error()))
words = [b"--bind", b"/", b"/", b"--share-net", b"", b"-c", b"a\nb", b"$(id)", b"'\"", b"\xff\xfe", b"--", b"--workspace", b"=x", b" ", b"%s%n", b"\x1b[31m", b"x" * 100000]
probe = t.write_probe("""
for a in sys.argv[1:]: say('WORD',os.fsencode(a).hex()[:64])
d,e=rd(os.environ.get('X','%s'))
escaped('the options were obeyed') if d else blocked('words arrive as words')
""" % sec)
p = subprocess.Popen([os.fsencode(a) for a in t.launcher() + [t.python(), "-B", probe]] + words, env=t.env(), cwd=t.ws, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
t._procs.append(p)
o, e = p.communicate(timeout=12)
r = Result(p.returncode, o, e, False, 0)
if r.started and r.tags("WORD") != [w.hex()[:64] for w in words]: t.bad("the words changed on the way: %d of %d" % (len(r.tags("WORD")), len(words)))
t.judge(r)
