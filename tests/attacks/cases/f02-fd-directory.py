#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("f02-fd-directory", "inherited directory descriptor: openat, fchdir, '..' and linkat from it (plain and O_PATH)", "fd", 3, "CVE-2024-21626, CVE-2016-9962")
t.out("secret.txt")
fds = [os.open(t.outside, os.O_RDONLY), os.open(t.outside, os.O_PATH), os.open("/", os.O_RDONLY)]
for i, high in zip(range(3), (7, 333, 1021)): os.dup2(fds[i], high); fds.append(high)
for f in fds: os.set_inheritable(f, True)
r = t.probe("""
n=0; out=ARGS[0]
for f in range(3,1024):
    try: st=os.fstat(f)
    except OSError: continue
    if not stat.S_ISDIR(st.st_mode): continue
    for rel in ('secret.txt','../'+os.path.basename(out)+'/secret.txt',out[1:]+'/secret.txt'):
        try: d=os.read(os.open(rel,os.O_RDONLY,dir_fd=f),99); os.write(1,d); escaped('openat from fd %d'%f); n=1
        except OSError: pass
    try: os.fchdir(f); d=rd('secret.txt')[0]; n=1 if d else n; d and (os.write(1,d),escaped('fchdir to fd %d'%f))
    except OSError: pass
    if not n: info('directory fd %d'%f)
if not n: blocked('no directory is inherited')
""", [t.outside], pass_fds=fds)
t.judge(r)
