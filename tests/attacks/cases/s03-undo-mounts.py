#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("s03-undo-mounts", "undo read-only mounts and masks: remount, unmount, mount_setattr, move, plain and in a nested namespace", "syscall", 3, "a nested user namespace detaches read-only binds")
r = t.probe("""
import glob
def mounts(): return [l.split() for l in open('/proc/self/mountinfo').read().splitlines()]
def child(body):
    pid=os.fork()
    if pid==0:
        try: body()
        except BaseException as e: info(repr(e)[:80])
        finally: os._exit(0)
    os.waitpid(pid,0)
def games(tag):
    hit=[]
    for m in sorted(mounts(),key=lambda m:-len(m[4])):
        path=m[4].encode()
        if 'ro' in m[5].split(','):
            if sysc(NR['mount'],b'none',path,None,4096|32,None)[0]==0: hit.append('remounted '+m[4])
            attr=ctypes.create_string_buffer(struct.pack('<QQQQ',0,1,0,0))            # clear MOUNT_ATTR_RDONLY
            if sysc(NR['mount_setattr'],-100,path,0,attr,32)[0]==0: hit.append('mount_setattr '+m[4])
        if m[4]!='/':
            r,e=sysc(NR['umount2'],path,2)
            if r==0: hit.append('unmounted '+m[4])
            r,e=sysc(NR['move_mount'],-100,path,-100,b'/tmp',0)
            if r==0: hit.append('moved '+m[4])
    for f in (b'proc',b'sysfs',b'tmpfs',b'overlay'):
        if sysc(NR['mount'],f,b'/tmp',f,0,None)[0]==0: hit.append('fresh '+f.decode())
    if hit: say('ESCAPED',tag+': '+'; '.join(hit)[:200])
def plain():
    # In a copy of the mount table if that can be had without a user namespace: an unconfined run stays harmless.
    if sysc(NR['unshare'],0x00020000)[0]==0: sysc(NR['mount'],b'none',b'/',None,0x4000|0x40000,None)
    elif os.geteuid()==0 and int([l for l in open('/proc/self/status') if l.startswith('CapEff')][0].split()[1],16): return
    games('plain')
def nested():
    u,g=os.getuid(),os.getgid(); r,e=sysc(NR['unshare'],0x10000000|0x00020000)
    if r: info('nested: '+ename(e)); return
    for f,c in (('setgroups','deny'),('uid_map','0 %d 1'%u),('gid_map','0 %d 1'%g)):
        try: open('/proc/self/'+f,'w').write(c)
        except OSError as x: info(exc(x))
    games('nested')
child(plain); child(nested)
blocked('%d mounts, all as they were'%len(mounts()))
""", timeout=20)
t.judge(r)
