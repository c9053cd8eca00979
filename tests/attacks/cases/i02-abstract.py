#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("i02-abstract", "connect to abstract unix sockets of the host (stream, datagram, seqpacket)", "ipc", 3, "CVE-2020-15257")
kinds = [("stream", socket.SOCK_STREAM), ("dgram", socket.SOCK_DGRAM)]
ls = [(n, t.listen(socket.AF_UNIX, "\0atk-%s-%s" % (n, t.tok), k)) for n, k in kinds]
sp = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); sp.bind("\0atk-seq-" + t.tok); sp.listen(2); sp.settimeout(0.2)
r = t.probe("""
n=0
for name,kind in (('stream',socket.SOCK_STREAM),('dgram',socket.SOCK_DGRAM),('seq',socket.SOCK_SEQPACKET)):
    a='\\0atk-%s-%s'%(name,ARGS[0])
    s=socket.socket(socket.AF_UNIX,kind); s.settimeout(2)
    try: s.connect(a); s.send(b'from inside'); escaped('reached '+name); n=1
    except OSError as e: info(name+': '+exc(e))
    try: socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM).sendto(b'from inside',a)
    except OSError: pass
p=socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM)[0]
try: p.connect('\\0atk-dgram-'+ARGS[0]); p.send(b'x'); escaped('reached by a reconnected pair'); n=1
except OSError as e: info('pair: '+exc(e))
d,_=rd('/proc/net/unix',1<<20)
if d and ARGS[0].encode() in d: escaped('the names are listed in /proc/net/unix'); n=1
if not n: blocked('no abstract socket of the host')
""", [t.tok])
t.judge(r, extra_fail="arrived at the host" if any(l.conns for _, l in ls) else None)
