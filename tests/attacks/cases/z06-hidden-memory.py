#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
N = int(os.environ.get("ATK_MEM_MB", "3072"))
t = Test("z06-hidden-memory", "memory that no process maps: memfd, pipes, shared memory (the probe stops at ATK_MEM_MB=%d by itself)" % N, "res", 2, "memory limits without shmem")
for l in open("/proc/meminfo"):
    if l.startswith("MemAvailable") and int(l.split()[1]) // 1024 < N * 2: t.skip("less than twice ATK_MEM_MB is free here")
r = t.probe("""
N=int(ARGS[0]); got=0; err=''; block=b'\\1'*(8<<20); keep=[]
try:
    while got<N:
        fd=os.memfd_create('x%d'%len(keep)); keep.append(fd)
        for i in range(32): got+=os.write(fd,block)>>20
except OSError as e: err=exc(e)
escaped('%d MiB held in memfds without meeting a limit'%got) if got>=N else blocked('stopped at %d MiB: %s'%(got,err))
""", [N], timeout=60)
t.judge(r)
