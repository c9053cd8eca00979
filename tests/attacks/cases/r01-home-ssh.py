#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("r01-home-ssh", "read ~/.ssh/id_ed25519", "fs-read", 3, "CVE-2026-39861; classic agent credential theft")
p = t.homef(".ssh/id_ed25519")
r = t.probe("d,e=rd(ARGS[0])\nescaped('read '+ARGS[0]) if d else blocked('~/.ssh: '+e)\nif d: os.write(1,d)", [p])
t.judge(r)
