#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
N = int(os.environ.get("ATK_INODES", "100000"))
t = Test("z05-inode-flood", "flood private places with empty files and a very deep tree (the probe stops at ATK_INODES=%d each by itself)" % N, "res", 1, "nr_inodes")
t.rm_later(*(d + "/atk-flood-" + t.tok for d in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "", t.home)))
r = t.probe("""
N=int(ARGS[0]); bad=[]; told=[]
for d in dict.fromkeys(('/tmp','/dev/shm','/var/tmp','/run','/dev','/',os.environ.get('HOME','/tmp'))):
    top=d+'/atk-flood-'+ARGS[1]
    try: os.mkdir(top)
    except OSError: continue
    n=0; fd=os.open(top,os.O_RDONLY)
    try:
        while n<N: os.mknod('%d'%n,0o600,dir_fd=fd); n+=1
        bad.append(d)
    except OSError as e: told.append('%s stops at %d: %s'%(d,n,exc(e)))
    for i in range(n): os.unlink('%d'%i,dir_fd=fd)
    os.close(fd); os.rmdir(top)
    if bad: break
# A tree too deep for a path: whoever cleans up must not recurse or build names.
try:
    os.chdir('/tmp')
    for i in range(3000): os.mkdir('d'); os.chdir('d')
    for i in range(3000): os.chdir('..'); os.rmdir('d')
except OSError as e: told.append('deep tree: '+exc(e))
escaped('no limit met in '+' '.join(bad)) if bad else blocked('; '.join(told) or 'nothing to flood')
""", [N, t.tok], timeout=80)
t.judge(r)
