//! A place to run the built command in, shared by the tests that look at it from outside.
#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../../tests/skip.rs"]
mod skip;

pub(crate) mod person;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(crate) use skip::skipped;

/// Far more than any step needs: reaching it is a failure, not a pace.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A home and a workspace of their own.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

/// Output and exit of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    /// For commands that need no jail.
    pub(crate) fn bare() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home", "ws/src", "beside"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    /// Nothing, and a word about it, where no jail can be made.
    pub(crate) fn new() -> Option<Self> {
        let stage = Self::bare();
        let tried = stage.run("", "true");
        if tried.code != Some(0) {
            assert_eq!(tried.code, Some(125), "that is not for want of a jail: {tried:?}");
            skipped("ringfence run", &format!("no jail can be made here: {}", tried.err));
            return None;
        }
        Some(stage)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("TERM", "xterm").env("PS1", "out> ").env("RF", PROGRAM).current_dir(self.path("ws"))
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        self.surround(&mut command).stdin(Stdio::null());
        command
    }

    /// `ringfence run` with options in front of a shell script.
    pub(crate) fn script(&self, options: &str, script: &str) -> Command {
        let mut command = self.command();
        command.arg("run").args(options.split_whitespace()).args(["--", "/bin/sh", "-c", script]);
        command
    }

    /// A script that the policy does not see, because it comes as a value. The jail has to hold it.
    pub(crate) fn unseen(&self, options: &str, script: &str) -> Command {
        let mut command = self.command();
        command.arg("run").args(options.split_whitespace()).arg("--env").arg(format!("SCRIPT={script}"));
        command.args(["--", "/bin/sh", "-c", "eval \"$SCRIPT\""]);
        command
    }

    pub(crate) fn run(&self, options: &str, script: &str) -> Ended {
        ended(&mut self.script(options, script))
    }

    /// A command that takes longer than any test, and that only this stage has.
    pub(crate) fn sleep(&self) -> String {
        let name = self.directory.path().file_name().unwrap().to_str().unwrap();
        let digits: String = name.bytes().map(|byte| (b'0' + byte % 10) as char).collect();
        format!("sleep 9{}{digits}", std::process::id())
    }

    /// Returns the number of processes that sleep for this stage, or would.
    pub(crate) fn count(&self) -> usize {
        let sleep = self.sleep();
        let inside = |line: &&String| line.contains(&sleep) && !line.starts_with(PROGRAM);
        processes().iter().filter(inside).count()
    }

    /// Waits until no process is left that sleeps for this stage.
    pub(crate) fn is_empty_soon(&self) -> bool {
        within(LONG, || self.count() == 0)
    }
}

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_ringfence");

pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Waits for the end of a process.
pub(crate) fn end_of(child: &mut Child) -> ExitStatus {
    let mut status = None;
    let over = within(LONG, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !over {
        child.kill().unwrap();
    }
    status.unwrap_or_else(|| panic!("{child:?} does not end"))
}

/// Returns true if something comes true in time.
pub(crate) fn within(time: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    loop {
        if is_true() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The command lines of all processes, with spaces.
pub(crate) fn processes() -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

/// Returns true if a program is on this machine; says so where not.
pub(crate) fn has(program: &str, what: &str) -> bool {
    let there = ["/usr/bin", "/bin"].iter().any(|directory| Path::new(directory).join(program).exists());
    if !there {
        skipped(what, &format!("{program} is not installed"));
    }
    there
}
