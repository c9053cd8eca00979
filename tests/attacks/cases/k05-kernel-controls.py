#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("k05-kernel-controls", "open kernel control files for writing (core_pattern, modprobe, sysrq, uevent_helper, binfmt_misc, sysctls)", "proc", 3, "core_pattern escapes; CVE-2025-31133, CVE-2025-52881", note="opened for writing only, nothing is written")
r = t.probe("""
hit=[]; n=0
names=['/proc/sysrq-trigger','/sys/kernel/uevent_helper','/sys/kernel/mm/transparent_hugepage/enabled','/sys/power/state','/sys/kernel/security/apparmor/.load','/sys/kernel/debug/sched_features','/proc/mtrr','/proc/bus/pci','/proc/timer_stats','/proc/self/sessionid']
for top in ('/proc/sys','/proc/irq','/proc/fs','/proc/acpi','/proc/scsi','/sys/module','/sys/fs/bpf','/sys/kernel'):
    for root,ds,fs in os.walk(top):
        if root.count('/')>6: ds[:]=[]
        names+=[os.path.join(root,f) for f in fs]
    if len(names)>20000: break
for p in names:
    try: os.close(os.open(p,os.O_WRONLY|os.O_NONBLOCK)); hit.append(p)
    except OSError as e: n+=1
for d in ('/proc/sys/kernel','/proc/sys/fs/binfmt_misc','/sys/kernel','/proc/self/attr'):
    try: os.chmod(d,os.stat(d).st_mode&0o777); hit.append('chmod '+d)
    except OSError: pass
escaped('%d writable: %s'%(len(hit),' '.join(hit[:8]))) if hit else blocked('%d control files, none opens for writing'%n)
""", timeout=30)
t.judge(r)
