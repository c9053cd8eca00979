//! A workspace, and commands that run in overlays of it.
#![allow(dead_code, reason = "each test file uses a part")]

#[path = "../../../../tests/skip.rs"]
mod skip;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A temporary home and workspace.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

/// Output and exit code of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("home")).unwrap();
        let stage = Self { directory };
        stage.fill("ws");
        stage
    }

    /// Creates a workspace with a file of every kind in it, always the same.
    pub(crate) fn fill(&self, name: &str) {
        let at = |inner: &str| self.path(name).join(inner);
        fs::create_dir_all(at("deep/er")).unwrap();
        fs::create_dir_all(at("gone/with/it")).unwrap();
        for (path, text) in [
            ("changed", "one\ntwo\nthree\n"),
            ("removed", "removed\n"),
            ("run.sh", "echo\n"),
            ("deep/er/file", "deep\n"),
            ("gone/with/it/all", "gone\n"),
            ("moved", "moved\n"),
            ("becomes-directory", "x\n"),
        ] {
            fs::write(at(path), text).unwrap();
        }
        fs::create_dir(at("becomes-file")).unwrap();
        fs::write(at("becomes-file/inner"), "inner\n").unwrap();
        fs::write(at("binary"), b"\0\x01\x02").unwrap();
        symlink("changed", at("link")).unwrap();
        fs::set_permissions(at("run.sh"), Permissions::from_mode(0o644)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn ws(&self, name: &str) -> PathBuf {
        self.path("ws").join(name)
    }

    pub(crate) fn ringfence(&self, line: &str) -> Ended {
        self.ended(self.command("ws").args(line.split_whitespace()))
    }

    pub(crate) fn command(&self, workspace: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.path(workspace)).stdin(Stdio::null());
        command
    }

    pub(crate) fn ended(&self, command: &mut Command) -> Ended {
        let output = command.output().unwrap();
        let here = self.path("");
        let here = here.to_str().unwrap().trim_end_matches('/');
        let id = self.ids().first().cloned().unwrap_or_else(|| "no overlay".to_owned());
        let tidy = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(here, "/stage").replace(&id, "ID");
        Ended { code: output.status.code().unwrap(), out: tidy(&output.stdout), err: tidy(&output.stderr) }
    }

    /// Runs a script in an overlay.
    pub(crate) fn overlaid(&self, option: &str, script: &str) -> Ended {
        let value = format!("SCRIPT={script}");
        let words = ["run", option, "--env", &value, "--", "/bin/sh", "-ec", "eval \"$SCRIPT\""];
        self.ended(self.command("ws").args(words))
    }

    /// Runs a script that must succeed.
    pub(crate) fn changed(&self, script: &str) {
        let ended = self.overlaid("--overlay", script);
        assert_eq!(ended.code, 0, "{ended:?}");
    }

    pub(crate) fn overlays(&self) -> PathBuf {
        self.path("home/.local/state/ringfence/overlays")
    }

    /// Returns the names of the overlays, and of any other entries in their directory.
    pub(crate) fn ids(&self) -> Vec<String> {
        let found = fs::read_dir(self.overlays()).into_iter().flatten();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn upper(&self) -> PathBuf {
        self.overlays().join(&self.ids()[0]).join("0/upper")
    }

    pub(crate) fn changes(&self) -> Vec<Value> {
        let review = self.ringfence("review --format json");
        assert_eq!(review.code, 0, "{review:?}");
        serde_json::from_str::<Value>(&review.out).unwrap()["changes"].as_array().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.changes().iter().map(|change| change["path"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn ledger(&self, event: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
        let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        all.filter(|record| record["event"] == event).collect()
    }
}

impl Stage {
    /// Makes overlayfs work directories removable: the kernel creates one without permissions even for its
    /// owner.
    pub(crate) fn open_up(&self) {
        let work = self.ids().into_iter().map(|id| self.overlays().join(id).join("0/work"));
        work.for_each(|path| drop(Command::new("chmod").args(["-R", "u+rwx"]).arg(path).output()));
    }
}

/// Makes everything removable, so that nothing is left.
impl Drop for Stage {
    fn drop(&mut self) {
        drop(Command::new("chmod").args(["-R", "u+rwx"]).arg(self.path("home")).output());
    }
}

/// Describes every entry of a directory: kind, mode, owner, content; with `exactly` also times and inodes.
pub(crate) fn tree(root: &Path, exactly: bool) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = match meta.file_type() {
            kind if kind.is_dir() => {
                todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                String::new()
            }
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().display().to_string(),
            _ => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
        };
        let mut about = format!("{:o} {} {content}", meta.mode(), meta.uid());
        if !meta.is_dir() {
            about = format!("{} {about}", meta.nlink());
        }
        if exactly {
            about = format!(
                "{about} {} {}.{} {}",
                meta.ino(),
                meta.ctime(),
                meta.ctime_nsec(),
                meta.mtime_nsec()
            );
        }
        found.insert(path.strip_prefix(root).unwrap().to_owned(), about);
    }
    found
}

pub(crate) fn works(what: &str) -> bool {
    let stage = Stage::new();
    let ended = stage.overlaid("--overlay", "true");
    if ended.code != 0 {
        skip::skipped(what, &format!("no overlay can be made here: {}", ended.err));
    }
    ended.code == 0
}

impl Stage {
    /// Runs git outside, in the workspace, and returns its output.
    pub(crate) fn git(&self, line: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(line.split_whitespace());
        let ended = git.current_dir(self.path("ws")).env("HOME", self.path("home")).output().unwrap();
        assert!(ended.status.success(), "{line} {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    }

    /// Runs git outside, and ignores its exit status.
    pub(crate) fn git_ended(&self, line: &str) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(line.split_whitespace());
        git.current_dir(self.path("ws")).env("HOME", self.path("home")).output().unwrap();
    }

    /// Makes the workspace a repository with one commit.
    pub(crate) fn commit_all(&self) {
        self.git("init -q -b main");
        self.git("add .");
        self.git("commit -qm first");
    }
}

/// Author and committer for commits made by a script inside.
pub(crate) const AUTHOR: &str =
    "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@y;";
