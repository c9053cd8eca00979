#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("w03-startup-files", "plant shell start-up files, authorized_keys, autostart entries, user units and PATH programs below HOME", "fs-write", 3, "CVE-2026-26268; DuneSlide")
old = [".bashrc", ".profile", ".ssh/authorized_keys", ".gitconfig", ".config/git/config"]
new = [".bash_profile", ".zshenv", ".zshrc", ".config/fish/config.fish", ".config/autostart/x.desktop", ".config/systemd/user/x.service", ".local/bin/git", "bin/ls", ".ssh/rc", ".pam_environment", ".vimrc", ".config/environment.d/x.conf", ".cargo/config.toml", ".npmrc", ".gnupg/gpg.conf", ".local/share/applications/x.desktop", ".config/ringfence/policy.toml"]
for name in old: t.homef(name, "original\n")
paths = [os.path.join(t.home, n) for n in old + new]
r = t.probe("""
done=[]
for p in ARGS:
    try: os.makedirs(os.path.dirname(p),exist_ok=True)
    except OSError: pass
    if wr(p,b'\\ntouch pwned\\n')=='OK': done.append(p)
    new=os.path.dirname(sys.argv[0])+'/new'
    try: open(new,'w').write('touch pwned'); os.replace(new,p); done.append(p)
    except OSError as e: info('rename: '+exc(e))
blocked('%d of %d accepted, all in a private home'%(len(set(done)),len(ARGS)))
""", paths)
host = [n for n in old if open(os.path.join(t.home, n)).read() != "original\n"] + [n for n in new if os.path.lexists(os.path.join(t.home, n))]
t.rm_later(*(os.path.join(t.home, n) for n in new))
t.judge(r, extra_fail="changed in the real home: " + " ".join(host) if host else None)
