#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("f05-stdin-reopen", "stdin from an outside file is reopened for writing through /proc/self/fd/0; stdin that is a directory is a way out", "fd", 2, "procfs magic links")
v = t.out("input.txt", "original\n"); t.out("secret.txt")
with open(v) as f:
    r = t.probe("""
res=[]
for p in ('/proc/self/fd/0','/dev/stdin','/dev/fd/0','/proc/thread-self/fd/0'):
    for fl in (os.O_WRONLY|os.O_APPEND,os.O_RDWR):
        try: fd=os.open(p,fl|os.O_NONBLOCK); os.write(fd,b'tampered'); res.append(p)
        except OSError as e: info(p+': '+exc(e))
for n,g in (('ftruncate',lambda: os.ftruncate(0,0)),('fchmod',lambda: os.fchmod(0,0o777)),('utime',lambda: os.utime(0,(5,5)))):
    try: g(); res.append(n)
    except OSError as e: info(n+': '+exc(e))
blocked('stdin opened again %d times, the file behind it never'%len(res))
""", stdin=f)
    st = os.stat(v)
if open(v).read() != "original\n": t.bad("the file behind stdin was written")
if st.st_mode & 0o777 == 0o777 or st.st_mtime == 5: t.bad("mode or times of the file behind stdin were changed")
fd = os.open(t.outside, os.O_RDONLY)
q = t.probe("""
for rel in ('secret.txt','./secret.txt'):
    try: d=os.read(os.open(rel,os.O_RDONLY,dir_fd=0),99); os.write(1,d); escaped('openat from stdin')
    except OSError as e: info(exc(e))
""", stdin=fd)
if t.leaked(q): t.bad("stdin was a directory outside, and its files could be opened")
t.judge(r)
