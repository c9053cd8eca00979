//! Several processes, one ledger. The other processes are this very test program, started again with the same test: there, the
//! environment says what it has to write.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ledgers::{Room, options, skipped, tool};
use ringfence_audit::{Ledger, Sink, verify};

const LEDGER: &str = "RINGFENCE_TEST_LEDGER";
const RECORDS: &str = "RINGFENCE_TEST_RECORDS";
const LIMIT: &str = "RINGFENCE_TEST_LIMIT";

/// Starts this program again to run one test of it.
fn again(test: &str, ledger: &Path, records: u64, limit: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(LEDGER, ledger)
        .env(RECORDS, records.to_string())
        .env(LIMIT, limit.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Work of a child: the ledger, how many records, and how large a file may become.
struct Work {
    ledger: PathBuf,
    records: u64,
    limit: u64,
}

impl Work {
    /// `None` if this process is no child.
    fn asked() -> Option<Self> {
        let number = |name: &str| std::env::var(name).unwrap().parse().unwrap();
        let ledger = PathBuf::from(std::env::var_os(LEDGER)?);
        Some(Self { ledger, records: number(RECORDS), limit: number(LIMIT) })
    }

    fn write(&self) {
        let mut options = options();
        options.rotate_at = self.limit;
        let (ledger, _) = Ledger::open(&self.ledger, options).unwrap();
        (0..self.records).for_each(|number| ledger.record(&tool(number)).unwrap());
    }
}

#[test]
fn two_processes_write_ten_thousand_records_each() {
    if let Some(work) = Work::asked() {
        return work.write();
    }
    let room = Room::new();
    let name = "two_processes_write_ten_thousand_records_each";
    let children = [(); 2].map(|()| again(name, &room.path(), 10_000, u64::MAX));
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let verified = verify(&room.path(), None).unwrap();
    assert_eq!((verified.first, verified.records, verified.segments), (1, 20_001, 1));
}

#[test]
fn processes_that_keep_changing_the_file_lose_nothing() {
    if let Some(work) = Work::asked() {
        return work.write();
    }
    let room = Room::new();
    let name = "processes_that_keep_changing_the_file_lose_nothing";
    let children = [(); 4].map(|()| again(name, &room.path(), 500, 2000));
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let verified = verify(&room.path(), None).unwrap();
    // One record begins each file; the rest is what the children wrote.
    assert_eq!(verified.records, 2000 + verified.segments as u64);
    assert!(verified.segments > 300, "{verified:?}");
}

#[test]
fn killed_writers_leave_a_ledger_that_goes_on() {
    if let Some(work) = Work::asked() {
        return work.write();
    }
    let room = Room::new();
    let name = "killed_writers_leave_a_ledger_that_goes_on";
    for _ in 0..10 {
        let size = || std::fs::metadata(room.path()).map_or(0, |file| file.len());
        let before = size();
        let mut child = again(name, &room.path(), 200_000, 100_000);
        // As soon as it has begun to write.
        while size() == before && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        room.open();
        verify(&room.path(), None).unwrap();
    }
}

#[test]
fn one_record_is_one_write() {
    let Some(before) = writes() else {
        return skipped("one write per record", "/proc/self/io cannot be read");
    };
    if let Some(work) = Work::asked() {
        work.write();
        // One for `ledger.started`.
        return assert_eq!(writes().unwrap() - before, work.records + 1);
    }
    let room = Room::new();
    let done = again("one_record_is_one_write", &room.path(), 1000, u64::MAX).wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(verify(&room.path(), None).unwrap().records, 1001, "the child did not run");
}

/// Returns the number of `write` calls of this process.
fn writes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("syscw: "))?.parse().ok()
}
