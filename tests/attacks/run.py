#!/usr/bin/env python3
"""Runs the attacks against one launcher and prints what came of each.

    SANDBOX='ringfence run --workspace "$WS" --' ./run.py [part of a name ...]
    SANDBOX=env ./run.py             # no sandbox: nearly all must FAIL

ATK_BASE is where the workspaces are made (default /var/tmp: a launcher may give /tmp a meaning of its own).
Ends with 0 only if every control passed and no claimed attack succeeded.
"""
import os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.realpath(__file__))
LIMIT = float(os.environ.get("ATK_TEST_LIMIT", "90"))


def main():
    if "SANDBOX" not in os.environ:
        sys.exit(__doc__)
    unclaimed = read_unclaimed()
    tally = {"PASS": [], "FAIL": [], "SKIP": [], "UNCLAIMED": []}
    for name in names(sys.argv[1:]):
        start = time.monotonic()
        line = run(name)
        word = line.split(" ", 1)[0]
        if name in unclaimed and word != "PASS":
            word, line = "UNCLAIMED", "UNCLAIMED %s: %s (%s)" % (name, unclaimed[name], line)
        tally[word].append(name)
        print("%s  [%.1fs]" % (line, time.monotonic() - start), flush=True)
    print("== " + "  ".join("%s %d" % (word, len(found)) for word, found in tally.items()))
    control = any(name[0] == "c" for name in tally["FAIL"] + tally["SKIP"])
    if control:
        print("!! a positive control did not pass: the PASS lines prove little")
    sys.exit(1 if tally["FAIL"] or control else 0)


def read_unclaimed():
    with open(os.path.join(HERE, "unclaimed.txt")) as lines:
        rows = [line.strip().split(": ", 1) for line in lines if line.strip() and not line.startswith("#")]
    return dict(rows)


def names(parts):
    every = sorted(f[:-3] for f in os.listdir(os.path.join(HERE, "cases")) if f.endswith(".py"))
    return [name for name in every if not parts or any(part in name for part in parts)]


def run(name):
    """One attack in a fresh workspace below a fresh home; the last verdict line it printed."""
    base = tempfile.mkdtemp(prefix="atk-", dir=os.environ.get("ATK_BASE", "/var/tmp"))
    home, ws = os.path.join(base, "home"), os.path.join(base, "home", "proj")
    os.makedirs(ws)
    env = dict(os.environ, WS=ws, ATK_HOME=home)
    argv = [sys.executable, "-B", os.path.join(HERE, "cases", name + ".py")]
    try:
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        text, status = (done.stdout + done.stderr).decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired:
        text, status = "", "timeout"
    finally:
        shutil.rmtree(base, ignore_errors=True)
    verdicts = [line for line in text.splitlines() if line.startswith(("PASS ", "FAIL ", "SKIP "))]
    return verdicts[-1] if verdicts else "SKIP %s: harness error %s %s" % (name, status, text[-160:].strip())


main()
