#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("k10-kernel-leaks", "read what describes the kernel or other users: kallsyms, kcore, kmsg, keys, timer_list, slabinfo, interrupts", "proc", 1, "masked paths of container engines")
r = t.probe("""
hit=[]
for p in ('/proc/kcore','/proc/kmsg','/proc/keys','/proc/key-users','/proc/timer_list','/proc/timer_stats','/proc/sched_debug','/proc/latency_stats','/proc/vmallocinfo','/proc/slabinfo','/proc/pagetypeinfo','/proc/kpagecount','/proc/interrupts'):
    d,e=rd(p,64)
    if d: hit.append(p)
d,e=rd('/proc/kallsyms')
if d and any(int(l.split()[0],16) for l in d.decode('utf-8','replace').splitlines()[:9]): hit.append('addresses in kallsyms')
for d in ('/proc/acpi','/proc/scsi','/proc/asound'):
    try:
        if os.listdir(d): hit.append(d)
    except OSError: pass
escaped(' '.join(hit)) if hit else blocked('masked')
""")
t.judge(r)
