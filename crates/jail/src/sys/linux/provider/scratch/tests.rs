use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn left(base: &Path) -> Vec<String> {
    let names = fs::read_dir(base).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn nothing_is_left_however_hostile() {
    let base = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let kept = outside.path().join("kept");
    fs::write(&kept, "").unwrap();
    let scratch = Scratch::make_in(base.path()).unwrap();
    let tmp = scratch.tmp();
    symlink(outside.path(), tmp.join("link")).unwrap();
    symlink("/", scratch.home().join("home")).unwrap();
    for name in [&b"\xff\x1b[2J\n"[..], b"-rf", &[b'n'; 255]] {
        fs::write(tmp.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let locked = tmp.join("locked");
    fs::create_dir_all(locked.join("inner/moved-1")).unwrap();
    fs::write(locked.join("inner/file"), "x").unwrap();
    fs::set_permissions(locked.join("inner"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o000)).unwrap();
    drop(scratch);
    assert!(left(base.path()).is_empty());
    assert!(kept.exists());
}

/// Deeper than a path can be written, and deeper than descriptors reach.
#[test]
fn nothing_is_left_however_deep() {
    let base = tempfile::tempdir().unwrap();
    let scratch = Scratch::make_in(base.path()).unwrap();
    let mut place = rustix::fs::open(scratch.tmp(), DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..3000 {
        rustix::fs::mkdirat(&place, "d", PRIVATE).unwrap();
        place = rustix::fs::openat(&place, "d", DIRECTORY, Mode::empty()).unwrap();
    }
    drop(scratch);
    assert!(left(base.path()).is_empty());
}

#[test]
fn nothing_is_left_however_much() {
    let base = tempfile::tempdir().unwrap();
    let scratch = Scratch::make_in(base.path()).unwrap();
    let directory = scratch.tmp().join("full");
    fs::create_dir(&directory).unwrap();
    for number in 0..AT_ONCE + 10 {
        fs::write(directory.join(number.to_string()), "").unwrap();
    }
    drop(scratch);
    assert!(left(base.path()).is_empty());
}

#[test]
fn what_is_stale_is_removed_by_the_next_and_what_is_used_is_not() {
    let base = tempfile::tempdir().unwrap();
    let used = Scratch::make_in(base.path()).unwrap();
    let rows = [
        ("ringfence-0123456789abcdef", 0o700),
        ("ringfence-fedcba9876543210", 0o755),
        ("ringfence-mine", 0o700),
        ("other", 0o700),
    ];
    for (name, mode) in rows {
        let stale = base.path().join(name);
        fs::create_dir_all(stale.join("tmp/deep")).unwrap();
        fs::set_permissions(&stale, Permissions::from_mode(mode)).unwrap();
    }
    symlink("/", base.path().join("ringfence-00000000000000ff")).unwrap();
    let next = Scratch::make_in(base.path()).unwrap();
    let mut found = left(base.path());
    found.retain(|name| *name != used.name && *name != next.name);
    found.sort();
    assert_eq!(
        found,
        ["other", "ringfence-00000000000000ff", "ringfence-fedcba9876543210", "ringfence-mine"]
    );
    assert!(used.tmp().exists() && used.home().exists());
}

#[test]
fn a_place_where_others_rename_is_refused() {
    let base = tempfile::tempdir().unwrap();
    for (mode, refused) in [(0o777, true), (0o770, true), (0o1777, false), (0o755, false)] {
        fs::set_permissions(base.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(Scratch::make_in(base.path()).err(), refused.then_some(Errno::PERM), "{mode:o}");
    }
}
