//! The paths of `vectors/paths.jsonl`, done for real in a tree of links, pipes and look-alikes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ringfence_guard::{Abort, Access, Config, Directory, Guard, Refusal};
use serde_json::Value;
use stage::poorer::{KEEPING_RENAMES, OPENAT2, UNNAMED_FILES, run_again};
use stage::{Tree, guard};

const VECTORS: &str = include_str!("vectors/paths.jsonl");

/// Result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Allow,
    Deny,
    Error,
}

#[test]
fn every_path_comes_out_as_it_should() {
    let mut rows = 0;
    for line in VECTORS.lines().filter(|line| !line.is_empty()) {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap();
        // Other systems' names are other systems' business; the rows on case and forms are tested by their effect elsewhere.
        if text("platform") != "any" {
            continue;
        }
        let tree = Tree::plant();
        let came = operate(&tree, text("op"), text("path"));
        let fits = match text("verdict") {
            // A link to nothing leads to the place where the file will be: inside, that is allowed. Reading a hard link is
            // allowed, too: the process that made it could read the file.
            "allow" | "allow-or-deny" | "deny-or-document" => came == Came::Allow,
            // A forbidden name of the default config.
            "deny" | "policy" => came == Came::Deny,
            "error" | "error-or-list" => came == Came::Error,
            other => panic!("{other}"),
        };
        assert!(fits, "{line}: {came:?}");
        assert_untouched(&tree, line);
        rows += 1;
    }
    assert_eq!(rows, 42);
}

/// The operation with everything that it does.
fn operate(tree: &Tree, op: &str, path: &str) -> Came {
    let mut config = Config::default_in(&tree.ws);
    // The rows take both forms of a path.
    config.allow_absolute_paths = true;
    let guard = guard(&config, "read");
    let path = path.replace("ROOT", tree.root.to_str().unwrap());
    let abort = Abort::new();
    let came = |result: Result<(), Refusal>| match result {
        Ok(()) => Came::Allow,
        Err(Refusal::Denied(_)) => Came::Deny,
        Err(_) => Came::Error,
    };
    match op {
        "read" => match guard.read(Path::new(&path), &abort).map(|opened| opened.file()) {
            Ok(Ok(mut file)) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                assert!(!text.starts_with("SECRET") || path == "hard", "{path}: {text}");
                Came::Allow
            }
            Ok(Err(_)) => Came::Error,
            Err(refusal) => came(Err(refusal)),
        },
        "write" => match guard.write(Path::new(&path), &abort) {
            Ok(place) => place.replace(b"written").map_or(Came::Error, |()| Came::Allow),
            Err(refusal) => came(Err(refusal)),
        },
        "delete" => match guard.remove(Path::new(&path), &abort) {
            Ok(name) => name.remove().map_or(Came::Error, |()| Came::Allow),
            Err(refusal) => came(Err(refusal)),
        },
        "rename" => {
            let (from, to) = path.split_once(" -> ").unwrap();
            let moved = guard.write(Path::new(to), &abort).and_then(|to| {
                let from = guard.remove(Path::new(from), &abort)?;
                Ok(from.move_to(to))
            });
            match moved {
                Ok(moved) => moved.map_or(Came::Error, |()| Came::Allow),
                Err(refusal) => came(Err(refusal)),
            }
        }
        "search" | "glob" => {
            let seen = everything(&guard);
            assert!(seen.iter().all(|(path, _)| path.starts_with(&tree.ws)), "{seen:?}");
            assert!(seen.iter().all(|(path, _)| !path.to_string_lossy().contains(".env")), "{seen:?}");
            // The hard link is a file of the workspace; tools that search skip it by the number of its names.
            let secret =
                |(path, text): &(PathBuf, String)| text.contains("SECRET") && !path.ends_with("hard");
            assert!(!seen.iter().any(secret), "{seen:?}");
            assert!(seen.iter().any(|(path, text)| path.ends_with("dir/c.txt") && text == "c"), "{seen:?}");
            Came::Allow
        }
        other => panic!("{other}"),
    }
}

/// Every file that the guard lets be seen, with its content.
fn everything(guard: &Guard) -> Vec<(PathBuf, String)> {
    let mut open = vec![guard.list(Path::new("."), &Abort::new()).unwrap()];
    let mut seen = Vec::new();
    while let Some(directory) = open.pop() {
        look(&directory, &mut open, &mut seen);
    }
    seen
}

fn look(directory: &Directory, open: &mut Vec<Directory>, seen: &mut Vec<(PathBuf, String)>) {
    for entry in directory.entries().unwrap() {
        let entry = entry.unwrap();
        let mut text = String::new();
        match entry.kind() {
            ringfence_guard::EntryKind::Directory => open.push(directory.enter(&entry).unwrap()),
            ringfence_guard::EntryKind::File => {
                directory.file(&entry).unwrap().file.read_to_string(&mut text).unwrap();
            }
            _ => assert!(directory.file(&entry).is_err(), "{entry:?}"),
        }
        seen.push((directory.path().join(entry.name()), text));
    }
}

/// Nothing outside was changed or made, and no forbidden name was touched.
fn assert_untouched(tree: &Tree, line: &str) {
    let read = |name: &str| fs::read_to_string(tree.root.join(name)).unwrap();
    assert_eq!(read("out/secret.txt"), "SECRET", "{line}");
    assert_eq!(read("ws-evil/secret.txt"), "SECRET2", "{line}");
    assert_eq!(read("ws/.env"), "K=1", "{line}");
    let names = |name: &str| fs::read_dir(tree.root.join(name)).unwrap().count();
    assert_eq!((names("out"), names(".")), (1, 3), "{line}");
}

#[test]
fn can_access_says_what_authorize_does_and_changes_nothing() {
    let tree = Tree::plant();
    let config = Config::default_in(&tree.ws);
    let guard = guard(&config, "read");
    let paths = [
        "a.txt",
        "missing",
        "../out/secret.txt",
        "link-file",
        ".env",
        "hard",
        "fifo",
        "link-dangling",
        "",
        "a\0b",
    ];
    for path in paths.map(Path::new) {
        for access in [Access::Read(path), Access::Write(path), Access::Remove(path)] {
            let denied = matches!(guard.authorize(access, &Abort::new()), Err(Refusal::Denied(_)));
            let broken = matches!(path.to_str(), Some("" | "a\0b"));
            assert_eq!(guard.can_access(access), !denied && !broken, "{access:?}");
        }
    }
    assert_untouched(&tree, "can_access");
    assert!(!tree.root.join("out/dangling.txt").exists());
    assert!(!tree.ws.join("missing").exists());
}

#[test]
fn the_same_where_the_kernel_cannot_look_up_in_one_call() {
    run_again(&[OPENAT2]);
}

#[test]
fn the_same_on_a_poor_file_system() {
    run_again(&[UNNAMED_FILES, KEEPING_RENAMES]);
}

#[test]
fn an_entry_is_judged_in_the_directory_it_is_used_in() {
    let tree = Tree::plant();
    fs::write(tree.ws.join("sub/c.txt"), "sub").unwrap();
    fs::create_dir_all(tree.ws.join("sub/deep")).unwrap();
    fs::create_dir_all(tree.ws.join("dir/deep")).unwrap();
    let mut config = Config::default_in(&tree.ws);
    config.read.deny = ["dir/c.txt", "dir/deep"].map(str::to_owned).into();
    let guard = guard(&config, "read");
    let list = |path: &str| guard.list(Path::new(path), &Abort::new()).unwrap();
    let (sub, dir) = (list("sub"), list("dir"));
    let names: Vec<_> = dir.entries().unwrap().map(|entry| entry.unwrap().name().to_owned()).collect();
    assert_eq!(names, Vec::<std::ffi::OsString>::new());
    for entry in sub.entries().unwrap().map(Result::unwrap) {
        assert!(sub.look(&entry).is_ok());
        assert!(dir.look(&entry).is_err() && dir.file(&entry).is_err() && dir.enter(&entry).is_err());
        assert!(dir.target(&entry).is_err());
    }
    for name in ["c.txt", "deep", "..", ".", "", "/etc", "../a.txt"] {
        assert!(
            dir.file_called(name.as_ref()).is_err() && dir.directory_called(name.as_ref()).is_err(),
            "{name}"
        );
    }
}
