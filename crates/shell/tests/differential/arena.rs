//! Namespaces that are thrown away, in which one shell runs one line after the other.
//!
//! Inside there is no network, no process and no file of the host but its programs, read-only. One process is confined
//! once and runs every line; it is process 1 there, and everything ends with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::driver::{Outcome, ROLE};
use crate::shells::Shell;

/// Makes a root of its own in the first argument's `root`, and enters it.
const SETUP: &str = r#"
set -e
stage=$1 root=$1/root shell=$2
mount -t tmpfs -o size=64m,nr_inodes=20000,mode=755 tmpfs "$root"
cd "$root"
mkdir usr dev proc work tmp canary
for directory in bin sbin lib lib64 lib32; do
    if [ -L "/$directory" ]; then cp -P "/$directory" .
    elif [ -d "/$directory" ]; then mkdir "$directory"; mount --bind "/$directory" "$directory"; mount -o remount,bind,ro "$directory"
    fi
done
mount --bind /usr usr
mount -o remount,bind,ro usr
mount --bind "$stage/canary" canary
mount -o remount,bind,ro canary
: >dev/null
mount --bind /dev/null dev/null
ln -s /proc/self/fd dev/fd
mount -t proc proc proc 2>/dev/null || mount --rbind /proc proc
cp "$stage/driver" driver
: >log
ulimit -c 0
ulimit -f 2048
ulimit -v 2000000
ulimit -t 120
(ulimit -u 200) 2>/dev/null && ulimit -u 200 || ulimit -p 200
exec chroot . /driver "$3" "$shell"
"#;

const UNSHARE: &[&str] = &[
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--net",
    "--ipc",
    "--uts",
    "--kill-child",
];

/// Template of every arena.
pub(crate) struct Stage(TempDir);

impl Stage {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path();
        for name in ["root", "canary"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        fs::copy(std::env::current_exe().unwrap(), path.join("driver")).unwrap();
        canaries(&path.join("canary"));
        for name in ["", "root", "canary", "driver"] {
            open_to_all(&path.join(name));
        }
        Self(directory)
    }
}

/// The canaries write their names where nothing captures it, and need no other program for it.
fn canaries(directory: &Path) {
    let say = "if [ $# -gt 0 ]; then echo \"$*\"; else while read -r line; do echo \"$line\"; done; fi";
    for (name, rest) in [("pwn", ":"), ("aux", say), ("vis", ":")] {
        let file = directory.join(name);
        fs::write(&file, format!("#!/bin/sh\necho {name} >>/log\n{rest}\n")).unwrap();
        open_to_all(&file);
    }
    for name in ["cat", "env", "xargs", "sh"] {
        if let Some(target) = Shell::path_of(name) {
            std::os::unix::fs::symlink(target, directory.join(name)).unwrap();
        }
    }
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A confined process that runs lines in one shell.
pub(crate) struct Arena {
    process: Child,
    lines: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Arena {
    /// Opens one and tries it; an error says why there is none on this machine.
    pub(crate) fn open(stage: &Stage, shell: Shell) -> Result<Self, String> {
        let mut words = prefix();
        words.extend(UNSHARE.iter().copied());
        words.extend(["sh", "-c", SETUP, "sh"]);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(stage.0.path()).arg(shell.path().ok_or("not installed")?).arg(ROLE);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{}: {error}", words[0]))?;
        let (lines, answers) =
            (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut arena = Self { process, lines, answers };
        let first =
            arena.ask("pwn; aux a; vis; echo $(pwn)", true).map_err(|error| arena.last_words(&error))?;
        let expected = Outcome { pwn: 2, aux: 1, vis: 1, parses: true, late: false };
        if first == expected { Ok(arena) } else { Err(format!("the canaries do not work: {first:?}")) }
    }

    /// Runs a line. The syntax is looked at only when asked for: it costs as much as running.
    pub(crate) fn run(&mut self, line: &str, syntax: bool) -> Outcome {
        self.ask(line, syntax).unwrap_or_else(|error| {
            let words = self.last_words(&error);
            panic!("the arena broke down ({words}) on {line:?}")
        })
    }

    fn ask(&mut self, line: &str, syntax: bool) -> Result<Outcome, String> {
        let head = format!("{} {}\n", line.len(), u8::from(syntax));
        let sent = self.lines.write_all(head.as_bytes()).and_then(|()| self.lines.write_all(line.as_bytes()));
        sent.and_then(|()| self.lines.flush()).map_err(|error| error.to_string())?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|error| error.to_string())?;
        Outcome::parse(&answer).ok_or_else(|| format!("no answer: {answer:?}"))
    }

    /// Returns its output before it ended.
    fn last_words(&mut self, error: &str) -> String {
        drop(self.process.kill());
        let said =
            self.process.stderr.take().map(|stderr| std::io::read_to_string(stderr).unwrap_or_default());
        format!("{error}; {}", said.unwrap_or_default().trim())
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Root gives its rights up first: limits on processes do not hold for root.
fn prefix() -> Vec<&'static str> {
    if rustix::process::getuid().is_root() && Shell::path_of("setpriv").is_some() {
        vec!["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    } else {
        vec![]
    }
}
