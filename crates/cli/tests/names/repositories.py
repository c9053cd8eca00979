"""Ways to have the settings of an attacker count in a repository. Every line should say that it was refused."""
import os, shutil, socket

EVIL = '\n[core]\n\tfsmonitor = "touch PWNED; false"\n'

def attempt(what, call):
    try:
        call()
        print(what, "DONE", flush=True)
    except OSError as error:
        print(what, os.strerror(error.errno), flush=True)

def write(path, text=EVIL):
    with open(path, "a") as file: file.write(text)

def bind(path):
    socket.socket(socket.AF_UNIX).bind(path)

def part(top, names):
    """A directory with some parts of a repository and the settings of the attacker."""
    os.makedirs(top)
    if "HEAD" in names: write(top + "/HEAD", "ref: refs/heads/main\n")
    for name in set(names) - {"HEAD"}: os.makedirs(f"{top}/{name}")
    write(top + "/config")

# A socket is a name, and completes a repository as well as a directory does.
part("x", ["HEAD", "objects"])
attempt("socket refs", lambda: bind("x/refs"))
attempt("socket REFS", lambda: bind("x/REFS"))
attempt("socket through a link", lambda: (os.symlink("x", "lx"), bind("lx/refs")))
attempt("socket from inside", lambda: (os.chdir("x"), bind("./refs")))
os.chdir(os.environ["TOP"])
attempt("socket absolute", lambda: bind(os.getcwd() + "/x/refs"))
# A repository can be put together in a directory that has the name of a part of one.
part("src/hooks", ["HEAD", "objects"])
attempt("refs in hooks", lambda: os.mkdir("src/hooks/refs"))
part("info", ["HEAD", "objects"])
attempt("refs in info", lambda: os.mkdir("info/refs"))
# A directory that only its owner can look into is looked into all the same.
os.umask(0o077); part("closed", ["HEAD", "objects"])
attempt("refs in closed", lambda: os.mkdir("closed/refs"))
os.umask(0o022)
# What is there already.
for top in [".bare", "other", "hooks/deep.git"]:
    attempt(f"{top} commondir", lambda: write(top + "/commondir", "../evil\n"))
    attempt(f"{top} COMMONDIR", lambda: write(top + "/COMMONDIR", "../evil\n"))
    attempt(f"{top} config", lambda: write(top + "/config"))
    attempt(f"{top} hook", lambda: write(top + "/hooks/update", "#!/bin/sh\ntouch PWNED\n"))
    attempt(f"{top} socket commondir", lambda: bind(top + "/commondir"))
    shutil.rmtree(top + "/info", ignore_errors=True)
    os.makedirs("prepared", exist_ok=True); write("prepared/attributes", "* filter=x\n")
    attempt(f"{top} info", lambda: os.rename("prepared", top + "/info"))
# Taken apart, it is still what it was; also in another directory.
shutil.rmtree(".bare/refs"); shutil.rmtree(".bare/objects"); os.remove(".bare/HEAD")
attempt("apart config", lambda: write(".bare/config"))
attempt("apart commondir", lambda: write(".bare/commondir", "../evil\n"))
attempt("apart hook", lambda: write(".bare/hooks/update", "#!/bin/sh\n"))
attempt("apart settings", lambda: (write("mine"), os.rename("mine", ".bare/config")))
attempt("apart link", lambda: (write("mine2"), os.link("mine2", ".bare/commondir")))
attempt("apart moved", lambda: os.rename(".bare", "moved"))
shutil.rmtree("hooks/deep.git/refs"); os.makedirs("below/more"); os.rename("hooks", "below/more/again")
attempt("below config", lambda: write("below/more/again/deep.git/config"))
os.rename("below/more/again", "hooks"); os.makedirs("hooks/deep.git/refs")
os.makedirs(".bare/refs"); os.makedirs(".bare/objects"); write(".bare/HEAD", "ref: refs/heads/main\n")
attempt("again config", lambda: write(".bare/config"))
# What is free in one place does not come to another where it is not, with the directory that it is in.
os.makedirs("filled"); write("filled/attributes", "* filter=x\n")
attempt("module info", lambda: os.rename("filled", "super/.git/modules/lib/foo/info"))
os.makedirs("tree/info"); write("tree/info/attributes", "* filter=x\n"); write("tree/config.worktree")
attempt("module tree", lambda: os.rename("tree", "super/.git/modules/lib/bar"))
os.makedirs("super/.git/carried"); write("super/.git/carried/.git", "gitdir: ../x\n"); os.makedirs("vendor")
attempt("pointer in a directory", lambda: os.rename("super/.git/carried", "vendor/carried"))
# Names that are protected whatever lies beside them.
for name in ["ringfence.toml", ".envrc", "deep/.vscode", ".git/hooks", "RINGFENCE.TOML"]:
    os.makedirs("deep", exist_ok=True)
    attempt(f"socket {name}", lambda: bind(name))
