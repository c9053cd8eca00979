#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
import hashlib, shutil
t = Test("k07-overwrite-launcher", "open the program of pid 1, the parent or any other process for writing through /proc/<pid>/exe; be started as #!/proc/self/exe", "proc", 3, "CVE-2019-5736", note="opened only; ETXTBSY means that permission was granted")
def digest():
    return hashlib.sha256(open(os.path.realpath(t.launcher()[0]), "rb").read()).hexdigest()
before = digest()
copy = os.path.join(t.outside, "program"); shutil.copy("/bin/sleep", copy); os.chmod(copy, 0o755)
s = t.background([copy, "25"])
time.sleep(0.2)
r = t.probe("""
hit=[]; ws=os.getcwd()
pids={int(x) for x in os.listdir('/proc') if x.isdigit()}|{1,os.getppid(),int(ARGS[0])}
try: bare='program' in os.readlink('/proc/%s/exe'%ARGS[0])
except OSError: bare=False
for p in [int(ARGS[0])] if bare else sorted(pids-{os.getpid()}):
    exe='/proc/%d/exe'%p
    for how,path in (('exe',exe),('O_PATH',None)):
        try:
            if path is None: path='/proc/self/fd/%d'%os.open(exe,os.O_PATH)
            os.close(os.open(path,os.O_WRONLY)); hit.append('%s (%s) opens for writing'%(exe,how))
        except OSError as e:
            if e.errno==errno.ETXTBSY: hit.append('%s (%s) is only busy'%(exe,how))
            else: info('%s %s: %s'%(exe,how,exc(e)))
    try: os.chmod(exe,os.stat(exe).st_mode&0o7777); hit.append('chmod of '+exe)
    except OSError: pass
escaped('; '.join(hit)) if hit else blocked('no program of another process opens for writing')
""", [s.pid])
script = os.path.join(t.inner, "again")
with open(script, "w") as f: f.write("#!/proc/self/exe\n")
os.chmod(script, 0o755)
q = t.run([script, "--help"], timeout=3)
if digest() != before: t.bad("the launcher's program was changed")
t.judge(r, pass_note="; as #!/proc/self/exe: status %s" % q.rc)
