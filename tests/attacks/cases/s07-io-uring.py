#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("s07-io-uring", "io_uring is reachable (its operations pass by system call filters)", "syscall", 2, "CVE-2023-2598; filters see only io_uring_enter")
r = t.probe("""
hit=[]; seen=[]
for n in (1,8):
    for flags in (0,2,1<<12,1<<13):
        p=ctypes.create_string_buffer(struct.pack('<IIII',0,0,flags,0)+b'\\0'*120)
        fd,e=sysc(NR['io_uring_setup'],n,p)
        if fd>=0: hit.append('setup(%d, %#x)'%(n,flags)); os.close(fd)
        else: seen.append(ename(e))
for n,nr in (('enter',426),('register',427)):
    r,e=sysc(nr,1,0,0,0,0,0)
    if e not in (errno.EPERM,errno.ENOSYS,errno.EACCES): hit.append('%s answers %s'%(n,ename(e)))
escaped('io_uring '+'; '.join(hit)) if hit else blocked('refused: '+','.join(sorted(set(seen))))
""")
t.judge(r)
