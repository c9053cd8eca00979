#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import pty, select
t = Test("x04-terminal-escapes", "output that makes the caller's terminal answer, print, or fill its clipboard (OSC 52, title report, DECRQSS, answerback)", "tty", 2, "CVE-2021-25743, CVE-2023-28101", note="text, colours and cursor movement must still arrive")
EVIL = {"OSC 52 clipboard": b"\x1b]52;c;ZXZpbA==\x07", "OSC 52 ended by ST": b"\x1b]52;p;ZXZpbA==\x1b\\", "title report": b"\x1b[21t", "icon report": b"\x1b[20t",
        "DECRQSS": b"\x1bP$q\"p\x1b\\", "termcap query": b"\x1bP+q544e\x1b\\", "user-defined keys": b"\x1bP0;1|17/6c73\x1b\\", "media copy": b"\x1b[5i",
        "8-bit OSC 52": b"\xc2\x9d52;c;ZXZpbA==\xc2\x9c", "answerback": b"\x05", "font query": b"\x1b]50;?\x07", "file transfer": b"\x1b]1337;File=:eA==\x07"}
path = os.path.join(t.inner, "bytes")
with open(path, "wb") as f: f.write(b"BEGIN\n" + b"".join(b"<" + e + b">" for e in EVIL.values()) + b"\x1b[31mred\x1b[0m END-%d\n" % 42)
def session(argv):
    pid, m = pty.fork()
    if pid == 0:
        try:
            os.chdir(t.ws); os.execvpe(argv[0], argv, t.env())
        finally: os._exit(9)
    out, end = b"", time.time() + 12
    while time.time() < end:
        if not select.select([m], [], [], 0.5)[0]: continue
        try: d = os.read(m, 65536)
        except OSError: break
        if not d: break
        out += d
    try: os.kill(pid, 9)
    except OSError: pass
    os.waitpid(pid, 0); os.close(m)
    return out
o = session(t.launcher() + ["/bin/cat", path])
if b"END-42" not in o: t.skip("the text did not arrive: %r" % o[-120:])
through = [n for n, e in EVIL.items() if e in o]
if through: t.bad("reached the caller's terminal: " + ", ".join(through))
t.ok("dangerous sequences are filtered, colours %s" % ("arrive" if b"\x1b[31mred" in o else "do not arrive"))
