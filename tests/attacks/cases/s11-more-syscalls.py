#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("s11-more-syscalls", "kcmp, fanotify, quotactl, clock_settime, acct, swapon, reboot, module loading, io ports, file handles, setdomainname are reachable", "syscall", 2, "filters of container engines", note="arguments that cannot succeed")
if os.uname().machine != "x86_64": t.skip("x86_64 only")
r = t.probe("""
hit=[]
DENY=(errno.EPERM,errno.ENOSYS,errno.EACCES)
BAD=ctypes.c_void_p(8)
for n,nr,args in (('kcmp',312,(os.getpid(),os.getpid(),99,0,0)),('fanotify_init',300,(0xffff0000,0)),('quotactl',179,(0x7fffffff,BAD,0,BAD)),('clock_settime',227,(0,BAD)),('settimeofday',164,(BAD,None)),('acct',163,(BAD,)),('swapon',167,(BAD,0)),('swapoff',168,(BAD,)),('reboot',169,(0,0,0,0)),('init_module',175,(BAD,0,BAD)),('finit_module',313,(-1,BAD,0)),('delete_module',176,(BAD,0)),('iopl',172,(99,)),('ioperm',173,(99999999,1,1)),('name_to_handle_at',303,(-100,BAD,BAD,BAD,0)),('open_by_handle_at',304,(-1,BAD,0)),('sethostname',170,(BAD,-1)),('setdomainname',171,(BAD,-1)),('kexec_load',246,(0,99,BAD,0)),('kexec_file_load',320,(-1,-1,0,BAD,0)),('pivot_root',155,(BAD,BAD)),('lookup_dcookie',212,(0,BAD,0)),('fsopen',430,(BAD,0)),('fspick',433,(-1,BAD,0)),('mount_setattr',442,(-1,BAD,0,BAD,0)),('open_tree',428,(-100,BAD,1)),('pidfd_getfd',438,(-1,0,0)),('process_madvise',440,(-1,BAD,0,0,0)),('bpf',321,(0,BAD,0)),('userfaultfd',323,(0x7fffffff,)),('setns',308,(-1,0)),('nfsservctl',180,(0,BAD,BAD)),('uselib',134,(BAD,)),('sysfs',139,(99,0,0)),('_sysctl',156,(BAD,))):
    r,e=sysc(nr,*args)
    if r>=0 or e not in DENY: hit.append('%s(%s)'%(n,ename(e)))
escaped('answered by the kernel: '+' '.join(hit)) if hit else blocked('all refused')
""")
t.judge(r)
