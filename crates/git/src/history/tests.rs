//! Histories that git itself makes, and what it says about them.

mod changes;
mod generated;
mod layouts;
mod speed;
mod tampering;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use super::*;
use crate::tips;

/// A repository that git makes for a test.
pub(super) struct Sandbox {
    _directory: TempDir,
    pub(super) top: PathBuf,
    /// Seconds since 1970, one more for every command.
    clock: u64,
}

impl Sandbox {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    /// Makes a repository, with more words for `git init`.
    pub(super) fn with(words: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let top = directory.path().join("work");
        fs::create_dir(&top).unwrap();
        let mut sandbox = Self { _directory: directory, top, clock: 1_700_000_000 };
        sandbox.git(&[&["init", "-q", "-b", "main"], words].concat());
        sandbox
    }

    /// Runs git and gives what it says.
    pub(super) fn git(&mut self, words: &[&str]) -> String {
        let output = self.attempt(words);
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(super) fn attempt(&mut self, words: &[&str]) -> Output {
        self.clock += 1;
        let date = format!("@{} +0000", self.clock);
        let mut command = Command::new("git");
        // Git would otherwise repack in the background, whenever it likes to.
        command
            .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
            .args(words)
            .current_dir(&self.top)
            .env_clear()
            .stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", "/nonexistent");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date).env("GIT_EDITOR", "true");
        for person in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{person}_NAME"), "n")
                .env(format!("GIT_{person}_EMAIL"), "n@example.org");
        }
        command.output().unwrap()
    }

    /// Moves the clock of the commits.
    pub(super) fn set_clock(&mut self, seconds: u64) {
        self.clock = seconds;
    }

    /// Writes a file and commits it.
    pub(super) fn commit(&mut self, path: &str, content: &str) -> ObjectId {
        self.write(path, content);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", &format!("write {path}")]);
        self.id("HEAD")
    }

    pub(super) fn write(&self, path: &str, content: &str) {
        let path = self.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn id(&mut self, name: &str) -> ObjectId {
        self.git(&["rev-parse", "--verify", name]).parse().unwrap()
    }

    pub(super) fn git_dir(&self) -> PathBuf {
        self.top.join(".git")
    }

    pub(super) fn tips(&self) -> BTreeSet<ObjectId> {
        tips(&open(&self.git_dir())).ids
    }

    pub(super) fn history(&self) -> History {
        self.history_of(self.tips())
    }

    pub(super) fn history_of(&self, roots: impl IntoIterator<Item = ObjectId>) -> History {
        History::new(&open(&self.git_dir()), roots, BTreeSet::new()).unwrap()
    }

    /// The file of an object that has one of its own.
    pub(super) fn loose(&self, id: ObjectId) -> PathBuf {
        let name = id.to_string();
        self.git_dir().join("objects").join(&name[..2]).join(&name[2..])
    }
}

pub(super) fn open(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// Later than any test takes.
pub(super) fn later() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

pub(super) const YES: Answer = Answer::Yes { executable: false };

/// Asks about files, each on a new history and on one that has been asked before.
pub(super) fn assert_had(sandbox: &Sandbox, rows: &[(&str, &str, Answer)]) {
    let mut used = sandbox.history();
    for (path, content, expected) in rows {
        let (path, content) = (path.as_bytes(), content.as_bytes());
        assert_eq!(sandbox.history().had(path, content, later()), *expected, "{rows:?}");
        assert_eq!(used.had(path, content, later()), *expected, "{rows:?}");
        assert_eq!(used.had(path, content, later()), *expected, "{rows:?}");
    }
}
