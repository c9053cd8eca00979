#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import pty, select, termios
t = Test("t03-terminal-state", "leave the caller's terminal raw, take its foreground process group, or make it the own controlling terminal", "tty", 2, "bubblewrap#555")
probe = t.write_probe("""
import fcntl, termios, tty
for f in (0,1,2):
    for n,g in (('raw',lambda: tty.setraw(f)),('setpgrp',lambda: os.tcsetpgrp(f,os.getpgrp())),('ctty',lambda: fcntl.ioctl(f,0x540E,1)),('winsize',lambda: fcntl.ioctl(f,0x5414,struct.pack('HHHH',7,7,0,0))),('notty',lambda: fcntl.ioctl(f,0x5422)),('hangup',lambda: None)):
        try: g(); info(n+' accepted')
        except (OSError,termios.error) as e: info(n+': '+str(e))
blocked('done')
""")
py = t.python()
def session(argv):
    """Runs argv on a terminal of its own; what changed about that terminal afterwards."""
    pid, m = pty.fork()
    if pid == 0:
        try:
            os.chdir(t.ws)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            was, group = termios.tcgetattr(0), os.tcgetpgrp(0)
            size = os.get_terminal_size(0)
            p = subprocess.Popen(argv, env=t.env())
            try: p.wait(10)
            except subprocess.TimeoutExpired: p.kill(); p.wait()
            now = termios.tcgetattr(0)
            changed = [n for n, x in (("modes", now[:4] != was[:4]), ("foreground group", os.tcgetpgrp(0) != group), ("size", os.get_terminal_size(0) != size)) if x]
            termios.tcsetattr(0, termios.TCSANOW, was)
            os.write(1, ("\n@@CHANGED %s\n@@DONE\n" % (", ".join(changed) or "nothing")).encode())
        finally: os._exit(0)
    out, end = b"", time.time() + 14
    while time.time() < end and b"@@DONE" not in out:
        if not select.select([m], [], [], 0.5)[0]: continue
        try: d = os.read(m, 4096)
        except OSError: break
        if not d: break
        out += d
    try: os.kill(pid, 9)
    except OSError: pass
    os.waitpid(pid, 0); os.close(m)
    return out.decode("utf-8", "replace").replace("\r", "")
o = session(t.launcher() + [py, "-B", probe])
r = Result(0, o.encode(), b"", False, 0)
changed = (r.tags("CHANGED") or ["unknown: the session hung"])[0]
t.judge(r, extra_fail="the caller's terminal is changed: " + changed if changed != "nothing" else None)
