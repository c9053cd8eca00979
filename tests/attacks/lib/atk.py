"""Shared harness for the black-box sandbox tests.

Contract of every case in ../cases:
  env SANDBOX   launcher command line; the command to confine is appended to it.
                It is parsed by `bash`-like word rules (shlex) after $VAR expansion, so
                SANDBOX='bwrap ... --bind "$WS" "$WS" --' works.  SANDBOX=env means "no sandbox".
  env WS        workspace directory, the only thing the launcher should grant read-write.
  prints one line   PASS|FAIL|SKIP <id>: <reason>
  exit status       0 PASS, 1 FAIL, 2 SKIP
  --meta            prints a JSON description instead of running

Optional env: ATK_HOME (fake $HOME, default: sibling of WS), ATK_TIMEOUT, ATK_VERBOSE=1,
ATK_PIDS, ATK_MEM_MB, ATK_DISK_MB (bounds of the resource tests).

Every set-up object lives in WS, in ATK_HOME or in a sibling of WS, and is removed at the end.
Processes are ended by pid only, and only those this harness started or that carry this
test's random marker in their command line.
"""
import atexit, errno, json, os, re, secrets, shlex, shutil, signal, socket, subprocess, sys
import tempfile, threading, time

VERBOSE = os.environ.get("ATK_VERBOSE") == "1"
TIMEOUT = float(os.environ.get("ATK_TIMEOUT", "12"))

# ---------------------------------------------------------------- code that runs INSIDE
PRELUDE = r'''
import ctypes, errno, json, os, signal, socket, stat, struct, subprocess, sys, threading, time
sys.dont_write_bytecode = True
def say(tag, msg=""):
    os.write(1, ("@@%s %s\n" % (tag, str(msg).replace("\n", " ")[:400])).encode())
say("START")
_libc = ctypes.CDLL(None, use_errno=True)
def sysc(nr, *a):
    """raw syscall -> (ret, errno)"""
    ctypes.set_errno(0)
    args = [ctypes.c_long(x) if isinstance(x, int) else x for x in a]
    _libc.syscall.restype = ctypes.c_long
    r = _libc.syscall(ctypes.c_long(nr), *args)
    return r, (ctypes.get_errno() if r == -1 else 0)
def ename(e):
    return errno.errorcode.get(e, str(e)) if e else "OK"
def exc(e):
    return errno.errorcode.get(e.errno, str(e)) if isinstance(e, OSError) and e.errno else repr(e)
def escaped(m): say("ESCAPED", m)
def blocked(m): say("BLOCKED", m)
def skip(m): say("SKIP", m)
def info(m): say("INFO", m)
ARCH = os.uname().machine
NR = {"x86_64": dict(ptrace=101, unshare=272, setns=308, mount=165, umount2=166, pivot_root=155,
        chroot=161, keyctl=250, add_key=248, request_key=249, bpf=321, perf_event_open=298,
        userfaultfd=323, io_uring_setup=425, fsopen=430, open_tree=428, move_mount=429,
        process_vm_readv=310, process_vm_writev=311, name_to_handle_at=303, open_by_handle_at=304,
        pidfd_open=434, pidfd_getfd=438, syslog=103, clone3=435, kexec_load=246, truncate=76,
        fchmodat2=452, memfd_create=319, personality=135, mount_setattr=442, statmount=457),
      "aarch64": dict(ptrace=117, unshare=97, setns=268, mount=40, umount2=39, pivot_root=41,
        chroot=51, keyctl=219, add_key=217, request_key=218, bpf=280, perf_event_open=241,
        userfaultfd=282, io_uring_setup=425, fsopen=430, open_tree=428, move_mount=429,
        process_vm_readv=270, process_vm_writev=271, name_to_handle_at=264, open_by_handle_at=265,
        pidfd_open=434, pidfd_getfd=438, syslog=116, clone3=435, kexec_load=104, truncate=45,
        fchmodat2=452, memfd_create=279, personality=92, mount_setattr=442, statmount=457)}.get(ARCH, {})
def rd(path, n=4096):
    """read a path; returns (bytes or None, error name)"""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try: return os.read(fd, n), "OK"
        finally: os.close(fd)
    except OSError as e: return None, exc(e)
def wr(path, data=b"x", flags=os.O_WRONLY | os.O_CREAT | os.O_APPEND):
    try:
        fd = os.open(path, flags, 0o644)
        try: os.write(fd, data)
        finally: os.close(fd)
        return "OK"
    except OSError as e: return exc(e)
ARGS = sys.argv[1:]
'''

POSTLUDE = '\nsay("END")\n'


class Result:
    def __init__(self, rc, out, err, timed_out, secs):
        self.rc, self.out, self.err, self.timed_out, self.secs = rc, out, err, timed_out, secs
        self.text = out.decode("utf-8", "replace") + "\n" + err.decode("utf-8", "replace")

    def tags(self, name):
        return re.findall(r"@@%s ?(.*)" % name, self.text)

    @property
    def started(self):
        return "@@START" in self.text

    def first_error(self):
        for line in self.text.splitlines():
            line = line.strip()
            if line and not line.startswith("@@"):
                return line[:160]
        return "no output"


def _die(status, tid, reason):
    sys.stdout.write("%s %s: %s\n" % (status, tid, str(reason).replace("\n", " ")[:300]))
    sys.stdout.flush()
    sys.exit({"PASS": 0, "FAIL": 1, "SKIP": 2}[status])


class Test:
    def __init__(self, id, title, cat, sev=2, ref="", layer="os", linux=True, note=""):
        self.id, self.title, self.cat, self.sev, self.ref = id, title, cat, sev, ref
        self.layer = layer
        if "--meta" in sys.argv:
            print(json.dumps(dict(id=id, title=title, cat=cat, sev=sev, ref=ref, layer=layer, note=note)))
            sys.exit(0)
        if "SANDBOX" not in os.environ or "WS" not in os.environ:
            _die("SKIP", id, "set SANDBOX and WS")
        if linux and sys.platform != "linux":
            _die("SKIP", id, "linux only")
        self.ws = os.path.realpath(os.environ["WS"])
        if not os.path.isdir(self.ws):
            _die("SKIP", id, "WS is not a directory")
        os.environ["WS"] = self.ws
        self.tok = secrets.token_hex(8)           # unique marker of this run
        self.secret_value = "CANARY-" + secrets.token_hex(12)
        self._clean, self._procs, self._threads = [], [], []
        atexit.register(self._cleanup)

        def hook(et, ev, tb):                    # a broken harness is SKIP, never PASS or FAIL
            sys.__excepthook__(et, ev, tb)
            sys.stdout.write("SKIP %s: harness error %s: %s\n" % (id, et.__name__, str(ev)[:160]))
            sys.stdout.flush()
            self._cleanup()
            os._exit(2)
        sys.excepthook = hook
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
        base = os.path.dirname(self.ws)
        self.outside = os.path.join(base, "atk-out-" + self.tok)
        os.makedirs(self.outside)
        self._clean.append(self.outside)
        self.home = os.environ.get("ATK_HOME")
        if not self.home:
            self.home = os.path.join(base, "atk-home-" + self.tok)
            os.makedirs(self.home)
            self._clean.append(self.home)
        self.inner = os.path.join(self.ws, ".atk-" + self.tok)
        os.makedirs(self.inner)
        self._clean.append(self.inner)
        self._argv = None
        self.py = os.environ.get("ATK_PY")

    # -------------------------------------------------------------- set-up helpers
    def rm_later(self, *paths):
        self._clean.extend(paths)

    def mk(self, path, data=None, mode=None, keep=False):
        """create a file outside (absolute path); registers removal"""
        data = self.secret_value + "\n" if data is None else data
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(data)
        if mode is not None:
            os.chmod(path, mode)
        if not keep and not path.startswith(self.outside):
            self._clean.append(path)
        return path

    def out(self, rel, data=None, mode=None):
        return self.mk(os.path.join(self.outside, rel), data, mode)

    def homef(self, rel, data=None):
        top = os.path.join(self.home, rel.split("/")[0])
        if os.path.lexists(top) and not os.path.isdir(top):
            pass
        if not os.path.lexists(top):
            self._clean.append(top)
        return self.mk(os.path.join(self.home, rel), data)

    def wsf(self, rel, data=None, mode=None):
        top = os.path.join(self.ws, rel.split("/")[0])
        if not os.path.lexists(top):
            self._clean.append(top)
        p = os.path.join(self.ws, rel)
        return self.mk(p, data, mode)

    def wsdir(self, rel):
        top = os.path.join(self.ws, rel.split("/")[0])
        if not os.path.lexists(top):
            self._clean.append(top)
        p = os.path.join(self.ws, rel)
        os.makedirs(p, exist_ok=True)
        return p

    # -------------------------------------------------------------- launcher
    def launcher(self):
        if self._argv is None:
            s = os.environ["SANDBOX"]
            argv = shlex.split(os.path.expandvars(s))
            if argv and "/" not in argv[0]:
                argv[0] = shutil.which(argv[0]) or argv[0]
            self._argv = argv
        return list(self._argv)

    def env(self, extra=None):
        e = {k: v for k, v in os.environ.items() if not k.startswith("ATK_") and k != "SANDBOX"}
        e["HOME"] = self.home
        e["PWD"] = self.ws
        e.pop("OLDPWD", None)
        e.pop("PYTHONPATH", None)
        if extra:
            e.update(extra)
        return e

    def popen(self, cmd, env=None, cwd=None, pass_fds=(), stdin=subprocess.DEVNULL,
              stdout=subprocess.PIPE, stderr=subprocess.PIPE, new_session=True, argv=None):
        full = (argv if argv is not None else self.launcher()) + list(cmd)
        if not (os.path.isfile(full[0]) and os.access(full[0], os.X_OK)):
            self.skip("launcher %r cannot be executed" % full[0])
        p = subprocess.Popen(full, env=self.env(env), cwd=cwd or self.ws, stdin=stdin,
                             stdout=stdout, stderr=stderr, pass_fds=pass_fds,
                             start_new_session=new_session)
        self._procs.append(p)
        return p

    def run(self, cmd, timeout=None, **kw):
        t0 = time.time()
        p = self.popen(cmd, **kw)
        to = False
        try:
            o, e = p.communicate(timeout=timeout or TIMEOUT)
        except subprocess.TimeoutExpired:
            to = True
            self._kill_group(p)
            try:
                o, e = p.communicate(timeout=3)
            except subprocess.TimeoutExpired:      # a survivor still holds the pipe
                o, e = b"", b""
        r = Result(p.returncode, o or b"", e or b"", to, time.time() - t0)
        if VERBOSE:
            sys.stderr.write("--- %s rc=%s %.2fs\n%s\n" % (self.id, r.rc, r.secs, r.text))
        return r

    def python(self):
        if not self.py:
            r = self.run(["/bin/sh", "-c",
                          "for p in /usr/bin/python3 /usr/local/bin/python3 /opt/homebrew/bin/python3 python3; do "
                          "q=`command -v $p 2>/dev/null` && $q -c 'import ctypes' 2>/dev/null && echo PY=$q && break; done"])
            m = re.search(r"^PY=(\S+)", r.text, re.M)
            if not m:
                self.skip("no usable python3 inside the sandbox (%s)" % r.first_error())
            self.py = m.group(1)
        return self.py

    def write_probe(self, code, name="probe.py"):
        p = os.path.join(self.inner, name)
        with open(p, "w") as f:
            f.write(PRELUDE + code + POSTLUDE)
        return p

    def script(self, code, name="script.py"):
        """plain python file inside the workspace (no prelude); returns the argv prefix to run it"""
        p = os.path.join(self.inner, name)
        with open(p, "w") as f:
            f.write(code)
        return [self.python(), "-B", p]

    def wait_up(self, p, secs=8):
        """wait for the line `up` of a started process; without it the test proves nothing"""
        import select
        buf = b""
        end = time.time() + secs
        while time.time() < end and b"up" not in buf:
            r, _, _ = select.select([p.stdout], [], [], 0.3)
            if r:
                d = os.read(p.stdout.fileno(), 4096)
                if not d:
                    break
                buf += d
        if b"up" not in buf:
            err = b""
            if p.poll() is not None and p.stderr:
                err = p.stderr.read() or b""
            self.skip("command did not start inside the sandbox: %r %r" % (buf[:80], err[:120]))

    def probe(self, code, args=(), timeout=None, **kw):
        p = self.write_probe(code)
        return self.run([self.python(), "-B", p] + [str(a) for a in args], timeout=timeout, **kw)

    # -------------------------------------------------------------- verdicts
    def ok(self, m): _die("PASS", self.id, m)
    def bad(self, m): _die("FAIL", self.id, m)
    def skip(self, m): _die("SKIP", self.id, m)

    def leaked(self, r):
        return self.secret_value in r.text

    def judge(self, r, leak=True, extra_fail=None, pass_note=""):
        """standard verdict for a probe result"""
        if extra_fail:
            self.bad(extra_fail)
        if leak and self.leaked(r):
            self.bad("secret from outside the sandbox was read (%s)" % "; ".join(r.tags("ESCAPED"))[:160])
        if r.tags("ESCAPED"):
            self.bad("; ".join(r.tags("ESCAPED"))[:280])
        if not r.started:
            self.skip("probe did not start inside the sandbox: rc=%s %s" % (r.rc, r.first_error()))
        if r.tags("SKIP") and not r.tags("BLOCKED"):
            self.skip("; ".join(r.tags("SKIP")))
        if r.tags("BLOCKED"):
            self.ok("; ".join(r.tags("BLOCKED"))[:280] + pass_note)
        if r.timed_out:
            self.skip("probe timed out without a verdict")
        if r.rc == 124:
            self.ok("ended by a limit: %s%s" % (r.first_error(), pass_note))
        if r.rc is not None and (r.rc < 0 or r.rc > 128):
            self.ok("probe was killed (status %s)%s" % (r.rc, pass_note))
        self.skip("probe gave no verdict: rc=%s %s" % (r.rc, r.first_error()))

    # -------------------------------------------------------------- outside actors
    def background(self, argv, env=None, **kw):
        p = subprocess.Popen(argv, env=env or dict(os.environ), stdin=subprocess.DEVNULL,
                             start_new_session=True, **kw)
        self._procs.append(p)
        return p

    def sleeper(self, secs=30, env=None, marker=None):
        """an innocent host process with a marker (and optionally a secret env) to attack"""
        code = "import time,sys; time.sleep(%d)" % secs
        e = dict(os.environ)
        e.update(env or {})
        p = self.background([sys.executable, "-c", code, "host-sleeper-" + (marker or self.tok)], env=e)
        time.sleep(0.15)
        return p

    def listen(self, family=socket.AF_INET, addr=None, kind=socket.SOCK_STREAM, secs=25, reply=None):
        """loopback / unix listener with a bounded life; records what arrived in .got"""
        s = socket.socket(family, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(addr if addr is not None else ("127.0.0.1", 0))
        if isinstance(addr, str) and addr and not addr.startswith("\0"):
            self._clean.append(addr)
            os.chmod(addr, 0o666)
        s.settimeout(0.2)
        box = type("Box", (), {})()
        box.got, box.sock, box.conns = [], s, 0
        box.addr = s.getsockname()
        if kind == socket.SOCK_STREAM:
            s.listen(8)
        end = time.time() + secs
        rep = self.secret_value.encode() + b"\n" if reply is None else reply

        def loop():
            while time.time() < end and not getattr(box, "stop", False):
                try:
                    if kind == socket.SOCK_STREAM:
                        c, a = s.accept()
                        box.conns += 1
                        box.got.append(("conn", str(a)))
                        try:
                            c.settimeout(1)
                            c.sendall(rep)
                            d = c.recv(4096)
                            box.got.append(("data", d))
                        except OSError:
                            pass
                        finally:
                            c.close()
                    else:
                        d, a = s.recvfrom(4096)
                        box.conns += 1
                        box.got.append(("data", d))
                        try:
                            if a:
                                s.sendto(rep, a)
                        except OSError:
                            pass
                except socket.timeout:
                    continue
                except OSError:
                    break
        th = threading.Thread(target=loop, daemon=True)
        th.start()
        self._threads.append((th, box))
        return box

    # -------------------------------------------------------------- process bookkeeping
    def find_marked(self, marker):
        """host pids whose command line holds our random marker (never matched by name alone)"""
        res = []
        for d in os.listdir("/proc"):
            if not d.isdigit() or int(d) == os.getpid():
                continue
            try:
                with open("/proc/%s/cmdline" % d, "rb") as f:
                    c = f.read()
                if marker.encode() in c:
                    with open("/proc/%s/stat" % d) as f:
                        st = f.read().rsplit(")", 1)[1].split()[0]
                    if st not in "ZX":
                        res.append(int(d))
            except OSError:
                continue
        return res

    def wait_gone(self, marker, secs):
        end = time.time() + secs
        while time.time() < end:
            if not self.find_marked(marker):
                return True
            time.sleep(0.1)
        return not self.find_marked(marker)

    def _kill_group(self, p, sig=signal.SIGKILL):
        try:
            if os.getpgid(p.pid) == p.pid:
                os.killpg(p.pid, sig)
            else:
                os.kill(p.pid, sig)
        except OSError:
            pass

    def _cleanup(self):
        for th, box in self._threads:
            box.stop = True
            try:
                box.sock.close()
            except OSError:
                pass
        for p in self._procs:
            if p.poll() is None:
                self._kill_group(p)
                try:
                    p.wait(2)
                except subprocess.TimeoutExpired:
                    pass
        for pid in self.find_marked(self.tok):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for path in reversed(self._clean):
            try:
                if os.path.islink(path) or not os.path.isdir(path):
                    os.unlink(path)
                else:
                    shutil.rmtree(path, ignore_errors=True)
            except OSError:
                pass
