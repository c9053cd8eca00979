"""Calls that make names or open files for writing, each with its answer: the same wherever nothing is protected."""
import ctypes, errno, os, socket, stat, struct, threading

libc = ctypes.CDLL(None, use_errno=True)

def said(result):
    return "ok" if result is None else str(result)

def row(name, call):
    try:
        print(name, said(call()), flush=True)
    except OSError as error:
        print(name, errno.errorcode.get(error.errno, error.errno), flush=True)

def opened(path, flags, mode=0o666, at=None):
    fd = os.open(path, flags, mode, dir_fd=at)
    try:
        found = os.fstat(fd)
        return f"{stat.S_IFMT(found.st_mode):o} {found.st_mode & 0o7777:o} {found.st_size}"
    finally:
        os.close(fd)

def written(path, text, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    fd = os.open(path, flags, 0o666)
    try:
        os.write(fd, text)
    finally:
        os.close(fd)
    with open(path, "rb") as file:
        return file.read().decode()

W, C, X, T, R = os.O_WRONLY, os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_RDWR
os.umask(0o022)
os.makedirs("d/e"); os.symlink("d", "ld"); os.symlink("gone", "dangling"); os.symlink("loop", "loop")
os.symlink("f", "lf"); os.symlink(os.getcwd() + "/d/e", "labs"); os.symlink("../../x", "d/e/up")
open("f", "w").write("text")

# Making and opening files.
row("new", lambda: opened("a", W | C))
row("new mode", lambda: opened("b", W | C, 0o777))
row("new read-only", lambda: opened("ro", W | C, 0o444))
row("excl on old", lambda: opened("a", W | C | X))
row("excl new", lambda: opened("c", R | C | X, 0o600))
row("excl on link", lambda: opened("dangling", W | C | X))
row("through dangling", lambda: opened("dangling", W | C))
row("made by dangling", lambda: os.stat("gone").st_size)
row("nofollow on link", lambda: opened("lf", W | os.O_NOFOLLOW))
row("nofollow create on link", lambda: opened("lf", W | C | os.O_NOFOLLOW))
row("through link", lambda: opened("lf", R))
row("loop", lambda: opened("loop", W | C))
row("below loop", lambda: opened("loop/x", W | C))
row("in linked directory", lambda: opened("ld/x", W | C))
row("in absolute link", lambda: opened("labs/x", W | C))
row("link up", lambda: opened("d/e/up", W | C))
row("made by link up", lambda: os.stat("x").st_size)
row("missing directory", lambda: opened("no/x", W | C))
row("below a file", lambda: opened("f/x", W | C))
row("a directory", lambda: opened("d", W))
row("a directory, create", lambda: opened("d", W | C))
row("slash after new", lambda: opened("new/", W | C))
row("slash after file", lambda: opened("f/", W))
row("dot", lambda: opened(".", R))
row("dotdot", lambda: opened("d/..", W | C))
row("empty", lambda: opened("", W | C))
row("too long", lambda: opened("x" * 256, W | C))
row("much too long", lambda: opened("x/" * 3000 + "y", W | C))
row("dots inside", lambda: opened("./d/../d/./e//y", W | C))
row("append", lambda: written("f", b"more", W | os.O_APPEND))
row("truncate open", lambda: written("f", b"t", W | T))
row("read and truncate", lambda: opened("f", R | T))
row("not there", lambda: opened("nothere", W))
row("tmpfile", lambda: opened("d", R | os.O_TMPFILE, 0o640))
row("path only", lambda: opened("f", os.O_PATH))
row("directory flag", lambda: opened("f", W | os.O_DIRECTORY))
row("cloexec", lambda: os.get_inheritable(os.open("f", W)))

def inherit():
    fd = libc.open(b"f", W)
    return bool(fd >= 0 and os.get_inheritable(fd))
row("not cloexec", inherit)
row("bad pointer", lambda: libc.open(ctypes.c_void_p(1), W | C, 0o666) and errno.errorcode[ctypes.get_errno()])
os.chmod("f", 0o400)
row("no permission", lambda: opened("f", W) if os.geteuid() else "EACCES")
os.chmod("f", 0o644)

# Relative to a directory that is open.
d = os.open("d", os.O_RDONLY)
row("at a directory", lambda: opened("atdir", W | C, at=d))
row("at, up", lambda: opened("../atup", W | C, at=d))
row("at a file", lambda: opened("x", W | C, at=os.open("f", os.O_RDONLY)))
row("at nothing", lambda: opened("x", W | C, at=999))
row("at, mkdir", lambda: os.mkdir("made", dir_fd=d))
row("at, rename", lambda: os.rename("made", "moved", src_dir_fd=d))
row("moved", lambda: os.path.isdir("moved"))

# Directories, nodes, links.
row("mkdir", lambda: os.mkdir("m"))
row("mkdir again", lambda: os.mkdir("m"))
row("mkdir slash", lambda: os.mkdir("m2//"))
row("mkdir below", lambda: os.mkdir("no/m"))
row("mkdir dot", lambda: os.mkdir("."))
row("mkdir root", lambda: os.mkdir("/"))
row("mkdir on dangling", lambda: (os.symlink("gone2", "dang2"), os.mkdir("dang2"))[1])
row("mkdir mode", lambda: (os.mkdir("m3", 0o777), f"{os.stat('m3').st_mode:o}")[1])
row("mknod file", lambda: os.mknod("node", 0o600 | stat.S_IFREG))
row("mknod fifo", lambda: os.mkfifo("fifo"))
row("mknod again", lambda: os.mkfifo("fifo"))
row("symlink", lambda: os.symlink("anywhere", "s"))
row("symlink again", lambda: os.symlink("anywhere", "s"))
row("symlink slash", lambda: os.symlink("anywhere", "s2/"))
row("symlink empty", lambda: os.symlink("", "s3"))
row("readlink", lambda: os.readlink("s"))
row("link", lambda: os.link("f", "hard"))
row("link count", lambda: os.stat("f").st_nlink)
row("link again", lambda: os.link("f", "hard"))
row("link a link", lambda: os.link("lf", "hardlink", follow_symlinks=False))
row("it is a link", lambda: os.path.islink("hardlink"))
row("link followed", lambda: os.link("lf", "hard2", follow_symlinks=True))
row("it is no link", lambda: os.path.islink("hard2"))
row("link a directory", lambda: os.link("d", "hd"))
row("link nothing", lambda: os.link("nothere", "hn"))

def unnamed():
    fd = os.open(".", R | os.O_TMPFILE, 0o600)
    os.write(fd, b"unnamed")
    if libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, b"named", 0x400):
        return errno.errorcode[ctypes.get_errno()]
    return open("named").read()
row("unnamed gets a name", unnamed)

# Moving.
row("rename", lambda: os.rename("a", "a2"))
row("rename over", lambda: os.rename("a2", "b"))
row("rename nothing", lambda: os.rename("a", "z"))
row("rename onto directory", lambda: os.rename("b", "m"))
row("rename directory onto file", lambda: os.rename("m", "b"))
row("rename into itself", lambda: os.rename("d", "d/e/d"))
row("rename full directory", lambda: os.rename("m", "d"))
row("rename slash", lambda: os.rename("m/", "m4/"))
row("rename file slash", lambda: os.rename("b", "b2/"))
row("rename dot", lambda: os.rename(".", "dot"))
row("rename a link", lambda: (os.rename("lf", "lf2"), os.readlink("lf2"))[1])
row("rename to itself", lambda: os.rename("b", "b"))

# Truncating.
row("truncate", lambda: (os.truncate("f", 2), os.stat("f").st_size)[1])
row("truncate link", lambda: (os.truncate("lf2", 1), os.stat("f").st_size)[1])
row("truncate directory", lambda: os.truncate("d", 0))
row("truncate nothing", lambda: os.truncate("nothere", 0))
row("truncate negative", lambda: libc.truncate(b"f", ctypes.c_long(-1)) and os.strerror(ctypes.get_errno()))

# With another umask, in another thread, after fork.
os.umask(0o077)
row("umask", lambda: opened("u", W | C, 0o666))
row("umask mkdir", lambda: (os.mkdir("um", 0o777), f"{os.stat('um').st_mode:o}")[1])
thread = threading.Thread(target=lambda: row("thread", lambda: opened("t", W | C)))
thread.start(); thread.join()
pid = os.fork()
if pid == 0:
    os.umask(0o027); row("child", lambda: opened("ch", W | C)); os._exit(0)
os.waitpid(pid, 0)
os.umask(0o022)
row("umask again", lambda: opened("u2", W | C))

# What is open already.
fd = os.open("f", os.O_RDONLY)
row("open again for writing", lambda: opened(f"/proc/self/fd/{fd}", R))
row("dev fd", lambda: opened(f"/dev/fd/{fd}", W))
read, write = os.pipe()
row("pipe again", lambda: opened(f"/proc/self/fd/{write}", W).split()[0])
row("null", lambda: opened("/dev/null", W | C | T).split()[0])
row("zero", lambda: opened("/dev/zero", R).split()[0])
row("full", lambda: os.write(os.open("/dev/full", W), b"x"))

# A pipe with a name waits for its other end.
def through():
    def late():
        with open("fifo", "wb", buffering=0) as end:
            end.write(b"through")
    thread = threading.Thread(target=late); thread.start()
    with open("fifo", "rb") as end:
        text = end.read().decode()
    thread.join()
    return text
row("fifo", through)
row("fifo, nobody there", lambda: opened("fifo", W | os.O_NONBLOCK))

# Sockets that get an address.
def bound(address, length=None, kind=socket.AF_UNIX, of=None):
    """What `bind` says to bytes."""
    made = of or socket.socket(kind, socket.SOCK_DGRAM if kind == socket.AF_INET else socket.SOCK_STREAM)
    fd = made if isinstance(made, int) else made.fileno()
    if libc.bind(fd, address, len(address) if length is None else length):
        raise OSError(ctypes.get_errno(), "bind")
    return None if isinstance(made, int) else made.getsockname()
def unix(path):
    return struct.pack("H", socket.AF_UNIX) + path
def inode(path):
    found = os.lstat(path)
    return f"{stat.S_IFMT(found.st_mode):o} {found.st_mode & 0o7777:o}"
row("bind", lambda: bound(unix(b"sock\0")))
row("bind made", lambda: inode("sock"))
row("bind again", lambda: bound(unix(b"sock\0")))
row("bind without end", lambda: bound(unix(b"sock2")))
row("bind more after end", lambda: bound(unix(b"sock3\0abc")))
row("bind in directory", lambda: bound(unix(b"d/sock\0")))
row("bind in linked directory", lambda: bound(unix(b"ld/e/../sock2\0")))
row("bind absolute", lambda: bound(unix(os.getcwd().encode() + b"/d/e/s\0")).replace(os.getcwd(), "TOP"))
row("bind on a file", lambda: bound(unix(b"f\0")))
row("bind on a directory", lambda: bound(unix(b"d\0")))
row("bind on dangling", lambda: (os.symlink("gone3", "dang3"), bound(unix(b"dang3\0")))[1])
row("bind on a loop", lambda: bound(unix(b"loop/x\0")))
row("bind dot", lambda: bound(unix(b".\0")))
row("bind dotdot", lambda: bound(unix(b"d/..\0")))
row("bind root", lambda: bound(unix(b"/\0")))
row("bind slash", lambda: bound(unix(b"sock9/\0")))
row("bind slash old", lambda: bound(unix(b"d/\0")))
row("bind in nothing", lambda: bound(unix(b"no/sock\0")))
row("bind below a file", lambda: bound(unix(b"f/sock\0")))
row("bind 107", lambda: bound(unix(b"x" * 107 + b"\0")))
row("bind 108", lambda: bound(unix(b"y" * 108)))
row("bind 108 in directory", lambda: bound(unix(b"d/" + b"z" * 106)))
row("bind 109", lambda: bound(unix(b"x" * 109)))
row("bind too long", lambda: bound(unix(b"x" * 200)))
row("bind huge", lambda: bound(unix(b"a\0"), 1 << 30))
row("bind negative", lambda: bound(unix(b"a\0"), -1))
row("bind nothing", lambda: bound(b"", 0))
row("bind half a family", lambda: bound(b"\1"))
row("bind family alone", lambda: len(bound(unix(b""))))
row("bind abstract", lambda: bound(unix(b"\0ringfence-law-%d" % os.getpid())).startswith(b"\0ringfence-law-"))
row("bind another family", lambda: bound(struct.pack("H", 2) + b"sock4\0"))
def faulty():
    made = socket.socket(socket.AF_UNIX)
    if libc.bind(made.fileno(), ctypes.c_void_p(1), 10): raise OSError(ctypes.get_errno(), "bind")
row("bind fault", faulty)
row("bind no descriptor", lambda: bound(unix(b"sock5\0"), of=999))
row("bind no socket", lambda: bound(unix(b"sock5\0"), of=os.open("f", os.O_RDONLY)))
row("bind no socket, bad length", lambda: bound(unix(b"sock5\0"), -1, of=os.open("f", os.O_RDONLY)))
twice = socket.socket(socket.AF_UNIX); twice.bind("twice")
row("bind twice", lambda: bound(unix(b"twice2\0"), of=twice))
row("bind twice made", lambda: inode("twice2"))
os.umask(0o027)
row("bind umask", lambda: (bound(unix(b"masked\0")), inode("masked"))[1])
def chmodded():
    made = socket.socket(socket.AF_UNIX); os.fchmod(made.fileno(), 0o600); made.bind("chmodded")
    return inode("chmodded")
row("bind mode of the socket", chmodded)
os.umask(0o022)
def talk(path):
    """A server is found by the address that it says it has, also from elsewhere."""
    server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
    here = os.getcwd(); os.chdir("/")
    try:
        client = socket.socket(socket.AF_UNIX); client.connect(server.getsockname())
    finally: os.chdir(here)
    client.send(b"hello")
    return server.accept()[0].recv(9).decode()
row("talk", lambda: talk(os.getcwd() + "/d/talk"))
row("talk in tmp", lambda: talk(f"/tmp/rf-law-{os.getpid()}") + str(os.remove(f"/tmp/rf-law-{os.getpid()}")))
def own_table():
    """A thread may have descriptors of its own."""
    said = []
    def other():
        libc.unshare(0x400)
        os.dup2(os.open("f", os.O_RDONLY), shared.fileno())
        try: bound(unix(b"own-table\0"), of=shared.fileno())
        except OSError as error: said.append(errno.errorcode[error.errno])
    shared = socket.socket(socket.AF_UNIX)
    thread = threading.Thread(target=other); thread.start(); thread.join()
    return said, shared.getsockname(), os.path.exists("own-table")
row("bind in a thread with its own descriptors", own_table)
def inet(port, host="127.0.0.1", family=socket.AF_INET):
    return struct.pack("H", family) + struct.pack("!H4s8x", port, socket.inet_aton(host))
row("bind inet", lambda: bound(inet(0), kind=socket.AF_INET)[0])
row("bind inet, not ours", lambda: bound(inet(0, "192.0.2.1"), kind=socket.AF_INET))
row("bind inet, short", lambda: bound(inet(0)[:8], kind=socket.AF_INET))
row("bind inet, family unix", lambda: bound(unix(b"sock6\0"), kind=socket.AF_INET))
row("bind inet, wrong family", lambda: bound(inet(0, family=10), kind=socket.AF_INET))
def port_in_use():
    first = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); first.bind(("127.0.0.1", 0))
    return bound(inet(first.getsockname()[1]), kind=socket.AF_INET)
row("bind inet, in use", port_in_use)
def six():
    made = socket.socket(socket.AF_INET6); made.bind(("::1", 0))
    return made.getsockname()[0]
row("bind inet6", six)
def netlink(pid, times=1):
    made = [socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) for _ in range(times)]
    for one in made: one.bind((pid, 0))
    return ["own" if one.getsockname()[0] == os.getpid() else one.getsockname()[0] >= 1 << 31 for one in made]
row("bind netlink", lambda: netlink(0))
row("bind netlink twice", lambda: netlink(0, 3))
def netlink_again():
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); made.bind((0, 0)); made.bind((0, 0))
row("bind netlink again", netlink_again)
row("datagram by name", lambda: (lambda a, b: (a.bind("dg-a"), b.bind("dg-b"), b.connect("dg-a"), b.send(b"x"), a.recvfrom(9))[-1])(
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))

# Where the directory is gone.
os.mkdir("away"); os.chdir("away"); os.rmdir("../away")
row("in a removed directory", lambda: opened("x", W | C))
row("mkdir there", lambda: os.mkdir("x"))
