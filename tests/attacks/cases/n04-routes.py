#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("n04-routes", "any route outwards, the metadata address, any interface but loopback", "net", 3, "169.254.169.254", note="route look-ups only, nothing is sent")
r = t.probe("""
hit=[]
for fam,a in ((2,'192.0.2.1'),(2,'169.254.169.254'),(2,'10.0.0.1'),(2,'255.255.255.255'),(2,'224.0.0.1'),(10,'2001:db8::1'),(10,'fe80::1'),(10,'ff02::1'),(10,'fd00:ec2::254')):
    try:
        s=socket.socket(fam,socket.SOCK_DGRAM)
        if a=='255.255.255.255': s.setsockopt(socket.SOL_SOCKET,socket.SO_BROADCAST,1)
        s.connect((a,53)); src=s.getsockname()[0]
        if not src.startswith('127.') and src not in ('::1','0.0.0.0','::'): hit.append('route to %s from %s'%(a,src))
        else: info(a+' only from '+src)
    except OSError as e: info(a+': '+exc(e))
try: hit+=['interface '+n for _,n in socket.if_nameindex() if n!='lo']
except OSError as e: info('interfaces: '+exc(e))
for p in ('/proc/net/route','/proc/net/ipv6_route','/proc/net/arp'):
    d,_=rd(p,65536)
    hit+=['%s: %s'%(p,l[:40]) for l in (d or b'').decode().splitlines()[p!='/proc/net/ipv6_route':] if not l.rstrip().endswith('lo') and not l.startswith('lo')][:1]
escaped('; '.join(hit)) if hit else blocked('nowhere to go')
""")
t.judge(r)
