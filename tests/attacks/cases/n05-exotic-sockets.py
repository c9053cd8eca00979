#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("n05-exotic-sockets", "raw, packet, vsock, bluetooth, XDP, crypto, netlink and other rare socket families", "net", 2, "codex-security#160; kernel attack surface", note="sockets are only created")
r = t.probe("""
hit=[]; ok=0
S,D,R,Q=1,2,3,5
rows=[('raw icmp',2,R,1),('raw tcp',2,R,6),('raw ip',2,R,255),('raw icmp6',10,R,58),('ping',2,D,1),('ping6',10,D,58),('packet',17,R,0x300),('packet dgram',17,D,0x300)]
rows+=[(n,f,k,0) for n,f in (('ax25',3),('ipx',4),('appletalk',5),('netrom',6),('x25',9),('rose',11),('key',15),('econet',19),('atm',20),('rds',21),('pppox',24),('wanpipe',25),('llc',26),('ib',27),('mpls',28),('can',29),('tipc',30),('bluetooth',31),('iucv',32),('rxrpc',33),('isdn',34),('phonet',35),('ieee802154',36),('caif',37),('alg',38),('nfc',39),('vsock',40),('kcm',41),('qipcrtr',42),('smc',43),('xdp',44),('mctp',45)) for k in (S,D,R,Q)]
rows+=[('netlink %d'%p,16,R,p) for p in range(1,23)]
for n,f,k,p in rows:
    try: s=socket.socket(f,k,p); s.close(); hit.append(n)
    except OSError as e:
        ok+=1
        if n in ('alg','vsock','xdp','packet','bluetooth'): info(n+': '+exc(e))
for f,k in ((40,S),(38,Q),(16,R)):
    try: socket.socketpair(f,k); hit.append('pair of family %d'%f)
    except OSError: pass
escaped('created: '+', '.join(dict.fromkeys(hit))) if hit else blocked('%d kinds refused'%ok)
""")
t.judge(r)
