#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("r10-etc-shadow", "open (not read) /etc/shadow, /etc/sudoers and system logs", "fs-read", 2, "baseline")
cands = [c for c in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/var/log/dpkg.log", "/var/log/syslog") if os.access(c, os.R_OK)]
if not cands: t.skip("none of the files is readable to this user even outside")
r = t.probe("""
ok=[]
for c in ARGS:
    try: os.close(os.open(c,os.O_RDONLY)); ok.append(c)      # opened only, never read
    except OSError as e: info(c+': '+exc(e))
escaped('can open '+', '.join(ok)) if ok else blocked('%d system files invisible'%len(ARGS))
""", cands)
t.judge(r)
