#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import ctypes
t = Test("i05-shared-memory", "System V memory, semaphores and queues, POSIX queues and /dev/shm objects of the host", "ipc", 2, "ipc namespace")
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
key = int(t.tok[:7], 16)
shm, sem, msg = libc.shmget(key, 4096, 0o1666), libc.semget(key, 1, 0o1666), libc.msgget(key, 0o1666)
if shm < 0: t.skip("no System V memory here")
def remove():
    libc.shmctl(shm, 0, None); libc.semctl(sem, 0, 0); libc.msgctl(msg, 0, None)
atexit.register(remove)
a = libc.shmat(shm, None, 0); ctypes.memmove(a, t.secret_value.encode(), len(t.secret_value))
file = t.mk("/dev/shm/atk-" + t.tok) if os.access("/dev/shm", os.W_OK) else ""
NRS = {"x86_64": (240, 241), "aarch64": (180, 181)}.get(os.uname().machine)
q = libc.syscall(ctypes.c_long(NRS[0]), ("atk-" + t.tok).encode(), ctypes.c_long(0o102), ctypes.c_long(0o666), None) if NRS else -1
if q >= 0: atexit.register(lambda: libc.syscall(ctypes.c_long(NRS[1]), ("atk-" + t.tok).encode()))
r = t.probe("""
tok,key=ARGS[0],int(ARGS[1]); hit=[]
_libc.shmat.restype=ctypes.c_void_p
for n,k in (('memory by key',_libc.shmget(key,4096,0)),('memory by id',int(ARGS[2]))):
    if k>=0:
        a=_libc.shmat(k,None,0o10000)
        if a and a!=ctypes.c_void_p(-1).value: os.write(1,ctypes.string_at(a,40)); hit.append(n)
if _libc.semget(key,1,0)>=0: hit.append('semaphore')
if _libc.msgget(key,0)>=0: hit.append('queue')
nr={'x86_64':240,'aarch64':180}.get(ARCH)
if nr and sysc(nr,('atk-'+tok).encode(),0,0,None)[0]>=0: hit.append('POSIX queue')
if rd('/dev/shm/atk-'+tok)[0]: hit.append('/dev/shm')
d,_=rd('/proc/sysvipc/shm',65536)
if d and str(key) in d.decode(): hit.append('listed in /proc/sysvipc')
escaped(', '.join(hit)) if hit else blocked('nothing is shared')
""", [t.tok, key, shm])
t.judge(r)
