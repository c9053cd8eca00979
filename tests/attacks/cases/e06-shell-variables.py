#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("e06-shell-variables", "exported shell functions, shell options, editor and multiplexer sockets, locale and terminfo paths of the caller", "env", 2, "shellshock class; ncurses CVE-2023-29491; cplt#240")
names = {n: t.outside for n in ("SHELLOPTS", "BASHOPTS", "PS4", "IFS", "CDPATH", "GLOBIGNORE", "HISTFILE", "TERMINFO", "TERMINFO_DIRS", "LOCPATH", "NLSPATH", "RESOLV_HOST_CONF", "HOSTALIASES", "MALLOC_TRACE", "VSCODE_IPC_HOOK_CLI", "NVIM", "TMUX", "STY", "EMACS", "GPG_AGENT_INFO", "KRB5CCNAME", "XAUTHORITY", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "RUBYOPT", "PERL5LIB", "PYTHONPATH", "PYTHONHOME", "NODE_PATH", "LUA_INIT", "GIT_DIR", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "EDITOR", "VISUAL", "BROWSER", "CARGO_HOME", "RUSTFLAGS", "CC", "MAKEFLAGS", "http_proxy", "SUDO_ASKPASS", "SSH_ASKPASS", "GLIBC_TUNABLES", "LD_LIBRARY_PATH")}
names.pop("SHELLOPTS"); names.pop("BASHOPTS")                # bash refuses to start with a wrong one: tested by value
env = dict(names, SHELLOPTS="xtrace", BASHOPTS="extglob", **{"BASH_FUNC_cat%%": "() { echo HIJACKED; }", "BASH_FUNC_ls()": "() { echo HIJACKED; }", "TMPDIR": t.outside})
for n in ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "GLIBC_TUNABLES"): env.pop(n, None)      # the launcher itself may be a script
r = t.probe("""
bad=[n for n in os.environ if n in ARGS and not (n=='http_proxy' and os.environ[n]!=ARGS[-1]) or n.startswith('BASH_FUNC') or n in ('SHELLOPTS','BASHOPTS')]
if os.environ.get('TMPDIR')==ARGS[-1]: bad.append('TMPDIR')
o=subprocess.run(['/bin/bash','-c','cat /dev/null; echo plain'],capture_output=True).stdout
if b'HIJACKED' in o: bad.append('an exported function ran')
escaped('inherited: '+' '.join(bad)) if bad else blocked('%d variables stripped'%len(ARGS))
""", sorted(names) + [t.outside], env=env)
t.judge(r)
