#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("k11-sysfs", "see firmware, module parameters, DMI identifiers, block devices and debug trees in /sys", "proc", 1, "masked paths of container engines")
if not os.path.isdir("/sys/kernel"): t.skip("no /sys here")
r = t.probe("""
hit=[]
for d in ('/sys/firmware','/sys/module','/sys/class/dmi','/sys/hypervisor','/sys/block','/sys/devices/virtual/powercap','/sys/kernel/debug','/sys/kernel/tracing','/sys/kernel/security','/sys/fs/bpf','/sys/fs/cgroup','/sys/kernel/notes'):
    try:
        if os.listdir(d): hit.append(d)
    except NotADirectoryError: hit.append(d)
    except OSError: pass
escaped(' '.join(hit)) if hit else blocked('none of it is there')
""")
t.judge(r)
