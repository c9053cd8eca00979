//! A bubblewrap is judged before it is started. The fake is this program under that name.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ringfence_jail::probe::{Bwrap, Distrust, Machine, Unmeasured};
use rustix::process::geteuid;

use crate::skip::skipped;

const NOT_ROOT: &str = "only root has files of root's";
use tempfile::TempDir;

const GOOD: &str = "bubblewrap 0.9.0\n|bubblewrap 0.9.0\n";

/// A small root with directories that only their owner can write to.
fn root() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for place in ["usr/bin", "usr/local/bin", "bin"] {
        fs::create_dir_all(root.path().join(place)).unwrap();
    }
    for place in ["", "usr", "usr/bin", "usr/local", "usr/local/bin", "bin"] {
        fs::set_permissions(root.path().join(place), Permissions::from_mode(0o755)).unwrap();
    }
    root
}

fn install(root: &Path, place: &str, answer: &str, mode: u32) -> PathBuf {
    let program = root.join(place).join("bwrap");
    fs::copy("/proc/self/exe", &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
    fs::write(program.with_file_name("answer"), answer).unwrap();
    program
}

fn look(root: &Path) -> Bwrap {
    Machine::measure(root, Command::new("/nonexistent")).bwrap
}

fn untrusted(place: &str, why: Distrust) -> Bwrap {
    Bwrap::Untrusted { path: Path::new(place).join("bwrap"), why }
}

fn found(place: &str, setuid: bool, works: Result<(), Unmeasured>) -> Bwrap {
    Bwrap::Found { path: Path::new(place).join("bwrap"), version: "0.9.0".into(), setuid, works }
}

pub(crate) fn judged_before_it_is_started() {
    let root = root();
    assert_eq!(look(root.path()), Bwrap::Absent);

    let program = install(root.path(), "usr/bin", GOOD, 0o755);
    if !geteuid().is_root() {
        let us = geteuid().as_raw();
        assert_eq!(look(root.path()), untrusted("/usr/bin", Distrust::Owner(us)));
        return skipped("a bwrap of root's", NOT_ROOT);
    }
    assert_eq!(look(root.path()), found("/usr/bin", false, Ok(())));

    for mode in [0o775, 0o757, 0o777] {
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        assert_eq!(look(root.path()), untrusted("/usr/bin", Distrust::Writable), "{mode:o}");
    }
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(look(root.path()), found("/usr/bin", true, Ok(())));

    chown(&program, Some(1234), None).unwrap();
    assert_eq!(look(root.path()), untrusted("/usr/bin", Distrust::Owner(1234)));

    // One that can be trusted is taken, regardless of where the other one stands.
    let second = install(root.path(), "bin", GOOD, 0o755);
    assert_eq!(look(root.path()), found("/bin", false, Ok(())));

    fs::remove_file(&program).unwrap();
    fs::remove_file(root.path().join("usr/bin/answer")).unwrap();
    symlink(&second, &program).unwrap();
    fs::remove_dir_all(root.path().join("bin")).unwrap();
    assert_eq!(look(root.path()), untrusted("/usr/bin", Distrust::NotAFile));
}

pub(crate) fn directories_above_count() {
    if !geteuid().is_root() {
        return skipped("directories above bwrap", NOT_ROOT);
    }
    for place in ["", "usr", "usr/local", "usr/local/bin"] {
        let root = root();
        install(root.path(), "usr/local/bin", GOOD, 0o755);
        let directory = root.path().join(place);
        fs::set_permissions(&directory, Permissions::from_mode(0o775)).unwrap();
        assert_eq!(look(root.path()), untrusted("/usr/local/bin", Distrust::Writable), "{place}");
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        chown(&directory, Some(1234), None).unwrap();
        assert_eq!(look(root.path()), untrusted("/usr/local/bin", Distrust::Owner(1234)), "{place}");
    }
}

pub(crate) fn introduces_itself() {
    if !geteuid().is_root() {
        return skipped("what a bwrap of root's says", NOT_ROOT);
    }
    let silent = |why| Bwrap::Silent { path: "/usr/bin/bwrap".into(), why };
    let rows = [
        (GOOD, found("/usr/bin", false, Ok(()))),
        // It introduces itself, and cannot make a jail: as on Ubuntu without a profile for it.
        ("bubblewrap 0.9.0\n|", found("/usr/bin", false, Err(Unmeasured::Malformed))),
        ("|", silent(Unmeasured::Malformed)),
        ("bubblewrap 0.9.0|", silent(Unmeasured::Malformed)),
        ("bubblewrap \u{1b}[2J\n|", silent(Unmeasured::Malformed)),
        ("BusyBox v1.36\n|", silent(Unmeasured::Malformed)),
    ];
    for (answer, expected) in rows {
        let root = root();
        install(root.path(), "usr/bin", answer, 0o755);
        assert_eq!(look(root.path()), expected, "{answer:?}");
    }
}
