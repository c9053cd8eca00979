//! Changes that are staged, put and taken back.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use ringfence_guard::{Abort, Config, Guard, Trouble, Undo};
use stage::poorer::{KEEPING_RENAMES, run_again};
use tempfile::TempDir;

fn at(files: &[(&str, &str, u32)]) -> (TempDir, Guard) {
    let dir = tempfile::tempdir().unwrap();
    for (name, content, mode) in files {
        fs::write(dir.path().join(name), content).unwrap();
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(*mode)).unwrap();
    }
    let guard = stage::guard(&Config::default_in(dir.path()), "apply_patch");
    (dir, guard)
}

/// Every name with its mode and its content.
fn all(dir: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (name, stat) = (entry.file_name().into_string().unwrap(), entry.metadata().unwrap());
        if stat.is_dir() {
            found.push((name.clone(), 0, Vec::new()));
            found.extend(
                all(&entry.path()).into_iter().map(|(below, m, c)| (format!("{name}/{below}"), m, c)),
            );
        } else {
            found.push((name, stat.mode() & 0o7777, fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

type Change = fn(&Guard) -> Result<Undo, Trouble>;

const CHANGES: &[(&str, Change)] = &[
    ("replaced", |guard| writable(guard, "a").stage(b"new")?.put()),
    ("made", |guard| writable(guard, "n").stage(b"new")?.put()),
    ("made with directories", |guard| writable(guard, "x/y/n").stage(b"new")?.put()),
    ("removed", |guard| removable(guard, "a").take_away()),
    ("moved", |guard| removable(guard, "a").take_to(writable(guard, "z/b"))),
    ("moved over another", |guard| removable(guard, "a").take_to(writable(guard, "b"))),
    ("made like another", |guard| {
        let other = guard.read(Path::new("a"), &Abort::new()).unwrap();
        writable(guard, "n").stage_like(b"new", &other)?.put()
    }),
];

fn writable(guard: &Guard, path: &str) -> ringfence_guard::Writable {
    guard.write(Path::new(path), &Abort::new()).unwrap()
}

fn removable(guard: &Guard, path: &str) -> ringfence_guard::Removable {
    guard.remove(Path::new(path), &Abort::new()).unwrap()
}

#[test]
fn every_change_can_be_taken_back() {
    for (what, change) in CHANGES {
        let (dir, guard) = at(&[("a", "old a", 0o755), ("b", "old b", 0o640)]);
        let before = all(dir.path());
        let undo = change(&guard).unwrap();
        assert_ne!(all(dir.path()), before, "{what}: nothing happened");
        undo.undo().unwrap();
        assert_eq!(all(dir.path()), before, "{what}");
    }
}

#[test]
fn what_somebody_put_there_meanwhile_stays() {
    let replaced: &[&str] = &["replaced", "made", "removed"];
    for (what, change) in CHANGES.iter().filter(|(what, _)| replaced.contains(what)) {
        let (dir, guard) = at(&[("a", "old a", 0o644)]);
        let undo = change(&guard).unwrap();
        let name = if *what == "made" { "n" } else { "a" };
        fs::write(dir.path().join("theirs"), "theirs").unwrap();
        fs::rename(dir.path().join("theirs"), dir.path().join(name)).unwrap();
        assert_eq!(undo.undo(), Err(Trouble::Changed), "{what}");
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"theirs", "{what}");
    }
}

#[test]
fn what_is_staged_is_seen_by_nobody() {
    let (dir, guard) = at(&[("a", "old a", 0o644)]);
    let before = all(dir.path());
    let staged = [writable(&guard, "a").stage(b"1").unwrap(), writable(&guard, "d/e/n").stage(b"2").unwrap()];
    assert_eq!(all(dir.path()), before);
    drop(staged);
    assert_eq!(all(dir.path()), before);
}

#[test]
fn directories_that_were_made_in_vain_go() {
    let (dir, guard) = at(&[("a", "old a", 0o644)]);
    let staged = writable(&guard, "d/e/n").stage(b"new").unwrap();
    fs::create_dir_all(dir.path().join("d/e/n")).unwrap();
    let before = all(dir.path());
    assert_eq!(staged.put().map(drop), Err(Trouble::Changed));
    assert_eq!(all(dir.path()), before);
    let staged = writable(&guard, "f/g/n").stage(b"new").unwrap();
    fs::write(dir.path().join("f"), "in the way").unwrap();
    assert_eq!(staged.put().map(drop), Err(Trouble::NotADirectory));
}

#[test]
fn links_and_directories_are_not_taken_away() {
    let (dir, guard) = at(&[]);
    fs::create_dir(dir.path().join("d")).unwrap();
    std::os::unix::fs::symlink("d", dir.path().join("l")).unwrap();
    assert_eq!(removable(&guard, "d").take_away().map(drop), Err(Trouble::IsADirectory));
    assert_eq!(removable(&guard, "l").take_away().map(drop), Err(Trouble::Special));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// Without a rename that spares the target. (With named temporary files, a staged one has a name: that is not the same.)
#[test]
fn the_same_where_a_rename_spares_nothing() {
    run_again(&[KEEPING_RENAMES]);
}

/// A file does not go back into a directory that was moved away meanwhile.
#[test]
fn what_was_moved_stays_if_its_directory_is_elsewhere() {
    let (dir, guard) = at(&[]);
    fs::create_dir(dir.path().join("x")).unwrap();
    fs::write(dir.path().join("x/a"), "a").unwrap();
    let undo = removable(&guard, "x/a").take_to(writable(&guard, "b")).unwrap();
    fs::rename(dir.path().join("x"), dir.path().join("y")).unwrap();
    assert_eq!(undo.undo(), Err(Trouble::Changed));
    assert_eq!(fs::read_to_string(dir.path().join("b")).unwrap(), "a");
    assert_eq!(fs::read_dir(dir.path().join("y")).unwrap().count(), 0);
}
