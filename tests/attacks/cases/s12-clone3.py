#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("s12-clone3", "new namespaces by clone3, whose flags lie behind a pointer, and by every single flag of clone and unshare", "syscall", 3, "CVE-2021-41133")
r = t.probe("""
hit=[]; seen=set()
NS={'user':0x10000000,'mount':0x00020000,'pid':0x20000000,'net':0x40000000,'ipc':0x08000000,'uts':0x04000000,'cgroup':0x02000000,'time':0x80}
CLONE=56 if ARCH=='x86_64' else 220
for n,f in NS.items():
    args=ctypes.create_string_buffer(struct.pack('<11Q',f,0,0,0,17,0,0,0,0,0,0))
    r,e=sysc(NR['clone3'],args,88)
    if r==0: os._exit(0)
    if r>0: hit.append('clone3 '+n); os.waitpid(r,0)
    else: seen.add('clone3 '+ename(e))
    if n!='time':
        r,e=sysc(CLONE,f|17,0,0,0,0)
        if r==0: os._exit(0)
        if r>0: hit.append('clone '+n); os.waitpid(r,0)
        r,e=sysc(CLONE,f|17|(1<<40),0,0,0,0)                   # bits that a 32-bit comparison does not see
        if r==0: os._exit(0)
        if r>0: hit.append('clone high '+n); os.waitpid(r,0)
    pid=os.fork()
    if pid==0: os._exit(0 if sysc(NR['unshare'],f)[0]==0 else 1)
    if os.waitpid(pid,0)[1]==0: hit.append('unshare '+n)
escaped(', '.join(hit)) if hit else blocked('no new namespace; '+', '.join(sorted(seen)))
""")
t.judge(r)
