//! Recorded machines, judged.
//!
//! The recordings belong to `jail`; its README says which of them were ever run on such a machine.

mod machines;
mod places;
mod reports;

use std::fs;
use std::path::Path;
use std::process::Command;

use jail::probe::{Actions, Bwrap, Errno, Landlock, Machine, Namespaces, Object, Step};
use jail::probe::{Kind, Unmeasured};

use super::place::{Site, Sites};
use super::{Report, show};
use crate::terminal::{Format, Terminal};

/// A recording of files, with everything that is done on a kernel set to what works.
fn machine(name: &str) -> Machine {
    let root = tempfile::tempdir().unwrap();
    unpack(name, root.path());
    let recorded = Machine::measure(root.path(), Command::new("/nonexistent"));
    Machine {
        uid: 1000,
        landlock: Landlock::Abi(7),
        namespaces: Ok(refusing(&[])),
        actions: Actions { kill_process: Ok(()), errno: Ok(()), notify: Ok(()) },
        bwrap: Bwrap::Absent,
        ..recorded
    }
}

/// `== PATH` starts a file; what follows is its content.
fn unpack(name: &str, root: &Path) {
    let recording = format!("{}/../jail/tests/machines/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    for file in fs::read_to_string(recording).unwrap().split("== /").skip(1) {
        let (path, content) = file.split_once('\n').unwrap();
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn refusing(steps: &[(Step, u16)]) -> Namespaces {
    Namespaces::try_each(|step| match steps.iter().find(|(refused, _)| *refused == step) {
        Some((_, number)) => Err(errno(*number)),
        None => Ok(()),
    })
}

fn errno(number: u16) -> Errno {
    Errno::new(number).unwrap()
}

const EPERM: u16 = 1;
const EACCES: u16 = 13;
const EINVAL: u16 = 22;
const ENOSPC: u16 = 28;
const ENOSYS: u16 = 38;

/// Places in good order.
fn sites() -> Sites {
    Sites {
        state: Site::There("/home/ann/.local/state/ringfence".into(), directory()),
        runtime: Site::Absent("/run/user/1000/ringfence".into(), Some(directory())),
        ledger: Site::There("/home/ann/.local/state/ringfence/ledger.jsonl".into(), file()),
        config: Vec::new(),
        now: 1_800_000_000,
    }
}

fn directory() -> Object {
    Object {
        kind: Kind::Directory,
        owner: 1000,
        mode: 0o700,
        modified: 1_799_999_000,
        writable: true,
        free: 1 << 30,
    }
}

fn file() -> Object {
    Object { kind: Kind::File, mode: 0o600, ..directory() }
}

fn text(report: &Report, color: bool) -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    show::text(report, &mut Terminal { out: &mut out, err: &mut err, format: Format::Text, color }).unwrap();
    assert!(err.is_empty());
    String::from_utf8(out).unwrap()
}

fn not_measured() -> Result<Namespaces, Unmeasured> {
    Err(Unmeasured::TimedOut)
}
