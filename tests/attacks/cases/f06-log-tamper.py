#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("f06-log-tamper", "stdout and stderr that are a log file outside: truncate, rewrite or read back what was there before", "fd", 2, "procfs magic links")
old = "earlier line %s\n" % t.secret_value
log = t.out("log.txt", old)
back = os.path.join(t.inner, "read-back")
probe = t.write_probe("""
got=b''
for f in (1,2):
    for n,g in (('ftruncate',lambda: os.ftruncate(f,0)),('pwrite',lambda: os.pwrite(f,b'XXXXXXXX',0)),('seek',lambda: (os.lseek(f,0,0),os.write(f,b'XXXXXXXX'))),('fcntl',lambda: __import__('fcntl').fcntl(f,4,0))):
        try: g()
        except OSError as e: info(n+': '+exc(e))
    for p in ('/proc/self/fd/%d'%f,'/dev/fd/%d'%f):
        for fl in (os.O_RDONLY,os.O_WRONLY|os.O_TRUNC,os.O_RDWR):
            try:
                fd=os.open(p,fl|os.O_NONBLOCK)
                if fl!=os.O_WRONLY|os.O_TRUNC: got+=os.pread(fd,400,0)
                os.pwrite(fd,b'XXXXXXXX',0)
            except OSError as e: info(exc(e))
open(ARGS[0],'wb').write(got)
say('LAST','done')
""")
py = t.python()
with open(log, "a") as f:
    p = t.popen([py, "-B", probe, back], stdout=f, stderr=f)
    try: p.wait(12)
    except subprocess.TimeoutExpired: t.skip("timed out")
text = open(log).read()
if t.secret_value in (open(back).read() if os.path.exists(back) else ""): t.bad("earlier lines of the log were read back")
if not text.startswith(old): t.bad("earlier lines of the log were changed")
if "@@LAST" not in text: t.skip("the probe did not finish: " + text[-120:])
t.ok("the log only grew")
