//! A real workspace with something outside of it, and an unattended session of an agent.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::{Abort, Answer, Approver, Config, Question, Unanswered};
use ringfence::policy::ToolName;
use ringfence::{Sandbox, Session};
use ringfence_tools::{AnyTool, Call, Output, ToolError};
use serde_json::Value;
use tempfile::TempDir;

/// Content outside, which must never be seen or changed.
pub(crate) const SECRET: &str = "SECRET of somebody else\n";

/// A ledger without a reader.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

/// An approver that never answers, and counts the questions.
#[derive(Default)]
pub(crate) struct Nobody(AtomicUsize);

impl Approver for Nobody {
    fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(Unanswered::Nobody)
    }
}

pub(crate) struct Desk {
    dir: TempDir,
    nobody: Arc<Nobody>,
    pub(crate) session: Session,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A desk where the policy is a little different.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["ws", "out"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("out/secret.txt"), SECRET).unwrap();
        let ws = dir.path().join("ws");
        let mut config = Config::default_in(&ws);
        change(&mut config);
        let nobody = Arc::new(Nobody::default());
        let sandbox = Sandbox::builder()
            .file_rules(config)
            .workspace(ws)
            .state(dir.path().join("state"))
            .approver(Arc::clone(&nobody) as Arc<dyn Approver>)
            .sink(Arc::new(Nowhere))
            .build();
        let session = sandbox.unwrap().session("agent").unwrap();
        Self { dir, nobody, session }
    }

    /// Returns the number of times that a person would have been asked.
    pub(crate) fn asked(&self) -> usize {
        self.nobody.0.load(Ordering::SeqCst)
    }

    pub(crate) fn call(&self, tool: &dyn AnyTool, arguments: Value) -> Result<Output, ToolError> {
        self.call_until(tool, arguments, &Abort::new())
    }

    pub(crate) fn call_until(
        &self,
        tool: &dyn AnyTool,
        arguments: Value,
        abort: &Abort,
    ) -> Result<Output, ToolError> {
        let guard = self.session.guard(&ToolName::parse(tool.name()).unwrap());
        tool.call(&Call { session: &self.session, guard: &guard, abort }, arguments)
    }

    pub(crate) fn ws(&self, name: &str) -> PathBuf {
        self.dir.path().join("ws").join(name)
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join("out").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.ws(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.ws(name)).unwrap();
    }

    pub(crate) fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.ws(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn got(&self, name: &str) -> Vec<u8> {
        fs::read(self.ws(name)).unwrap()
    }

    /// Every file of the workspace with its mode and content, every link and directory, and the secret.
    pub(crate) fn everything(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = below(&self.dir.path().join("ws"));
        found.extend(below(&self.dir.path().join("out")));
        found.sort();
        found
    }
}

fn below(dir: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let mode = entry.metadata().unwrap().permissions().mode();
        if kind.is_dir() {
            found.extend(below(&path));
            found.push((path, mode, Vec::new()));
        } else {
            let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path, mode, content));
        }
    }
    found
}

pub(crate) fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}
