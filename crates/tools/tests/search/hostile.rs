//! Trees that want to be seen out of, and trees that want to be too much.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ringfence_tools::Output;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use serde_json::{Value, json};

use crate::skip::skipped;
use crate::stage::Stage;

fn all(stage: &Stage) -> Vec<Output> {
    let every = |mut arguments: Value| {
        arguments["hidden"] = true.into();
        arguments["no_ignore"] = true.into();
        arguments
    };
    vec![
        stage.grep(&every(json!({ "pattern": "needle|SECRET|x" }))),
        stage.grep(&every(json!({ "pattern": ".", "mode": "files" }))),
        stage.grep(&every(json!({ "pattern": "", "mode": "count" }))),
        stage.grep(&every(json!({ "pattern": "(?s).*", "multiline": true }))),
        stage.find(&every(json!({}))),
        stage.find(&every(json!({ "sort": "size", "kind": "file" }))),
        stage.ls(&json!({ "long": true })),
    ]
}

#[test]
fn links_lead_nowhere_and_forbidden_names_are_not_there() {
    let stage = Stage::plant(&[
        ("a.txt", "needle\n"),
        ("dir/b.txt", "needle\n"),
        (".git/config", "needle FORBIDDEN\n"),
        (".env", "needle FORBIDDEN\n"),
        ("dir/.env.local", "needle FORBIDDEN\n"),
        ("dir/secrets/key.txt", "needle FORBIDDEN\n"),
        ("server.pem", "needle FORBIDDEN\n"),
        ("ID_RSA", "needle FORBIDDEN\n"),
    ]);
    let links = [
        ("link-file", stage.root.join("out/secret.txt")),
        ("link-dir", stage.root.join("out")),
        ("dir/up", PathBuf::from("../..")),
        ("dir/loop", PathBuf::from(".")),
        ("link-env", PathBuf::from(".env")),
        ("proc", PathBuf::from("/proc/self/root")),
    ];
    for (name, target) in links {
        symlink(target, stage.ws.join(name)).unwrap();
    }
    fs::hard_link(stage.root.join("out/secret.txt"), stage.ws.join("hard")).unwrap();
    fs::hard_link(stage.ws.join(".env"), stage.ws.join("dir/hard-env")).unwrap();
    assert!(Command::new("mkfifo").arg(stage.ws.join("fifo")).status().unwrap().success());
    for output in all(&stage) {
        let both = format!("{}{}", output.text, output.data);
        assert!(!both.contains("SECRET") && !both.contains("FORBIDDEN"), "{both}");
        // A link shows what it says.
        let both = both.replace(&*stage.root.join("out/secret.txt").to_string_lossy(), "");
        for name in ["secret.txt", "config", "local", "key.txt", "pem", "ID_RSA"] {
            assert!(!both.contains(name), "{name} in {both}");
        }
    }
    let found = stage.grep(&json!({ "pattern": "needle", "hidden": true, "no_ignore": true }));
    insta::assert_snapshot!(found.text, @r"
    [2 matches in 2 files; 2 files searched]
    [2 files with other names elsewhere were left out]
    a.txt:1:needle
    dir/b.txt:1:needle
    ");
    let links = stage.found(&json!({ "kind": "link" }));
    assert_eq!(links, ["dir/loop", "dir/up", "link-dir", "link-env", "link-file", "proc"]);
}

#[test]
fn a_file_with_several_names_is_searched_if_all_are_met() {
    let stage =
        Stage::plant(&[("a.txt", "needle\n"), ("dir/x.txt", "needle\n"), ("other/y.txt", "needle\n")]);
    fs::hard_link(stage.ws.join("a.txt"), stage.ws.join("dir/a2.txt")).unwrap();
    fs::hard_link(stage.ws.join("a.txt"), stage.ws.join("dir/a3.txt")).unwrap();
    fs::hard_link(stage.ws.join("dir/x.txt"), stage.ws.join("other/x2.txt")).unwrap();
    let files = |arguments: &Value| {
        let data = stage.grep(arguments).data;
        let names = |key: &str| {
            data[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        (names("files"), data["files_left_out"]["linked_elsewhere"].as_u64().unwrap())
    };
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        files(&json!({ "pattern": "needle", "mode": "files" })),
        (names(&["a.txt", "dir/a2.txt", "dir/a3.txt", "dir/x.txt", "other/x2.txt", "other/y.txt"]), 0)
    );
    assert_eq!(files(&json!({ "pattern": "needle", "mode": "files", "path": "dir" })), (names(&[]), 3));
    assert_eq!(
        files(&json!({ "pattern": "needle", "mode": "files", "path": "other" })),
        (names(&["other/y.txt"]), 1)
    );
    // A file that is named is read, as `read` would.
    assert_eq!(
        files(&json!({ "pattern": "needle", "mode": "files", "path": "dir/a2.txt" })),
        (names(&["dir/a2.txt"]), 0)
    );
}

#[test]
fn names_may_be_anything() {
    let stage = Stage::plant(&[]);
    let names: [&[u8]; 6] =
        [b"line\nbreak", b"\xff\xfe", b"\x1b[31mred", "\u{202e}txt".as_bytes(), b" space ", b"-rf"];
    for name in names {
        fs::create_dir(stage.ws.join(OsStr::from_bytes(name))).unwrap();
        let path = stage.ws.join(OsStr::from_bytes(name)).join(OsStr::from_bytes(name));
        fs::write(path, b"needle\n").unwrap();
    }
    let shown = stage.grep(&json!({ "pattern": "needle" })).text;
    insta::assert_snapshot!(shown, @r"
    [6 matches in 6 files; 6 files searched]
    \u{1b}[31mred/\u{1b}[31mred:1:needle
     space / space :1:needle
    -rf/-rf:1:needle
    line\nbreak/line\nbreak:1:needle
    \u{202e}txt/\u{202e}txt:1:needle
    \xff\xfe/\xff\xfe:1:needle
    ");
    assert_eq!(stage.find(&json!({ "kind": "file" })).data["total"], 6);
    assert_eq!(stage.ls(&json!({})).data["total"], 6);
}

/// Makes directories below directories, by handle: the path becomes longer than the kernel takes.
fn dig(from: &Path, levels: usize) {
    let (name, flags) = ("d".repeat(20), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC);
    let mut here = rustix::fs::openat(CWD, from, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        rustix::fs::mkdirat(&here, &name, Mode::RWXU).unwrap();
        here = rustix::fs::openat(&here, &name, flags, Mode::empty()).unwrap();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&here, "f", flags, Mode::RUSR | Mode::WUSR).unwrap();
        fs::File::from(file).write_all(b"needle\n").unwrap();
    }
}

#[test]
fn deep_trees_do_no_harm() {
    let stage = Stage::plant(&[("top.txt", "needle\n")]);
    dig(&stage.ws, 1000);
    let output = stage.grep(&json!({ "pattern": "needle", "mode": "count" }));
    // The file at the top, and one in each directory that was entered.
    assert_eq!(output.data["files_with_matches"], 256);
    assert_eq!(output.data["directories_left_out"], 1);
    assert!(output.text.contains("[1 directory could not be looked into]"));
    let found = stage.find(&json!({ "kind": "directory" }));
    assert_eq!(found.data["total"], 256);
    // Removing it takes more than a path, too.
    assert!(
        Command::new("rm").current_dir(&stage.ws).args(["-rf", &"d".repeat(20)]).status().unwrap().success()
    );
}

#[test]
fn large_directories_do_no_harm() {
    let stage = Stage::roomy();
    let large = stage.ws.join("large");
    fs::create_dir(&large).unwrap();
    for number in 0..100_000 {
        fs::File::create(large.join(number.to_string())).unwrap();
    }
    assert_eq!(stage.find(&json!({ "kind": "file", "limit": 1 })).data["total"], 100_000);
    assert_eq!(stage.ls(&json!({ "path": "large", "limit": 1 })).data["total"], 100_000);
    assert_eq!(stage.grep(&json!({ "pattern": "needle" })).data["files_searched"], 100_000);
}

#[test]
fn what_cannot_be_opened_is_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::plant(&[("shut/a.txt", "needle\n"), ("b.txt", "needle\n"), ("c.txt", "needle\n")]);
    for name in ["shut", "b.txt"] {
        fs::set_permissions(stage.ws.join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read(stage.ws.join("b.txt")).is_ok() {
        return skipped("directories that cannot be opened", "root opens everything");
    }
    let output = stage.grep(&json!({ "pattern": "needle" }));
    insta::assert_snapshot!(output.text, @r"
    [1 match in 1 file; 1 file searched]
    [1 file could not be read]
    [1 directory could not be looked into]
    c.txt:1:needle
    ");
    fs::set_permissions(stage.ws.join("shut"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Directories become links to the outside and back again, while everything is searched.
#[test]
fn a_swap_never_leads_out() {
    let stage = Stage::plant(&[]);
    for number in 0..20 {
        stage.write(&format!("dir{number}/in.txt"), b"needle inside\n");
        symlink(stage.root.join("out"), stage.ws.join(format!("link{number}"))).unwrap();
    }
    fs::create_dir(stage.root.join("out/deep")).unwrap();
    fs::write(stage.root.join("out/deep/secret-too.txt"), "SECRET needle\n").unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for number in 0..20 {
                    let [dir, link] = ["dir", "link"].map(|name| stage.ws.join(format!("{name}{number}")));
                    swap(&dir, &link);
                }
            }
        });
        let until = Instant::now() + Duration::from_secs(3);
        let (mut rounds, mut seen) = (0, 0);
        while Instant::now() < until {
            let found = stage.grep(&json!({ "pattern": "needle" }));
            let names = stage.find(&json!({}));
            let both = format!("{}{}{}{}", found.text, found.data, names.text, names.data);
            if both.contains("SECRET") || both.contains("secret") || both.contains("deep") {
                done.store(true, Ordering::Relaxed);
                panic!("after {rounds} rounds: {both}");
            }
            seen += found.data["total_matches"].as_u64().unwrap();
            rounds += 1;
        }
        done.store(true, Ordering::Relaxed);
        assert!(rounds > 5 && seen > 0, "{rounds} rounds, {seen} seen");
    });
}

fn swap(a: &Path, b: &Path) {
    rustix::fs::renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
}
