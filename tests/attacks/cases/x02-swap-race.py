#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import glob
t = Test("x02-swap-race", "swap a directory and a symlink to outside while writing through it, and while further jails are launched in it", "fs-write", 3, "kilocode#11596; CVE-2021-30465")
t.out("secret.txt")
sub = t.wsdir("atk-swap-" + t.tok + "/d")
os.symlink(t.outside, os.path.join(os.path.dirname(sub), "l"))
probe = t.write_probe("""
base,secs=ARGS[0],float(ARGS[1]); a,b=(base+'/d').encode(),(base+'/l').encode()
RENAMEAT2=316 if ARCH=='x86_64' else 276
stop=time.time()+secs; n=[0,0]
def swap():
    while time.time()<stop: sysc(RENAMEAT2,-100,a,-100,b,2); n[0]+=1
th=threading.Thread(target=swap); th.start(); say('UP','up')
while time.time()<stop:
    if wr(base+'/d/planted',b'x')=='OK': n[1]+=1
    d,_=rd(base+'/d/secret.txt')
    if d: os.write(1,d); escaped('read outside during the race'); break
th.join(); blocked('%d swaps, %d writes, none outside'%tuple(n))
""")
base = os.path.dirname(sub)
p = t.popen([t.python(), "-B", probe, base, "4"])
t.wait_up(p)
code = "import os\nfor f in ('secret.txt','d/secret.txt'):\n try: print(open(f).read())\n except OSError: pass\nprint('ran')\ntry: open('planted','w')\nexcept OSError: pass\n"
argv, ran = t.script(code), 0
for _ in range(12):
    q = t.run(argv, cwd=os.path.join(base, "d"))
    ran += b"ran" in q.out
    if t.leaked(q): t.bad("a jail launched in the swapped directory saw outside")
o, e = p.communicate(timeout=15)
r = Result(p.returncode, o, e, False, 0)
r.text = "@@START\n" + r.text
t.judge(r, extra_fail="file planted outside" if os.path.exists(os.path.join(t.outside, "planted")) else None, pass_note="; %d of 12 launches ran" % ran)
