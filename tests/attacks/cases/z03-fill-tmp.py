#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
N = int(os.environ.get("ATK_DISK_MB", "1024"))
t = Test("z03-fill-tmp", "fill /tmp, /dev/shm and other private places (the probe stops at ATK_DISK_MB=%d each by itself)" % N, "res", 1, "tmpfs takes half the memory by default")
r = t.probe("""
N=int(ARGS[0]); bad=[]; told=[]; block=b'\\0'*(4<<20)
for d in dict.fromkeys(('/tmp','/dev/shm','/var/tmp','/run','/dev','/',os.environ.get('TMPDIR','/tmp'),os.environ.get('HOME','/tmp'),'/home','/var','/etc','/dev/mqueue')):
    p=d+'/atk-fill-'+ARGS[1]
    try: fd=os.open(p,os.O_WRONLY|os.O_CREAT|os.O_EXCL,0o600)
    except OSError as e: continue
    got=0; os.unlink(p)
    try:
        while got<N*(1<<20): got+=os.write(fd,block)
        bad.append(d)
    except OSError as e: told.append('%s stops at %d MiB: %s'%(d,got>>20,exc(e)))
    finally: os.close(fd)
    if bad: break
escaped('no limit met in '+' '.join(bad)) if bad else blocked('; '.join(told) or 'nothing to fill')
""", [N, t.tok], timeout=60)
t.judge(r)
