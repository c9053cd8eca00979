//! Real directories, a chain, and people who answer as they are told.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod alone;
pub(crate) mod apart;
pub(crate) mod fuse;
pub(crate) mod poorer;
#[path = "../../../../tests/skip.rs"]
pub(crate) mod skip;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use audit::{AuditError, Event, Sink};
use policy::{Cover, ToolName};
use ringfence_guard::{Abort, Answer, Approver, Config, Guard, Guards, Parts, Question, Refuse, Unanswered};
use tempfile::TempDir;

/// Keeps the names of events.
#[derive(Default)]
pub(crate) struct Kept(pub Mutex<Vec<String>>);

impl Sink for Kept {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let text = match event {
            Event::RequestDecided { kind, object, decision, code, .. } => {
                format!("{} {} {} {} {code}", event.name(), kind.word(), object.0, decision.word())
            }
            Event::ApprovalAnswered { state, scope, .. } => {
                format!("{} {} {}", event.name(), state.word(), scope.word())
            }
            other => other.name().to_owned(),
        };
        self.0.lock().unwrap().push(text);
        Ok(())
    }
}

impl Kept {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Gives one answer after the other, and counts.
pub(crate) struct Person {
    pub(crate) answers: Mutex<Vec<Result<Answer, Unanswered>>>,
    pub(crate) asked: AtomicUsize,
}

impl Person {
    pub(crate) fn saying(answers: &[Result<Answer, Unanswered>]) -> Arc<Self> {
        let mut answers = answers.to_vec();
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), asked: AtomicUsize::new(0) })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Approver for Person {
    fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answers.lock().unwrap().pop().expect("somebody was asked who should not have been")
    }
}

pub(crate) fn tool(name: &str) -> ToolName {
    ToolName::parse(name).unwrap()
}

pub(crate) fn parts(config: &Config, approver: Arc<dyn Approver>, sink: Arc<dyn Sink>) -> Parts {
    Parts {
        workspace: config.cwd.clone(),
        chain: config.chain().unwrap(),
        approver,
        cover: Cover::Tool,
        sink,
        session: "s1".to_owned(),
        agent: "agent".to_owned(),
    }
}

/// The guard of a tool, without an approver.
pub(crate) fn guard(config: &Config, name: &str) -> Guard {
    guards(config, Arc::new(Refuse)).tool(&tool(name))
}

pub(crate) fn guards(config: &Config, approver: Arc<dyn Approver>) -> Guards {
    Guards::new(parts(config, approver, Arc::new(Kept::default()))).unwrap()
}

/// The tree that `vectors/paths.jsonl` speaks of.
pub(crate) struct Tree {
    pub(crate) dir: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) ws: PathBuf,
}

impl Tree {
    pub(crate) fn plant() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("r");
        let ws = root.join("ws");
        let files: &[(&str, &str)] = &[
            ("ws/a.txt", "a"),
            ("ws/b.txt", "b"),
            ("ws/dir/c.txt", "c"),
            ("ws/.git/config", "[core]"),
            ("ws/.git/hooks/x", ""),
            ("ws/.env", "K=1"),
            ("ws/pkg/app/.env", "K=2"),
            ("ws/sub/s.txt", "s"),
            ("out/secret.txt", "SECRET"),
            ("ws-evil/secret.txt", "SECRET2"),
            ("ws/caf\u{e9}.txt", "nfc"),
        ];
        for (name, content) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let out = |name: &str| root.join("out").join(name);
        let links: &[(&str, PathBuf)] = &[
            ("link-file", out("secret.txt")),
            ("link-dir", root.join("out")),
            ("link-dir-in", "dir".into()),
            ("link-in", "a.txt".into()),
            ("link-rel-out", "../out/secret.txt".into()),
            ("link-chain", "lc1".into()),
            ("lc1", "lc2".into()),
            ("lc2", "../out/secret.txt".into()),
            ("link-loop", "ll2".into()),
            ("ll2", "link-loop".into()),
            ("link-abs-in", ws.join("a.txt")),
            ("sub/up", "..".into()),
            ("link-dangling", out("dangling.txt")),
            ("link-dangling-in", "created-later.txt".into()),
            ("link-to-env", ".env".into()),
        ];
        for (name, target) in links {
            symlink(target, ws.join(name)).unwrap();
        }
        fs::hard_link(root.join("out/secret.txt"), ws.join("hard")).unwrap();
        fifo(&ws.join("fifo"));
        Self { dir, root, ws }
    }
}

pub(crate) fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}
