//! Ledgers for tests.

#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]

#[path = "../../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::path::{Path, PathBuf};

use policy::Code;
use ringfence_audit::{Arguments, Damage, VerifyError};
use ringfence_audit::{
    AuditError, By, Digest, Durability, Event, Impact, Ledger, Name, OpenReport, Options, Sink, Timestamp,
};
use tempfile::TempDir;

/// A directory that goes away with the test, and the ledger in it.
pub(crate) struct Room {
    dir: PathBuf,
    _temporary: Option<TempDir>,
}

impl Room {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { dir: temporary.path().to_owned(), _temporary: Some(temporary) }
    }

    /// Uses a directory that the caller cleans up.
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), _temporary: None }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join("ledger.jsonl")
    }

    pub(crate) fn open(&self) -> (Ledger, OpenReport) {
        self.try_open().unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<(Ledger, OpenReport), AuditError> {
        Ledger::open(&self.path(), options())
    }

    pub(crate) fn open_with(&self, change: impl FnOnce(&mut Options)) -> Ledger {
        let mut options = options();
        change(&mut options);
        Ledger::open(&self.path(), options).unwrap().0
    }

    /// A ledger with `ledger.started` and then `count` records.
    pub(crate) fn filled(count: u64) -> Self {
        let room = Self::new();
        let (ledger, _) = room.open();
        (0..count).for_each(|number| ledger.record(&tool(number)).unwrap());
        room
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    pub(crate) fn write(&self, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(), bytes).unwrap();
    }

    /// The lines, each with its line break.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.text().split_inclusive('\n').map(str::to_owned).collect()
    }

    /// The names of all files in the directory, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn options() -> Options {
    let mut options = Options::new(Durability::Process);
    options.clock = || Timestamp::UNIX_EPOCH;
    options
}

/// An event with a number in it. Its record always has the same length for numbers of the same length.
pub(crate) fn tool(number: u64) -> Event<'static> {
    Event::JailEnded {
        by: By { session: Some("s1"), agent: Some("tester"), id: None },
        outcome: ringfence_audit::Outcome::Ok,
        exit: Some(0),
        signal: None,
        duration_ms: number,
    }
}

pub(crate) fn started(arguments: &str) -> Event<'_> {
    Event::ToolStarted {
        by: By::default(),
        tool: Name("exec"),
        impact: Impact::Destroy,
        arguments: Arguments(arguments),
    }
}

pub(crate) fn damage(broken: VerifyError) -> Damage {
    match broken {
        VerifyError::Damaged(damage) => damage,
        other => panic!("not damaged, but {other}"),
    }
}

pub(crate) fn code(result: Result<impl Sized, AuditError>) -> Option<Code> {
    result.err().map(|error| error.code())
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest::of(bytes)
}

pub(crate) use skip::skipped;
