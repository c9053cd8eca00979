#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("s09-compat-entry", "system calls by the 32-bit entry (int 0x80) and with the x32 bit pass by the filter", "syscall", 3, "seccomp(2) notes; CVE-2019-10063 class")
if os.uname().machine != "x86_64": t.skip("x86_64 only")
r = t.probe("""
import mmap
def in_child(f):
    \"\"\"-> (value or None, status); a filter may kill whoever tries\"\"\"
    r,w=os.pipe(); pid=os.fork()
    if pid==0:
        try: os.write(w,str(f()).encode())
        finally: os._exit(0)
    os.close(w); d=os.read(r,64); os.close(r); _,st=os.waitpid(pid,0)
    return (int(d) if d else None),st
def int80(nr,arg=0):
    m=mmap.mmap(-1,4096,prot=7)
    m.write(b'\\x53\\xb8'+struct.pack('<I',nr)+b'\\xbb'+struct.pack('<I',arg)+b'\\x31\\xc9\\x31\\xd2\\xcd\\x80\\x5b\\xc3')     # push rbx; eax, ebx; ecx=edx=0; int 0x80; pop rbx; ret
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
def x32(nr,arg=0):
    r,e=sysc(0x40000000|nr,arg); return r if r>=0 else -e
hit=[]; how=[]
for name,f in (('int 0x80 getpid',lambda: int80(20)),('int 0x80 unshare',lambda: int80(310,0x10000000)),('int 0x80 mount',lambda: int80(21)),('int 0x80 keyctl',lambda: int80(288)),('x32 getpid',lambda: x32(39)),('x32 unshare',lambda: x32(272,0x10000000)),('x32 ioctl',lambda: x32(514,0))):
    v,st=in_child(f); how.append('%s: %s'%(name,'killed by %d'%(st&127) if v is None else v))
    # ENOSYS and EPERM are refusals of the filter or of a kernel without that entry; anything else went through.
    if v is not None and v not in (-errno.ENOSYS,-errno.EPERM): hit.append('%s -> %d'%(name,v))
info('; '.join(how))
escaped('; '.join(hit)) if hit else blocked('; '.join(how))
""")
t.judge(r)
