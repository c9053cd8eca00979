#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import pty, select
t = Test("t02-host-pts", "write to and read from a terminal of the host by name, and the caller's own one by /dev/tty when stdio is not a terminal", "tty", 2, "host /dev/pts visible inside")
m, sl = pty.openpty()
name = os.ttyname(sl); os.chmod(name, 0o666)
probe = t.write_probe("""
n=0
for p in (ARGS[0],'/dev/tty','/dev/console','/dev/tty0','/dev/tty1'):
    try:
        fd=os.open(p,os.O_RDWR|os.O_NOCTTY|os.O_NONBLOCK); w=os.write(fd,b'WRITTEN-FROM-INSIDE\\r\\n') if p in (ARGS[0],'/dev/tty') else 0
        info(p+' opened'); n+=1
    except OSError as e: info(p+': '+exc(e))
blocked('%d terminals opened, none of the host'%n)
""")
py = t.python()
def drain(fd):
    out = b""
    while select.select([fd], [], [], 0.4)[0]:
        try: d = os.read(fd, 4096)
        except OSError: break
        if not d: break
        out += d
    return out
# With a controlling terminal, but with pipes for stdio: whatever arrives at the terminal did not come through us.
pid, own = pty.fork()
if pid == 0:
    try:
        os.chdir(t.ws)
        q = subprocess.run(t.launcher() + [py, "-B", probe, name], env=t.env(), stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
        with open(os.path.join(t.inner, "result"), "wb") as f: f.write(q.stdout + b"\n" + q.stderr)
    finally: os._exit(0)
mine, end = b"", time.time() + 12
while time.time() < end:
    if select.select([own], [], [], 0.3)[0]:
        try: mine += os.read(own, 4096)
        except OSError: break
os.waitpid(pid, 0)
theirs = drain(m)
try: out = open(os.path.join(t.inner, "result"), "rb").read()
except OSError: t.skip("the launcher did not run")
r = Result(0, out, b"", False, 0)
where = [w for w, d in (("another terminal of the host", theirs), ("the caller's terminal through /dev/tty", mine)) if b"WRITTEN-FROM-INSIDE" in d]
t.judge(r, extra_fail="text arrived at " + " and ".join(where) if where else None)
