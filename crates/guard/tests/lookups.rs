//! From paths of every kind to the objects they lead to: what is found, what it is called, and that looking changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use policy::{Code, Effect, Kind};
use ringfence_guard::{Abort, Config, Guard, Refusal, Trouble};
use stage::poorer::{KEEPING_RENAMES, OPENAT2, OPENAT2_FILTERED, UNNAMED_FILES, run_again};
use stage::{Tree, fifo, guard};

fn open(tree: &Tree) -> Guard {
    guard(&Config::permissive_in(&tree.ws), "read")
}

fn content(guard: &Guard, path: &Path) -> Result<Vec<u8>, Trouble> {
    let opened = guard.read(path, &Abort::new()).map_err(|refusal| refusal.trouble().expect("not denied"))?;
    let mut bytes = Vec::new();
    opened.file()?.read_to_end(&mut bytes).unwrap();
    Ok(bytes)
}

#[test]
fn every_kind_of_path_leads_where_the_kernel_leads() {
    let tree = Tree::plant();
    let guard = open(&tree);
    fs::write(tree.ws.join("really (deleted)"), "not").unwrap();
    fs::write(tree.ws.join(OsStr::from_bytes(b"\xff\n\x1b")), "odd").unwrap();
    fs::create_dir(tree.ws.join("dir/sub dir")).unwrap();
    fs::write(tree.ws.join("dir/sub dir/..."), "dots").unwrap();
    let long = "n".repeat(255);
    fs::write(tree.ws.join(&long), "long").unwrap();
    let rows: &[(&[u8], &str)] = &[
        (b"a.txt", "a"),
        (b"./a.txt", "a"),
        (b".//dir///c.txt", "c"),
        (b"dir/./c.txt", "c"),
        (b"dir/../a.txt", "a"),
        (b"link-in", "a"),
        (b"link-abs-in", "a"),
        (b"link-dir-in/c.txt", "c"),
        (b"link-dir-in/../a.txt", "a"),
        (b"sub/up/a.txt", "a"),
        (b"sub/up/sub/up/dir/c.txt", "c"),
        (b"link-chain", "SECRET"),
        (b"link-rel-out", "SECRET"),
        (b"really (deleted)", "not"),
        (b"\xff\n\x1b", "odd"),
        (b"dir/sub dir/...", "dots"),
        (long.as_bytes(), "long"),
    ];
    for (path, expected) in rows {
        let path = Path::new(OsStr::from_bytes(path));
        assert_eq!(content(&guard, path).unwrap(), expected.as_bytes(), "{path:?}");
        // The location is the real one, as the standard library finds it.
        let real = fs::canonicalize(tree.ws.join(path)).unwrap();
        assert_eq!(guard.read(path, &Abort::new()).unwrap().location().path(), real, "{path:?}");
        // Written from the root, it is the same file.
        assert_eq!(content(&guard, &tree.ws.join(path)).unwrap(), expected.as_bytes(), "{path:?}");
    }
    // A slash at the end means a directory, whichever way the path is written.
    for path in ["a.txt/", "a.txt/.", "link-in/"] {
        assert_eq!(content(&guard, &tree.ws.join(path)), Err(Trouble::NotADirectory), "{path}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let tree = Tree::plant();
    let guard = open(&tree);
    let rows: Vec<(OsString, Trouble)> = vec![
        ("".into(), Trouble::Empty),
        ("a\0b".into(), Trouble::Nul),
        ("n".repeat(256).into(), Trouble::TooLong),
        ("d/".repeat(2048).into(), Trouble::TooLong),
        ("./".repeat(3000).into(), Trouble::TooLong),
        ("missing".into(), Trouble::NotFound),
        ("missing/../a.txt".into(), Trouble::NotFound),
        ("a.txt/".into(), Trouble::NotADirectory),
        ("a.txt/.".into(), Trouble::NotADirectory),
        ("a.txt/b".into(), Trouble::NotADirectory),
        ("link-loop".into(), Trouble::Loop),
        ("link-loop/x".into(), Trouble::Loop),
        ("fifo".into(), Trouble::Special),
        ("/dev/null".into(), Trouble::Special),
        ("link-dangling".into(), Trouble::NotFound),
    ];
    for (path, expected) in rows {
        let came =
            guard.read(Path::new(&path), &Abort::new()).map(|_| ()).map_err(|refusal| refusal.trouble());
        assert_eq!(came, Err(Some(expected)), "{:.40}", path.to_string_lossy());
    }
    let opened = guard.read(Path::new("."), &Abort::new()).unwrap();
    assert!(opened.is_directory());
    assert_eq!(opened.file().map(|_| ()), Err(Trouble::IsADirectory));
}

#[test]
fn links_of_the_kernel_lead_nowhere() {
    let tree = Tree::plant();
    let guard = open(&tree);
    symlink("/proc/self/root", tree.ws.join("planted")).unwrap();
    let file = fs::File::open(tree.root.join("out/secret.txt")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    let paths = [
        "/proc/self/root/etc/passwd".to_owned(),
        "/proc/self/cwd/Cargo.toml".to_owned(),
        "/proc/self/cwd/nothing".to_owned(),
        "/proc/self/exe".to_owned(),
        format!("/proc/self/fd/{number}"),
        format!("/dev/fd/{number}"),
        "planted/etc/passwd".to_owned(),
        "planted".to_owned(),
    ];
    for path in paths {
        let refusal = guard.read(Path::new(&path), &Abort::new()).map(|_| ()).unwrap_err();
        let Refusal::Denied(denied) = refusal else { panic!("{path}: {refusal}") };
        assert_eq!((denied.violation.word(), denied.code), ("jail", Code::MagicLink), "{path}");
        let judged = guard.judge(Path::new(&path), &tree.ws, Kind::Read).unwrap();
        assert_eq!(judged.trace.decision.effect(), Effect::Deny, "{path}");
    }
}

#[test]
fn paths_longer_than_the_kernel_takes_are_reached_from_where_they_are() {
    let tree = Tree::plant();
    // A tree deeper than a path can name, made step by step.
    let name = "d".repeat(200);
    let mut at =
        rustix::fs::open(&tree.ws, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o755);
    for _ in 0..30 {
        rustix::fs::mkdirat(&at, &*name, mode).unwrap();
        at = rustix::fs::openat(&at, &*name, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
            .unwrap();
    }
    let guard = open(&tree);
    let mut directory = guard.list(Path::new("."), &Abort::new()).unwrap();
    let mut depth = 0;
    loop {
        let next =
            directory.entries().unwrap().map(Result::unwrap).find(|entry| entry.name() == OsStr::new(&name));
        let Some(entry) = next else { break };
        directory = directory.enter(&entry).unwrap();
        depth += 1;
    }
    assert_eq!(depth, 30);
    let path = std::iter::repeat_n(&*name, 30).collect::<Vec<_>>().join("/");
    let refusal = guard.read(Path::new(&path), &Abort::new()).map(|_| ()).unwrap_err();
    assert_eq!(refusal.trouble(), Some(Trouble::TooLong));
    let refusal = guard.write(Path::new(&path), &Abort::new()).map(|_| ()).unwrap_err();
    assert_eq!(refusal.trouble(), Some(Trouble::TooLong));
}

#[test]
fn looking_never_waits_creates_or_truncates() {
    let tree = Tree::plant();
    let guard = open(&tree);
    let before: Vec<_> = fs::read_dir(&tree.ws).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    // The pipe has no other end: opening it would wait for ever.
    for kind in [Kind::Read, Kind::Write] {
        for path in ["fifo", "a.txt", "new", "new/deeper", "link-dangling", "link-dangling-in", "dir"] {
            let judged = guard.judge(Path::new(path), &tree.ws, kind).unwrap();
            assert_eq!(judged.trace.decision.effect(), Effect::Allow, "{path}");
        }
    }
    for path in ["fifo", "/dev/null", "/dev/tty"] {
        assert!(guard.write(Path::new(path), &Abort::new()).is_err(), "{path}");
    }
    // Permission to write is not writing.
    for path in ["new", "new/deeper/still", "link-dangling", "a.txt"] {
        drop(guard.write(Path::new(path), &Abort::new()).unwrap());
    }
    let after: Vec<_> = fs::read_dir(&tree.ws).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(before, after);
    assert_eq!(fs::read(tree.ws.join("a.txt")).unwrap(), b"a");
    assert!(!tree.root.join("out/dangling.txt").exists());
}

#[test]
fn a_file_is_replaced_at_once_and_keeps_its_mode() {
    let tree = Tree::plant();
    let guard = open(&tree);
    let write =
        |path: &str, content: &[u8]| guard.write(Path::new(path), &Abort::new()).unwrap().replace(content);
    for mode in [0o600, 0o644, 0o755, 0o640, 0o1644] {
        let path = tree.ws.join("a.txt");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let mut old = fs::File::open(&path).unwrap();
        let before = old.metadata().unwrap();
        write("a.txt", b"new content").unwrap();
        let mut text = String::new();
        old.read_to_string(&mut text).unwrap();
        assert_eq!(text.len() as u64, before.len(), "whoever had it open sees the old one");
        let after = fs::metadata(&path).unwrap();
        assert_eq!((after.mode() & 0o7777, after.uid()), (mode, before.uid()));
        assert_ne!(after.ino(), before.ino());
    }
    // A program that changed is not the one that was trusted.
    fs::set_permissions(tree.ws.join("b.txt"), fs::Permissions::from_mode(0o6755)).unwrap();
    write("b.txt", b"x").unwrap();
    assert_eq!(fs::metadata(tree.ws.join("b.txt")).unwrap().mode() & 0o7777, 0o755);
    // Through a link, the file it leads to is replaced and the link stays.
    write("link-in", b"through").unwrap();
    assert_eq!(fs::read(tree.ws.join("a.txt")).unwrap(), b"through");
    assert!(fs::symlink_metadata(tree.ws.join("link-in")).unwrap().is_symlink());
    write("link-dangling-in", b"made").unwrap();
    assert_eq!(fs::read(tree.ws.join("created-later.txt")).unwrap(), b"made");
    write("new/deep/er.txt", b"deep").unwrap();
    assert_eq!(fs::read(tree.ws.join("new/deep/er.txt")).unwrap(), b"deep");
    let left: Vec<_> = fs::read_dir(&tree.ws).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".ringfence-")), "{left:?}");
}

/// Root that works in the directory of another user leaves nothing there that its owner could not change.
#[test]
fn what_root_makes_belongs_to_the_owner_of_the_directory() {
    let tree = Tree::plant();
    if !rustix::process::geteuid().is_root() {
        stage::skip::skipped("files that root makes for others", "this is an ordinary user");
        return;
    }
    std::os::unix::fs::chown(&tree.ws, Some(54321), Some(54322)).unwrap();
    let guard = open(&tree);
    for path in ["made.txt", "made/deep/er.txt"] {
        guard.write(Path::new(path), &Abort::new()).unwrap().replace(b"x").unwrap();
    }
    for path in ["made.txt", "made", "made/deep", "made/deep/er.txt"] {
        let found = fs::metadata(tree.ws.join(path)).unwrap();
        assert_eq!((found.uid(), found.gid()), (54321, 54322), "{path}");
    }
}

#[test]
fn a_file_that_was_put_there_meanwhile_is_not_replaced() {
    let tree = Tree::plant();
    let guard = open(&tree);
    let place = |path: &str| guard.write(Path::new(path), &Abort::new()).unwrap();
    let (new, old, linked) = (place("new"), place("a.txt"), place("b.txt"));
    fs::write(tree.ws.join("new"), "theirs").unwrap();
    fs::rename(tree.ws.join("dir/c.txt"), tree.ws.join("a.txt")).unwrap();
    fs::remove_file(tree.ws.join("b.txt")).unwrap();
    symlink(tree.root.join("out/secret.txt"), tree.ws.join("b.txt")).unwrap();
    for place in [new, old, linked] {
        assert_eq!(place.replace(b"ours"), Err(Trouble::Changed));
    }
    assert_eq!(fs::read(tree.ws.join("new")).unwrap(), b"theirs");
    assert_eq!(fs::read(tree.ws.join("a.txt")).unwrap(), b"c");
    assert_eq!(fs::read(tree.root.join("out/secret.txt")).unwrap(), b"SECRET");
}

#[test]
fn parents_that_were_moved_away_take_nothing_with_them() {
    let tree = Tree::plant();
    let guard = guard(&Config::default_in(&tree.ws), "write");
    let place = |path: &str| guard.write(Path::new(path), &Abort::new()).unwrap();
    let (old, new, deep) = (place("dir/c.txt"), place("dir/new.txt"), place("dir/x/y.txt"));
    let name = guard.remove(Path::new("dir/c.txt"), &Abort::new()).unwrap();
    let opened = guard.read(Path::new("dir/c.txt"), &Abort::new()).unwrap();
    // The directory that was judged now lies outside.
    fs::rename(tree.ws.join("dir"), tree.root.join("out/dir")).unwrap();
    for place in [old, new, deep] {
        assert_eq!(place.replace(b"ours"), Err(Trouble::Changed));
    }
    assert_eq!(name.remove(), Err(Trouble::Changed));
    assert_eq!(fs::read_dir(tree.root.join("out/dir")).unwrap().count(), 1, "nothing was made there");
    assert_eq!(fs::read(tree.root.join("out/dir/c.txt")).unwrap(), b"c");
    // The opened object is the one that was judged.
    let mut text = String::new();
    opened.file().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "c");
}

#[test]
fn hard_links_are_asked_about_before_they_are_written() {
    let tree = Tree::plant();
    let guard = guard(&Config::default_in(&tree.ws), "write");
    let refusal = guard.write(Path::new("hard"), &Abort::new()).map(|_| ()).unwrap_err();
    let Refusal::Denied(denied) = refusal else { panic!("{refusal}") };
    assert_eq!(denied.violation.word(), "ask-no-handler");
    let judged = guard.judge(Path::new("hard"), &tree.ws, Kind::Write).unwrap();
    assert_eq!(judged.trace.decision.reason().code, Code::SharedFile);
    assert_eq!(
        guard.judge(Path::new("hard"), &tree.ws, Kind::Read).unwrap().trace.decision.effect(),
        Effect::Allow
    );
    // With a yes, the new file takes this one name, and the others keep the old one.
    let yes = stage::Person::saying(&[Ok(ringfence_guard::Answer::AllowOnce)]);
    let guard = stage::guards(&Config::default_in(&tree.ws), yes).tool(&stage::tool("write"));
    guard.write(Path::new("hard"), &Abort::new()).unwrap().replace(b"mine").unwrap();
    assert_eq!(fs::read(tree.ws.join("hard")).unwrap(), b"mine");
    assert_eq!(fs::read(tree.root.join("out/secret.txt")).unwrap(), b"SECRET");
    // Removing one name changes nothing under the others.
    fs::hard_link(tree.root.join("out/secret.txt"), tree.ws.join("again")).unwrap();
    guard.remove(Path::new("again"), &Abort::new()).unwrap().remove().unwrap();
}

#[test]
fn read_only_files_stay_as_they_are() {
    let tree = Tree::plant();
    if rustix::process::geteuid().is_root() {
        stage::skip::skipped(
            "files that may not be written",
            "root may; the second run of the tests is an ordinary user's",
        );
        return;
    }
    let path = tree.ws.join("a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let refusal = open(&tree).write(Path::new("a.txt"), &Abort::new()).map(|_| ()).unwrap_err();
    assert_eq!(refusal.trouble(), Some(Trouble::System(rustix::io::Errno::ACCESS)));
}

#[test]
fn names_that_only_look_different_are_judged_alike() {
    let tree = Tree::plant();
    let mut config = Config::default_in(&tree.ws);
    config.forbidden_globs = vec!["**/.ssh/**".into(), "**/.kube/**".into(), "caf\u{e9}.txt".into()];
    let guard = guard(&config, "write");
    let rows = [
        (".ssh/id", true),
        (".SSH/id", true),
        (".\u{17f}\u{17f}h/id", true),
        (".\u{212a}ube/config", true),
        ("cafe\u{301}.txt", true),
        ("CAF\u{c9}.txt", true),
        ("caf\u{e9}.txt", true),
        ("cafe.txt", false),
        (".sshx/id", false),
    ];
    for (path, forbidden) in rows {
        let came = guard.write(Path::new(path), &Abort::new()).map(|_| ());
        let word = came.err().and_then(|refusal| refusal.violation()).map(ringfence_guard::Violation::word);
        assert_eq!(word, forbidden.then_some("forbidden-glob"), "{path:?}");
    }
}

#[test]
fn a_judgement_shows_every_name() {
    let tree = Tree::plant();
    let guard = guard(&Config::default_in(&tree.ws), "read");
    let names = |path: &str, from: &Path| -> Vec<String> {
        let judged = guard.judge(Path::new(path), from, Kind::Read).unwrap();
        let root = tree.root.to_str().unwrap();
        judged.location.names().map(|name| String::from_utf8_lossy(name).replace(root, "ROOT")).collect()
    };
    assert_eq!(names("a.txt", &tree.ws), ["a.txt", "ROOT/ws/a.txt"]);
    assert_eq!(
        names("../link-in", &tree.ws.join("dir")),
        ["a.txt", "ROOT/ws/a.txt", "link-in", "ROOT/ws/link-in"]
    );
    assert_eq!(
        names("link-dangling", &tree.ws),
        ["ROOT/out/dangling.txt", "link-dangling", "ROOT/ws/link-dangling"]
    );
    assert_eq!(
        names("ws/link-to-env", &tree.root),
        [".env", "ROOT/ws/.env", "link-to-env", "ROOT/ws/link-to-env"]
    );
    assert_eq!(guard.judge(Path::new("none"), &tree.ws, Kind::Read).unwrap().kind, None);
    // A path that was only completed was not written from the root.
    let judged = guard.judge(Path::new("a.txt"), &tree.ws, Kind::Read).unwrap();
    assert_eq!(judged.trace.decision.effect(), Effect::Allow);
    let judged = guard.judge(&tree.ws.join("a.txt"), &tree.ws, Kind::Read).unwrap();
    assert_eq!(judged.trace.decision.reason().code, Code::AbsolutePath);
}

#[test]
fn moving_judges_both_ends_and_overwrites_nothing_unseen() {
    let tree = Tree::plant();
    let guard = guard(&Config::default_in(&tree.ws), "apply_patch");
    let move_it = |from: &str, to: &str| -> Result<Result<(), Trouble>, &'static str> {
        let word = |refusal: Refusal| refusal.violation().map_or("failed", ringfence_guard::Violation::word);
        let to = guard.write(Path::new(to), &Abort::new()).map_err(word)?;
        Ok(guard.remove(Path::new(from), &Abort::new()).map_err(word)?.move_to(to))
    };
    assert_eq!(move_it("a.txt", "new/place.txt"), Ok(Ok(())));
    assert_eq!(fs::read(tree.ws.join("new/place.txt")).unwrap(), b"a");
    assert_eq!(move_it("new/place.txt", "b.txt"), Ok(Ok(())));
    assert_eq!(fs::read(tree.ws.join("b.txt")).unwrap(), b"a");
    assert_eq!(move_it("b.txt", "../out/b"), Err("jail"));
    assert_eq!(move_it("b.txt", "link-dangling"), Err("jail"));
    assert_eq!(move_it("b.txt", ".env"), Err("forbidden-glob"));
    assert_eq!(move_it("link-dir/secret.txt", "x"), Err("jail"));
    assert_eq!(move_it("dir", "dir2"), Ok(Err(Trouble::IsADirectory)));
    assert_eq!(move_it("link-file", "link-moved"), Ok(Ok(())), "the link is moved, not what it leads to");
    assert_eq!(fs::read_link(tree.ws.join("link-moved")).unwrap(), tree.root.join("out/secret.txt"));
    // A file that may be written and not read must not get a name under which it could be read.
    let mut config = Config::default_in(&tree.ws);
    config.read.deny = vec!["sub/**".into()];
    let blind = stage::guard(&config, "apply_patch");
    let to = blind.write(Path::new("seen.txt"), &Abort::new()).unwrap();
    let from = blind.remove(Path::new("sub/s.txt"), &Abort::new()).unwrap();
    assert_eq!(from.move_to(to), Err(Trouble::MayNotBeRead));
    assert!(tree.ws.join("sub/s.txt").exists() && !tree.ws.join("seen.txt").exists());
    for path in [".", "..", "dir/", "dir/.", "/"] {
        let refusal = guard.remove(Path::new(path), &Abort::new()).map(|_| ()).unwrap_err();
        assert!(!matches!(refusal, Refusal::Unrecorded(_)), "{path}: {refusal}");
    }
    // A pipe can be removed without being opened.
    fifo(&tree.ws.join("pipe"));
    guard.remove(Path::new("pipe"), &Abort::new()).unwrap().remove().unwrap();
}

#[test]
fn a_listing_shows_what_may_be_read_and_opens_what_was_listed() {
    let tree = Tree::plant();
    let guard = guard(&Config::default_in(&tree.ws), "ls");
    let directory = guard.list(Path::new("."), &Abort::new()).unwrap();
    let mut names: Vec<_> =
        directory.entries().unwrap().map(|entry| entry.unwrap().name().to_owned()).collect();
    names.sort();
    assert!(names.contains(&OsString::from("link-to-env")), "a link has a name of its own");
    assert!(!names.iter().any(|name| name == ".env" || name == ".git"), "{names:?}");
    assert!(guard.list(Path::new("a.txt"), &Abort::new()).is_err());
    assert!(guard.list(Path::new("link-dir"), &Abort::new()).is_err());
    for name in [".env", "..", "", "dir/c.txt", "link-file", "link-to-env", "fifo", "nothing"] {
        assert!(directory.file_called(OsStr::new(name)).is_err(), "{name}");
    }
    let mut file = directory.file_called(OsStr::new("a.txt")).unwrap().file;
    assert!(file.write_all(b"x").is_err(), "for reading only");
    // An entry that has become something else is not opened.
    let entry =
        directory.entries().unwrap().map(Result::unwrap).find(|entry| entry.name() == "b.txt").unwrap();
    fs::remove_file(tree.ws.join("b.txt")).unwrap();
    symlink(tree.root.join("out/secret.txt"), tree.ws.join("b.txt")).unwrap();
    assert!(directory.file(&entry).is_err());
    let entry = directory.entries().unwrap().map(Result::unwrap).find(|entry| entry.name() == "dir").unwrap();
    fs::rename(tree.ws.join("dir"), tree.ws.join("dir-away")).unwrap();
    symlink(tree.root.join("out"), tree.ws.join("dir")).unwrap();
    assert!(directory.enter(&entry).is_err());
}

#[test]
fn the_workspace_is_a_directory_that_is_there() {
    let tree = Tree::plant();
    let rows: [(PathBuf, Option<Trouble>); 7] = [
        (tree.ws.join("a.txt"), Some(Trouble::NotADirectory)),
        (tree.ws.join("none"), Some(Trouble::NotFound)),
        ("/proc/self/cwd".into(), Some(Trouble::MagicLink)),
        (tree.ws.join("link-dir-in"), None),
        (tree.ws.clone(), None),
        // Tests run in their package.
        ("tests".into(), None),
        (".".into(), None),
    ];
    for (path, expected) in rows {
        let config = Config::default_in(&path);
        let made = ringfence_guard::Guards::new(stage::parts(
            &config,
            std::sync::Arc::new(ringfence_guard::Refuse),
            std::sync::Arc::new(stage::Kept::default()),
        ));
        assert_eq!(made.err().map(|failed| failed.trouble), expected, "{path:?}");
    }
}

#[test]
fn the_same_where_the_kernel_cannot_look_up_in_one_call() {
    run_again(&[OPENAT2]);
}

#[test]
fn the_same_where_a_filter_keeps_the_kernel_from_it() {
    run_again(&[OPENAT2_FILTERED]);
}

#[test]
fn the_same_where_every_file_has_a_name() {
    run_again(&[UNNAMED_FILES]);
}

#[test]
fn the_same_where_renames_replace() {
    run_again(&[UNNAMED_FILES, KEEPING_RENAMES]);
}
