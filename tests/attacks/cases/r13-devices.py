#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("r13-devices", "open disks, kernel memory, kvm, fuse, tun and input devices, or make the node of the root disk", "fs-read", 3, "privileged container escapes; CAP_MKNOD", note="opened only, nothing is read or written")
disk = os.stat("/").st_dev
r = t.probe("""
disk=int(ARGS[0]); hit=[]
HARMLESS={'null','zero','full','random','urandom','tty','ptmx','console'}
for root,ds,fs in os.walk('/dev'):
    if root in ('/dev/pts','/dev/shm','/dev/mqueue'): ds[:]=[]; continue
    for f in fs:
        p=os.path.join(root,f)
        try: m=os.lstat(p).st_mode
        except OSError: continue
        if f.startswith('watchdog'): hit.append(p); continue          # opening one may reboot the machine
        if stat.S_ISBLK(m) or stat.S_ISCHR(m) and f not in HARMLESS:
            for fl in (os.O_RDONLY,os.O_WRONLY):
                try: os.close(os.open(p,fl|os.O_NONBLOCK|os.O_NOCTTY)); hit.append(p); break
                except OSError as e: info(p+': '+exc(e))
for d in (os.path.dirname(sys.argv[0]),'/tmp','/dev','/dev/shm','/var/tmp',os.environ.get('HOME','/')):
    for kind,dev in ((stat.S_IFBLK,disk),(stat.S_IFCHR,os.makedev(1,1)),(stat.S_IFCHR,os.makedev(10,229))):
        p=d+'/atk-node'
        try: os.mknod(p,kind|0o600,dev)
        except OSError as e: continue
        try: os.close(os.open(p,os.O_RDONLY|os.O_NONBLOCK)); hit.append('mknod+open in '+d)
        except OSError as e: hit.append('mknod in %s (open: %s)'%(d,exc(e)))
        finally: os.unlink(p)
escaped(' '.join(hit)) if hit else blocked('only harmless devices, none can be made')
""", [disk])
t.judge(r)
