"""Ways around a name that is protected. Each writes `evil` into what tools outside would run, if it gets through."""
import ctypes, os, shutil, socket, threading, time

libc = ctypes.CDLL(None, use_errno=True)
EVIL = b"evil\n"

def attempt(what, trick):
    try:
        trick()
        print(what, "done", flush=True)
    except OSError as error:
        print(what, os.strerror(error.errno), flush=True)

def put(path, text=EVIL):
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(fd, text); os.close(fd)

TARGETS = [".git/config", ".git/info/attributes", "deep/er/.envrc", "deep/er/.vscode/tasks.json", "deep/repo/.git/hooks/pre-commit",
           "deep/repo/.git/config", "bare/config", "bare/hooks/update"]

for path in TARGETS:
    attempt(f"write {path}", lambda: put(path))
    attempt(f"append {path}", lambda: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), EVIL))
    def again(prefix):
        fd = os.open(path, os.O_RDONLY)
        put(f"{prefix}/{fd}")
    attempt(f"open again {path}", lambda: again("/proc/self/fd"))
    attempt(f"dev fd {path}", lambda: again("/dev/fd"))
    attempt(f"thread fd {path}", lambda: again("/proc/thread-self/fd"))
    attempt(f"pid fd {path}", lambda: again(f"/proc/{os.getpid()}/fd"))
    def by_link(flags, number=[0]):
        number[0] += 1
        fd, name = os.open(path, os.O_RDONLY), f"link{flags}-{number[0]}-{abs(hash(path))}"
        source = f"/proc/self/fd/{fd}".encode() if flags == 0x400 else b""
        if libc.linkat(-100 if flags == 0x400 else fd, source, -100, name.encode(), flags):
            raise OSError(ctypes.get_errno(), "linkat")
        put(name)
    attempt(f"link by descriptor {path}", lambda: by_link(0x400))
    attempt(f"link by empty path {path}", lambda: by_link(0x1000))
    attempt(f"hard link {path}", lambda: (os.link(path, "hard"), put("hard")))
    attempt(f"move away {path}", lambda: (os.rename(path, "away"), put("away"), os.rename("away", path)))
    def over():
        with open("mine", "wb") as file: file.write(EVIL)
        os.rename("mine", path)
    attempt(f"rename over {path}", over)
    def exchange():
        with open("mine2", "wb") as file: file.write(EVIL)
        if libc.renameat2(-100, b"mine2", -100, path.encode(), 2): raise OSError(ctypes.get_errno(), "renameat2")
    attempt(f"exchange {path}", exchange)
    def through():
        link = f"sym{abs(hash(path))}"
        os.symlink(path, link); put(link)
    attempt(f"through a link {path}", through)
    def relative():
        directory = os.open(os.path.dirname(path), os.O_RDONLY)
        os.write(os.open(os.path.basename(path), os.O_WRONLY | os.O_TRUNC, dir_fd=directory), EVIL)
    attempt(f"relative {path}", relative)
    def inside():
        here = os.getcwd(); os.chdir(os.path.dirname(path))
        try: put("./" + os.path.basename(path))
        finally: os.chdir(here)
    attempt(f"from inside {path}", inside)
    attempt(f"truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"truncate by descriptor {path}", lambda: os.truncate(f"/proc/self/fd/{os.open(path, os.O_RDONLY)}", 0))
    attempt(f"read and truncate {path}", lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
    def flipped():
        size = 64
        buffer, going = ctypes.create_string_buffer(size), [True]
        def flip():
            while going[0]:
                ctypes.memmove(buffer, b"plain".ljust(size, b"\0"), size)
                ctypes.memmove(buffer, path.encode().ljust(size, b"\0"), size)
        thread = threading.Thread(target=flip); thread.start()
        end = time.time() + 0.3
        while time.time() < end:
            fd = libc.openat(-100, buffer, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            if fd >= 0: os.write(fd, EVIL); os.close(fd)
        going[0] = False; thread.join()
    attempt(f"flip {path}", flipped)

ABSENT = ["new/.envrc", "new/.vscode/tasks.json", ".git/hooks/post-checkout", "new/.git/hooks/x", ".git/commondir"]
for path in ABSENT:
    os.makedirs("new", exist_ok=True)
    attempt(f"make above {path}", lambda: os.makedirs(os.path.dirname(path), exist_ok=True))
    attempt(f"make {path}", lambda: os.write(os.open(path, os.O_WRONLY | os.O_CREAT, 0o755), EVIL))
    def unnamed():
        fd = os.open(".", os.O_RDWR | os.O_TMPFILE); os.write(fd, EVIL)
        if libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, path.encode(), 0x400): raise OSError(ctypes.get_errno(), "linkat")
    attempt(f"unnamed to {path}", unnamed)
    def socketed():
        socket.socket(socket.AF_UNIX).bind(path)
        put(path)
    attempt(f"socket {path}", socketed)
def whole():
    os.makedirs("prepared/tasks", exist_ok=True)
    with open("prepared/tasks.json", "wb") as file: file.write(EVIL)
    for name in ["new/.vscode", ".idea", ".claude"]:
        attempt(f"rename to {name}", lambda: os.rename("prepared", name))
        attempt(f"link to {name}", lambda: os.symlink("prepared", name))
whole()
def let_out(store):
    """What may be made in one place does not come to another, whatever it is in."""
    os.makedirs(store + "/a/.vscode")
    with open(store + "/a/.vscode/tasks.json", "wb") as file: file.write(EVIL)
    where = store.replace("/", "-")
    attempt(f"move out of {store}", lambda: os.rename(store + "/a", f"out{where}"))
    os.makedirs(f"plain{where}", exist_ok=True)
    def swap():
        if libc.renameat2(-100, f"plain{where}".encode(), -100, f"{store}/a".encode(), 2): raise OSError(ctypes.get_errno(), "renameat2")
    attempt(f"exchange with {store}", swap)
    attempt(f"move {store}", lambda: os.rename(store, f"whole{where}"))
let_out("node_modules"); let_out("deep/node_modules"); let_out(".git/made")
def races():
    """Two parts of a repository at once, so that each is allowed by itself."""
    for number in range(200):
        top = f"race{number}"; os.mkdir(top); os.mkdir(top + "/refs")
        with open(top + "/config", "wb") as file: file.write(EVIL)
        gate = threading.Barrier(2)
        def part(make):
            gate.wait()
            try: make()
            except OSError: pass
        both = [threading.Thread(target=part, args=[lambda: os.mkdir(top + "/objects")]),
                threading.Thread(target=part, args=[lambda: open(top + "/HEAD", "w").write("ref: refs/heads/x\n")])]
        for thread in both: thread.start()
        for thread in both: thread.join()
races()
attempt("shutil", lambda: shutil.copytree("deep", "copy"))
