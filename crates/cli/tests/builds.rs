//! Requirements of builds, tests and servers, on the real thing: each row works inside as it does outside.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Name, the program that it needs, and the script. It says `fine` at the end.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "temporary files of a compiler",
        "cc",
        "echo 'int main(void){return 0;}' >a.c; cc a.c -o a; cc -save-temps=cwd -c a.c; ./a; test -d $TMPDIR",
    ),
    (
        "shared memory and semaphores by name",
        "python3",
        r"python3 -c '
from multiprocessing import shared_memory, Semaphore
a = shared_memory.SharedMemory(create=True, size=4096); a.buf[0] = 7
b = shared_memory.SharedMemory(name=a.name); assert b.buf[0] == 7
b.close(); a.close(); a.unlink()
assert Semaphore(1).acquire()'",
    ),
    (
        "a pool of processes",
        "python3",
        r#"python3 -c '
import multiprocessing
with multiprocessing.get_context("fork").Pool(3) as pool:
    assert sum(pool.map(abs, [-1, -2, -3])) == 6'"#,
    ),
    (
        "watching files",
        "python3",
        r#"python3 -c '
import ctypes, os
c = ctypes.CDLL(None); watch = c.inotify_init1(0)
for place in [b".", b"/tmp"]:
    assert c.inotify_add_watch(watch, place, 0x100) >= 0
    open(place + b"/seen", "w").close()
    assert b"seen" in os.read(watch, 4096)'"#,
    ),
    (
        "watching files with node",
        "node",
        r#"node -e '
const fs = require("fs");
fs.watch(".", () => process.exit(0));
setInterval(() => fs.writeFileSync("changed", "x"), 20);
setTimeout(() => process.exit(1), 20000)'"#,
    ),
    (
        "a language server over pipes",
        "python3",
        r#"python3 -c '
import subprocess, sys
server = """
import sys
length = int(sys.stdin.readline().split(":")[1]); sys.stdin.readline()
text = sys.stdin.read(length)
sys.stdout.write("Content-Length: %d\\r\\n\\r\\n%s" % (len(text), text)); sys.stdout.flush()
"""
talk = subprocess.Popen([sys.executable, "-c", server], stdin=-1, stdout=-1)
said, _ = talk.communicate(b"Content-Length: 5\r\n\r\nhello")
assert said.endswith(b"hello")'"#,
    ),
    (
        "a server on the loopback, both versions",
        "python3",
        r#"python3 -c '
import http.server, threading, urllib.request, socket
for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]:
    class Server(http.server.ThreadingHTTPServer): address_family = family
    server = Server((address, 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = "[::1]" if ":" in address else address
    assert urllib.request.urlopen("http://%s:%d/" % (at, server.server_port)).status == 200' 2>/dev/null"#,
    ),
    (
        "localhost by name",
        "node",
        r#"node -e '
const http = require("http");
const server = http.createServer((_, answer) => answer.end("hi")).listen(0, "localhost", () =>
  http.get({ host: "localhost", port: server.address().port }, answer => process.exit(answer.statusCode === 200 ? 0 : 1)))'"#,
    ),
    (
        "sockets by path, abstract and in pairs",
        "python3",
        r#"python3 -c '
import socket
for path in ["/tmp/a.sock", "a.sock", "\0abstract"]:
    server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
    client = socket.socket(socket.AF_UNIX); client.connect(path)
    there, _ = server.accept(); client.send(b"x"); assert there.recv(1) == b"x"
a, b = socket.socketpair(); socket.send_fds(a, [b"x"], [0])
assert len(socket.recv_fds(b, 1, 1)[1]) == 1'"#,
    ),
    (
        "datagrams on the loopback",
        "python3",
        r#"python3 -c '
import socket
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(("127.0.0.1", 0))
a.sendto(b"x", a.getsockname()); assert a.recv(1) == b"x"'"#,
    ),
    (
        "threads of node",
        "node",
        r#"node -e '
const { Worker } = require("worker_threads");
new Worker("require(\"worker_threads\").parentPort.postMessage(42)", { eval: true })
  .on("message", said => process.exit(said === 42 ? 0 : 1))'"#,
    ),
    (
        "code that is compiled while it runs",
        "node",
        "node -e 'new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); for (let i = 0; i < 1e6; i++) Math.sin(i)'",
    ),
    (
        "git over file://",
        "git",
        "git init -q /tmp/a && git -C /tmp/a -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && \
         git clone -q file:///tmp/a /tmp/b && git -C /tmp/b log -1 >/dev/null && git -C /tmp/b worktree add -q /tmp/c",
    ),
    (
        "files in memory, also with code in them",
        "python3",
        r#"python3 -c '
import mmap, os
with open("mapped", "wb") as file: file.write(bytes(8192))
with open("mapped", "r+b") as file:
    with mmap.mmap(file.fileno(), 0) as memory: memory[0] = 1; memory.flush()
assert open("mapped", "rb").read(1) == b"\1"
mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
os.memfd_create("x")'"#,
    ),
    (
        "locks of both kinds, wherever something can be written",
        "python3",
        r#"python3 -c '
import fcntl, os
home = os.environ["HOME"]
for place in [".", "/tmp", "/dev/shm", home, home + "/.cargo/registry"]:
    a, b = open(place + "/lock", "w"), open(place + "/lock", "w")
    fcntl.flock(a, fcntl.LOCK_EX)
    try: fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB); raise SystemExit("not locked: " + place)
    except BlockingIOError: pass
    fcntl.flock(a, fcntl.LOCK_UN); fcntl.lockf(a, fcntl.LOCK_EX)'"#,
    ),
    (
        "FIFOs",
        "mkfifo",
        "for i in . /tmp ~; do mkfifo $i/fifo; (echo hi >$i/fifo) & test \"$(cat $i/fifo)\" = hi || exit 1; done",
    ),
    ("a terminal of its own", "python3", "python3 -c 'import pty; assert pty.spawn([\"true\"]) == 0'"),
    (
        "many threads at once",
        "python3",
        r"python3 -c '
import threading
gate = threading.Barrier(101)
for _ in range(100): threading.Thread(target=gate.wait).start()
gate.wait()'",
    ),
];

fn run(home: &Path, workspace: &Path, script: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
    command.env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.current_dir(workspace).stdin(Stdio::null());
    // As a value, so that what a reader makes of a script is not what is tried.
    command.args([
        "run",
        "--env",
        &format!("SCRIPT={script}"),
        "--",
        "/bin/sh",
        "-ec",
        "eval \"$SCRIPT\"; echo fine",
    ]);
    command.output().unwrap()
}

#[test]
fn what_builds_need_is_there() {
    let whole = tempfile::tempdir().unwrap();
    let whole = whole.path().canonicalize().unwrap();
    let home = whole.join("home");
    fs::create_dir_all(home.join(".cargo/registry")).unwrap();
    fs::create_dir_all(whole.join("none")).unwrap();
    let works = run(&home, &whole.join("none"), "true");
    if !works.status.success() {
        return skip::skipped("what builds need", &String::from_utf8_lossy(&works.stderr));
    }
    let mut failed = Vec::new();
    for (number, (what, program, script)) in ROWS.iter().enumerate() {
        let workspace = whole.join(number.to_string());
        fs::create_dir(&workspace).unwrap();
        if !["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|dir| Path::new(dir).join(program).exists()) {
            skip::skipped(what, &format!("there is no {program}"));
            continue;
        }
        let output = run(&home, &workspace, script);
        if String::from_utf8_lossy(&output.stdout).trim() != "fine" {
            failed.push(format!("{what}:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
