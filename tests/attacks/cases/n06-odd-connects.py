#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("n06-odd-connects", "reach a host listener by fast open, multipath TCP, SCTP, UDP-Lite, mapped and odd addresses, /dev/tcp of bash", "net", 3, "filters that only know connect and TCP")
tcp, udp = t.listen(), t.listen(kind=socket.SOCK_DGRAM)
r = t.probe("""
tp,up=int(ARGS[0]),int(ARGS[1]); n=0
def attempt(name,f):
    global n
    try:
        d=f()
        if d: os.write(1,d); escaped(name+' arrived'); n=1
    except Exception as e: info(name+': '+exc(e))
def stream(fam,proto,addr):
    s=socket.socket(fam,socket.SOCK_STREAM,proto); s.settimeout(1.5); s.connect((addr,tp)); return s.recv(99)
def fastopen():
    s=socket.socket(); s.settimeout(1.5); s.sendto(b'x',0x20000000,('127.0.0.1',tp)); return s.recv(99)
def later():
    s=socket.socket(); s.setblocking(False); s.connect_ex(('127.0.0.1',tp)); time.sleep(.3); return s.recv(99)
def dgram(fam,addr,proto=0):
    s=socket.socket(fam,socket.SOCK_DGRAM,proto); s.settimeout(1); s.sendmsg([b'out'],[],0,(addr,up)); return s.recv(99)
attempt('fast open',fastopen); attempt('non-blocking',later)
for name,fam,proto,addr in (('mptcp',2,262,'127.0.0.1'),('sctp',2,132,'127.0.0.1'),('0.0.0.0',2,0,'0.0.0.0'),('mapped',10,0,'::ffff:127.0.0.1'),('decimal',2,0,'2130706433'),('short',2,0,'127.1'),('hex',2,0,'0x7f000001'),('other loopback',2,0,'127.9.9.9'),('localhost',2,0,'localhost'),('any6',10,0,'::')):
    attempt(name,lambda: stream(fam,proto,addr))
for name,fam,addr,proto in (('udp',2,'127.0.0.1',0),('udp mapped',10,'::ffff:127.0.0.1',0),('udp-lite',2,'127.0.0.1',136),('udp any',2,'0.0.0.0',0)): attempt(name,lambda: dgram(fam,addr,proto))
for k,p in (('tcp',tp),('udp',up)): attempt('/dev/'+k,lambda: subprocess.run(['/bin/bash','-c','exec 3<>/dev/%s/127.0.0.1/%d; echo x >&3; timeout 1 head -c 40 <&3'%(k,p)],capture_output=True,timeout=4).stdout)
if not n: blocked('no variant reaches the host')
""", [tcp.addr[1], udp.addr[1]], timeout=40)
t.judge(r, extra_fail="%d connections and datagrams arrived at the host" % (tcp.conns + udp.conns) if tcp.conns or udp.conns else None)
