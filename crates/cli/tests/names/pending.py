"""Files that git writes, renames, and descriptors of files without a name, all at once: nothing waits for ever."""
import ctypes, os, sys

def write():
    ctypes.CDLL(None).prctl(15, b"git")
    for count in range(800):
        try: os.unlink(".vscode/tasks.json")
        except FileNotFoundError: pass
        try: fd = os.open(".vscode/tasks.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except OSError: continue
        os.write(fd, [b"one\n", b"evil\n"][count % 2]); os.close(fd)

def rename(name):
    os.mkdir(name)
    for _ in range(3000): os.rename(name, name + "x"); os.rename(name + "x", name)

def reopen():
    for _ in range(3000):
        fd = os.open(".", os.O_RDWR | os.O_TMPFILE)
        os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDWR)); os.close(fd)

def replace(name):
    for _ in range(800):
        with open(name, "w") as file: file.write("one\n")
        try: os.rename(name, ".vscode/tasks.json")
        except OSError: pass

children = []
for work in [write, write, write, lambda: replace("m"), lambda: replace("n"), lambda: rename("c"), lambda: rename("d"), lambda: rename("a"), lambda: rename("b"), reopen, reopen, reopen]:
    child = os.fork()
    if child == 0: work(); os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
print("end")
