"""Links by descriptor between names that are judged by what lies beside them: each call has to come back."""
import ctypes, os

libc = ctypes.CDLL(None, use_errno=True)
for name in ["HEAD", "refs", "objects", "commondir", "config", "hooks"]:
    for top in ["q", "r", "s"]: os.makedirs(f"{top}-{name}", exist_ok=True)
    fd = os.open(f"q-{name}/{name}", os.O_CREAT | os.O_RDWR)
    libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, f"r-{name}/{name}".encode(), 0x400)
    libc.linkat(fd, b"", -100, f"s-{name}/{name}".encode(), 0x1000)
    libc.renameat2(-100, f"q-{name}/{name}".encode(), -100, f"r-{name}/{name}".encode(), 2)
    os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
    os.truncate(f"/proc/self/fd/{fd}", 0)
    print("came back", name, os.fstat(fd).st_nlink >= 1, flush=True)
