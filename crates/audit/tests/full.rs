//! No room, no record; no record, no action.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use std::path::Path;
use std::process::{Command, Stdio};

use ledgers::{Room, code, options, skipped, started, tool};
use policy::Code;
use ringfence_audit::{Ledger, Sink, verify};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Fills the ledger until it takes no more, and checks that it is then as it was after the last record.
fn fill(room: &Room, ledger: &Ledger) {
    let mut before = room.bytes();
    let refused = loop {
        match ledger.record(&started(&"x".repeat(3000))) {
            Ok(()) => before = room.bytes(),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code(), Code::LedgerUnwritable, "{refused}");
    assert!(room.bytes() == before, "a refused record left something behind");
    assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().head, Some(ledger.head()));
    assert_eq!(code(ledger.record(&started(&"x".repeat(9000)))), Some(Code::LedgerUnwritable));
    assert!(room.bytes() == before, "a refused record left something behind");
}

fn goes_on(room: &Room, ledger: &Ledger) {
    ledger.record(&tool(1)).unwrap();
    verify(&room.path(), Some(&ledger.head())).unwrap();
}

/// A real file system without room. Goes away with the test.
struct Small<'d>(&'d Path);

impl<'d> Small<'d> {
    fn mount(dir: &'d Path) -> rustix::io::Result<Self> {
        rustix::mount::mount("none", dir, "tmpfs", MountFlags::empty(), c"size=64k,mode=0700")?;
        Ok(Self(dir))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        rustix::mount::unmount(self.0, UnmountFlags::DETACH).unwrap();
    }
}

#[test]
fn a_full_disk_refuses_the_record_and_keeps_the_ledger_whole() {
    let room = Room::new();
    let small = match Small::mount(room.dir()) {
        Ok(small) => small,
        Err(error) => return skipped("a full disk", &format!("cannot mount a tmpfs: {error}")),
    };
    let (ledger, _) = room.open();
    let ballast = room.dir().join("ballast");
    std::fs::write(&ballast, vec![0; 16 << 10]).unwrap();
    fill(&room, &ledger);
    std::fs::remove_file(ballast).unwrap();
    goes_on(&room, &ledger);
    drop(small);
}

const LEDGER: &str = "RINGFENCE_TEST_LEDGER";

/// The kernel ends a write at the limit, as a full disk does: the first part of the record is written, the rest is not.
fn reach_file_size_limit(dir: &Path) {
    let room = Room::at(dir);
    let (ledger, _) = room.open();
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(50_000), ..before }).unwrap();
    fill(&room, &ledger);
    setrlimit(Resource::Fsize, before).unwrap();
    goes_on(&room, &ledger);
}

/// The limit is for a process, so this test starts itself again as a process of its own.
#[test]
fn a_record_that_is_cut_short_is_taken_back() {
    if let Some(dir) = std::env::var_os(LEDGER) {
        return reach_file_size_limit(Path::new(&dir));
    }
    let room = Room::new();
    // A shell that ignores the signal which would otherwise end the process at the limit.
    let done = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_record_that_is_cut_short_is_taken_back", "--nocapture"])
        .env(LEDGER, room.dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(verify(&room.path(), None).unwrap().records > 10, "the child did not run");
}

#[test]
fn a_directory_that_cannot_be_made_refuses_the_ledger() {
    let room = Room::new();
    std::fs::write(room.dir().join("file"), "").unwrap();
    let path = room.dir().join("file/ledger.jsonl");
    assert_eq!(code(Ledger::open(&path, options())), Some(Code::LedgerUnwritable));
}
