#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("z07-priority", "real-time scheduling, negative nice, real-time disk priority", "res", 1, "scheduler abuse")
r = t.probe("""
import resource
hit=[]
def attempt(n,f):
    try: f(); hit.append(n)
    except (OSError,ValueError) as e: info(n+': '+str(e))
attempt('SCHED_FIFO',lambda: os.sched_setscheduler(0,os.SCHED_FIFO,os.sched_param(1)))
attempt('SCHED_RR',lambda: os.sched_setscheduler(0,os.SCHED_RR,os.sched_param(1)))
attempt('nice -5',lambda: os.setpriority(os.PRIO_PROCESS,0,-5))
if ARCH=='x86_64' and sysc(251,1,0,(1<<13)|0)[0]==0: hit.append('real-time ioprio')
if resource.getrlimit(resource.RLIMIT_RTPRIO)[1] not in (0,): hit.append('RLIMIT_RTPRIO %d'%resource.getrlimit(resource.RLIMIT_RTPRIO)[1])
escaped(', '.join(hit)) if hit else blocked('ordinary priority only')
""")
t.judge(r)
