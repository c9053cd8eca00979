"""Makes random calls on protected and ordinary names, in several processes and threads. The same seed makes the same calls."""
import array, ctypes, os, random, socket, struct, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
seed, calls, workers = int(sys.argv[1]), int(sys.argv[2]), 4
TOP = os.getcwd()
DIRECTORIES = [".", "bare", ".git", ".git/hooks", "deep/repo/.git", "deep", "deep/er", "a", "b", "a/c", "hooks", "hooks/bare", "vendor", "vendor/p",
               "node_modules", "moved", "half", "link", ".git/worktrees/w", ".git/modules/m", "info", ".", "a/../b", "deep/er/../../bare"]
NAMES = ["HEAD", "refs", "objects", "commondir", "config", "hooks", "info", "attributes", "config.lock", "update", "x", "y", "z", "f", ".envrc", ".vscode",
         ".git", "ringfence.toml", "CLAUDE.md", "c", "er", "p", "Refs", "CONFIG", ".GIT", "\udcff\udcfe", ".ringfence-staged-1", "fifo", "sock", "alternates",
         "worktrees", "modules", "gitdir", "config.worktree", "pre-commit"]
EVIL = b"evil\n[core]\n\tfsmonitor = evil\n"

class Worker:
    def __init__(self, number):
        self.random, self.number, self.fds, self.done = random.Random(seed * 1000 + number), number, [], 0
        self.left, self.right = socket.socketpair()

    def path(self):
        directory, name = self.random.choice(DIRECTORIES), self.random.choice(NAMES)
        kind = self.random.randrange(12)
        if kind == 0: return directory
        if kind == 1 and self.fds: return f"/proc/self/fd/{self.random.choice(self.fds)}"
        if kind == 2 and self.fds: return f"/proc/self/fd/{self.random.choice(self.fds)}/{name}"
        if kind == 3: return f"{TOP}/{directory}/{name}"
        if kind == 4: return f"{directory}/{name}/{self.random.choice(NAMES)}"
        if kind == 5: return f"{directory}//./{name}/"
        return f"{directory}/{name}"

    def keep(self, fd):
        self.fds.append(fd)
        if len(self.fds) > 20: os.close(self.fds.pop(0))

    def open(self):
        access = self.random.choice([os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_PATH])
        flags = access | os.O_NONBLOCK | os.O_NOCTTY | self.random.choice([0, os.O_CREAT, os.O_CREAT | os.O_EXCL, os.O_TRUNC, os.O_DIRECTORY, os.O_NOFOLLOW, os.O_CREAT | os.O_TRUNC])
        fd = os.open(self.path(), flags, 0o666)
        self.keep(fd)
        if access in (os.O_WRONLY, os.O_RDWR): os.write(fd, EVIL)

    def unnamed(self):
        fd = os.open(self.random.choice(DIRECTORIES), os.O_RDWR | os.O_TMPFILE); self.keep(fd); os.write(fd, EVIL)

    def link_by_descriptor(self):
        fd, to = self.random.choice(self.fds), self.path().encode(errors="surrogateescape")
        if self.random.random() < 0.5: libc.linkat(fd, b"", -100, to, 0x1000)
        else: libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, to, 0x400)

    def write_again(self):
        os.write(os.open(f"/proc/self/fd/{self.random.choice(self.fds)}", os.O_RDWR | os.O_NONBLOCK), EVIL)

    def rename(self):
        one, two = (path.encode(errors="surrogateescape") for path in (self.path(), self.path()))
        libc.renameat2(-100, one, -100, two, self.random.choice([0, 0, 0, 1, 2, 2]))

    def move_directory(self):
        os.rename(self.random.choice(DIRECTORIES), self.path())

    def bind(self):
        made = socket.socket(socket.AF_UNIX, self.random.choice([socket.SOCK_STREAM, socket.SOCK_DGRAM]))
        path = self.path().encode(errors="surrogateescape")
        address = struct.pack("H", self.random.choice([1, 1, 1, 2])) + path + self.random.choice([b"\0", b"", b"\0more"])
        libc.bind(made.fileno(), address, self.random.choice([len(address), len(address), 0, 2, 200, -1]))
        made.close()

    def swap_memory(self):
        """The path changes while the call is on its way."""
        one, two = (path.encode(errors="surrogateescape").ljust(128, b"\0")[:128] for path in (self.path(), self.path()))
        buffer, going = ctypes.create_string_buffer(one, 129), [True]
        def swap():
            while going[0]: ctypes.memmove(buffer, two, 128); ctypes.memmove(buffer, one, 128)
        thread = threading.Thread(target=swap); thread.start()
        for _ in range(5):
            fd = libc.openat(-100, buffer, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644)
            if fd >= 0: os.write(fd, EVIL); os.close(fd)
        going[0] = False; thread.join()

    def pass_descriptor(self):
        """A descriptor goes to another thread by way of a socket, and comes back under another number."""
        fd = self.random.choice(self.fds)
        self.left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        _, ancillary, _, _ = self.right.recvmsg(1, 64)
        got = array.array("i"); got.frombytes(ancillary[0][2][:4]); self.keep(got[0])
        os.write(os.open(f"/proc/thread-self/fd/{got[0]}", os.O_WRONLY | os.O_NONBLOCK), EVIL)

    def at_descriptor(self):
        fd = self.random.choice(self.fds)
        os.write(os.open(self.random.choice(NAMES), os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644, dir_fd=fd), EVIL)

    def step(self):
        kinds = [(self.open, 10), (lambda: os.mkdir(self.path()), 5), (lambda: os.symlink(self.path(), self.path()), 3),
                 (lambda: os.mkfifo(self.path()), 1), (lambda: os.mknod(self.path()), 2), (lambda: os.truncate(self.path(), self.random.randrange(9)), 3),
                 (lambda: os.link(self.path(), self.path(), follow_symlinks=self.random.random() < 0.5), 4), (self.rename, 8), (self.move_directory, 2),
                 (self.bind, 6), (self.unnamed, 1), (self.link_by_descriptor, 5), (self.write_again, 3), (self.pass_descriptor, 1), (self.at_descriptor, 3),
                 (self.swap_memory, 0.05), (lambda: os.unlink(self.path()), 1), (lambda: os.rmdir(self.path()), 1), (lambda: os.umask(self.random.choice([0o022, 0o077])), 0.2)]
        work = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        self.done += 1
        try: work()
        except (OSError, IndexError, ValueError): pass

def work(number):
    workers = [Worker(number * 2 + thread) for thread in range(2)]
    def go(worker):
        while worker.done < calls: worker.step()
    threads = [threading.Thread(target=go, args=[worker]) for worker in workers]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print("calls", sum(worker.done for worker in workers), flush=True)
    os._exit(0)

children = []
for number in range(workers // 2):
    child = os.fork()
    if child == 0: work(number)
    children.append(child)
for child in children: os.waitpid(child, 0)
print("end", flush=True)
