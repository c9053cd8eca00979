"""Settings that the supervisor puts in place: nobody gets hold of the file on its way. Says `won` if somebody did."""
import ctypes, os, signal, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)
GIT, CONFIG = ".git", ".git/config"
before = open(CONFIG).read()
usual = set(os.listdir(GIT)) | {"config", "config.lock"}
big = "".join(f'[branch "b{number}"]\n\tremote = origin\n' for number in range(15000))

def spin():
    """Opens whatever appears beside the settings, for writing and by way of a descriptor for reading, and links it."""
    held = []
    def hold(path, flags):
        try: held.append(os.open(path, flags))
        except OSError: pass
    end = time.time() + 60
    while time.time() < end and not os.path.exists("stop"):
        for name in ["config.ringfence"] + [name for name in os.listdir(GIT) if name not in usual]:
            path = f"{GIT}/{name}"
            hold(path, os.O_RDWR)
            try: fd = os.open(path, os.O_RDONLY)
            except OSError: continue
            hold(f"/proc/self/fd/{fd}", os.O_RDWR)
            for number, source in enumerate([(-100, path.encode(), 0), (fd, b"", 0x1000), (-100, f"/proc/self/fd/{fd}".encode(), 0x400)]):
                libc.linkat(source[0], source[1], -100, f"linked-{os.getpid()}-{number}-{len(held)}".encode(), source[2])
            os.close(fd)
        settings = os.stat(CONFIG)
        won = [fd for fd in held if (os.fstat(fd).st_ino, os.fstat(fd).st_nlink) == (settings.st_ino, 1)]
        if won or settings.st_nlink > 1:
            print("won", flush=True)
            os._exit(1)
        held = held[-200:]
    os._exit(0)

children = []
for _ in range(2):
    child = os.fork()
    if child == 0: spin()
    children.append(child)
done = 0
for number in range(int(sys.argv[1])):
    with open(GIT + "/config.lock", "w") as lock: lock.write(before + (big if number % 2 else ""))
    os.rename(GIT + "/config.lock", CONFIG)
    done += 1
open("stop", "w").close()
for child in children: os.waitpid(child, 0)
print("replaced", done, flush=True)
print("left", sorted(set(os.listdir(GIT)) - usual), flush=True)

# The names on the way are nobody's, in any case and by any call.
STAGED = GIT + "/.RingFence-Staged-0123456789abcdef"
def attempt(what, call):
    try:
        call()
        print(what, "done", flush=True)
    except OSError as error:
        print(what, os.strerror(error.errno), flush=True)
open("plain", "w").close()
plain = os.open("plain", os.O_RDONLY)
for what, call in {
    "open": lambda: os.open(STAGED, os.O_WRONLY | os.O_CREAT), "mkdir": lambda: os.mkdir(STAGED), "mkfifo": lambda: os.mkfifo(STAGED),
    "symlink": lambda: os.symlink("x", STAGED), "link": lambda: os.link("plain", STAGED), "rename": lambda: os.rename("plain", STAGED),
    "bind": lambda: socket.socket(socket.AF_UNIX).bind(STAGED), "truncate": lambda: os.truncate(STAGED, 0),
    "leftover": lambda: os.open(".git/.ringfence-staged-left", os.O_WRONLY), "leftover link": lambda: os.link(".git/.ringfence-staged-left", "got"),
    "leftover rename": lambda: os.rename(".git/.ringfence-staged-left", "got"),
    "leftover again": lambda: os.open(f"/proc/self/fd/{os.open('.git/.ringfence-staged-left', os.O_RDONLY)}", os.O_WRONLY),
}.items():
    attempt(what, call)
