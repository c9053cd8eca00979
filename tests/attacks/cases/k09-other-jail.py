#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("k09-other-jail", "one jail observes another of the same user: processes, /tmp, HOME, sockets, shared memory, loopback", "proc", 3, "several agents of one user")
port = socket.socket(); port.bind(("127.0.0.1", 0)); n = port.getsockname()[1]; port.close()
first = t.write_probe("""
tok,port,secret=ARGS
os.environ['OTHER_SECRET']=secret
for d in {'/tmp','/var/tmp','/dev/shm','/run',os.environ.get('HOME','/tmp'),os.environ.get('TMPDIR','/tmp')}: wr(d+'/other-'+tok,secret.encode())
a=socket.socket(socket.AF_UNIX); a.bind('\\0other-'+tok); a.listen(4)
b=socket.socket(); b.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)
try: b.bind(('127.0.0.1',int(port))); b.listen(4)
except OSError as e: info('bind: '+exc(e))
k=_libc.shmget(int(tok[:7],16),4096,0o1666)
say('UP','up')
def serve(s):
    while True:
        try: c,_=s.accept(); c.sendall(secret.encode()); c.close()
        except OSError: return
for s in (a,b): threading.Thread(target=serve,args=(s,),daemon=True).start()
time.sleep(15)
""", "first.py")
t.rm_later(*(d + "/other-" + t.tok for d in ("/tmp", "/var/tmp", "/dev/shm", "/run", t.home)))
p = t.popen([t.python(), "-B", first, t.tok, str(n), t.secret_value])
t.wait_up(p)
r = t.probe("""
tok,port=ARGS; hit=[]
for pid in os.listdir('/proc'):
    if pid.isdigit() and int(pid)!=os.getpid():
        d,_=rd('/proc/%s/cmdline'%pid)
        if d and b'first.py' in d and tok.encode() in d: hit.append('sees pid '+pid)
for d in {'/tmp','/var/tmp','/dev/shm','/run',os.environ.get('HOME','/tmp'),os.environ.get('TMPDIR','/tmp')}:
    if rd(d+'/other-'+tok)[0]: hit.append('reads '+d)
for fam,addr in ((socket.AF_UNIX,'\\0other-'+tok),(socket.AF_INET,('127.0.0.1',int(port)))):
    s=socket.socket(fam); s.settimeout(2)
    try: s.connect(addr); hit.append('connects to %r'%(addr,))
    except OSError as e: info(exc(e))
if _libc.shmget(int(tok[:7],16),4096,0)>=0: hit.append('shares System V memory')
escaped('; '.join(hit)) if hit else blocked('nothing of the other jail is visible')
""", [t.tok, n])
import ctypes
libc = ctypes.CDLL(None)
k = libc.shmget(int(t.tok[:7], 16), 4096, 0)
if k >= 0: libc.shmctl(k, 0, None)
t.judge(r)
