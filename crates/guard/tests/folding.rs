//! Workspaces on file systems to which names are one name that differ in case, or in how their letters are composed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]
#![cfg(target_os = "linux")]

mod stage;

use std::fs;
use std::io::Read as _;
use std::path::Path;

use policy::{Effect, Kind};
use ringfence_guard::{Abort, Config, Guard, PathRules, Violation};
use stage::apart::apart;
use stage::fuse::{Files, Names, serve};
use stage::skip::skipped;
use stage::{Tree, guard};

/// A rule names each of these files in the one form in which it is stored: in small letters, in capitals, composed, decomposed.
const FILES: Files = &[
    ("Secret.txt", "SECRET"),
    ("private/Key.txt", "SECRET"),
    ("Caf\u{e9}.txt", "SECRET"),
    ("GR\u{dc}N/\u{c9}t\u{c9}.txt", "SECRET"),
    ("nai\u{308}ve/I\u{302}le.txt", "SECRET"),
    ("Open.txt", "open"),
    ("docs/\u{c9}cole.txt", "open"),
    ("empty/", ""),
];

const DENIED: [&str; 5] = [
    "Secret.txt",
    "private/**",
    "Caf\u{e9}.txt",
    "GR\u{dc}N/\u{c9}t\u{c9}.txt",
    "nai\u{308}ve/I\u{302}le.txt",
];

/// The same name in another case.
const CASES: [&str; 9] = [
    "SECRET.TXT",
    "sEcReT.tXt",
    "PRIVATE/key.txt",
    "Private/KEY.TXT",
    "CAF\u{c9}.TXT",
    "caf\u{e9}.txt",
    "gr\u{fc}n/\u{e9}t\u{e9}.TXT",
    "Gr\u{fc}n/\u{e9}T\u{c9}.txt",
    "NAI\u{308}VE/i\u{302}LE.txt",
];

/// The same name, composed otherwise.
const FORMS: [&str; 5] = [
    "Cafe\u{301}.txt",
    "GRU\u{308}N/\u{c9}tE\u{301}.txt",
    "GRU\u{308}N/E\u{301}tE\u{301}.txt",
    "na\u{ef}ve/\u{ce}le.txt",
    "na\u{ef}ve/I\u{302}le.txt",
];

/// Both at once.
const CASES_AND_FORMS: [&str; 3] =
    ["CAFE\u{301}.TXT", "gru\u{308}n/e\u{301}te\u{301}.txt", "NA\u{cf}VE/\u{ee}LE.TXT"];

fn config(ws: &Path) -> Config {
    let read = PathRules { deny: DENIED.map(str::to_owned).into(), allow: vec![], default: Effect::Allow };
    Config { write: read.clone(), read, ..Config::default_in(ws) }
}

/// Returns the content, or the word for the refusal.
fn read(guard: &Guard, path: &str) -> Result<String, &'static str> {
    let opened = guard.read(Path::new(path), &Abort::new());
    let opened = opened.map_err(|refusal| refusal.violation().map_or("failed", Violation::word))?;
    let mut text = String::new();
    opened.file().unwrap().read_to_string(&mut text).unwrap();
    Ok(text)
}

fn effect(guard: &Guard, path: &str, kind: Kind) -> Effect {
    let judged = guard.judge(Path::new(path), guard.workspace(), kind).unwrap();
    judged.trace.decision.effect()
}

/// Serves the files in a directory of a tree. `false`: it cannot be done here, and that was said.
fn served(what: &str, on: &Path, names: Names) -> bool {
    serve(on, names, FILES).inspect_err(|error| skipped(what, &format!("no FUSE: {error}"))).is_ok()
}

fn assert_denied<'a>(guard: &Guard, below: &str, paths: impl IntoIterator<Item = &'a &'a str>) {
    for path in paths {
        let path = format!("{below}{path}");
        // It is there, under this name.
        assert!(fs::symlink_metadata(guard.workspace().join(&path)).is_ok(), "{path:?}");
        assert_eq!(read(guard, &path), Err("read-denied"), "{path:?}");
        assert_eq!(effect(guard, &path, Kind::Write), Effect::Deny, "{path:?}");
    }
}

#[test]
fn no_case_and_no_form_gets_around_a_rule() {
    let name = "no_case_and_no_form_gets_around_a_rule";
    apart(name, || {
        let tree = Tree::plant();
        let ws = tree.root.join("out");
        if !served(name, &ws, Names::Folded) {
            return;
        }
        let guard = guard(&config(&ws), "read");
        assert_denied(&guard, "", CASES.iter().chain(&FORMS).chain(&CASES_AND_FORMS));
        for path in ["Open.txt", "OPEN.TXT", "oPEN.txt", "Docs/\u{e9}cole.TXT", "docs/E\u{301}COLE.txt"] {
            assert_eq!(read(&guard, path).as_deref(), Ok("open"), "{path:?}");
        }
        // A file that does not exist yet would be the one that the rule names.
        for path in ["EMPTY/../SECRET.txt", "Private/new", "PRIVATE/New/er"] {
            assert_eq!(effect(&guard, path, Kind::Write), Effect::Deny, "{path:?}");
        }
        // A listing leaves out what may not be read.
        let listed = guard.list(Path::new("."), &Abort::new()).unwrap();
        let names: Vec<_> = listed.entries().unwrap().map(|entry| entry.unwrap().name().to_owned()).collect();
        assert_eq!(names.len(), FILES.len() - 3, "{names:?}");
        for path in ["SECRET.txt", "secret.TXT", "cafe\u{301}.txt"] {
            assert!(listed.file_called(path.as_ref()).is_err(), "{path:?}");
        }
        assert!(listed.file_called("OPEN.txt".as_ref()).is_ok());
    });
}

#[test]
fn no_form_gets_around_a_rule_where_case_counts() {
    let name = "no_form_gets_around_a_rule_where_case_counts";
    apart(name, || {
        let tree = Tree::plant();
        let ws = tree.root.join("out");
        if !served(name, &ws, Names::Normalised) {
            return;
        }
        let guard = guard(&config(&ws), "read");
        assert_denied(&guard, "", FORMS.iter().chain(&DENIED[2..]));
        assert_eq!(read(&guard, "docs/E\u{301}cole.txt").as_deref(), Ok("open"));
        for path in ["SECRET.TXT", "secret.txt", "OPEN.txt"] {
            assert_eq!(read(&guard, path), Err("failed"), "{path:?}");
            assert_eq!(effect(&guard, path, Kind::Write), Effect::Allow, "{path:?}: another name");
        }
    });
}

#[test]
fn a_file_system_in_the_workspace_is_asked_itself() {
    let name = "a_file_system_in_the_workspace_is_asked_itself";
    apart(name, || {
        let tree = Tree::plant();
        // The guard is opened first.
        let mut config = config(&tree.ws);
        for rules in [&mut config.read, &mut config.write] {
            rules.deny = DENIED.iter().map(|pattern| format!("dir/{pattern}")).collect();
        }
        let guard = guard(&config, "read");
        if !served(name, &tree.ws.join("dir"), Names::Folded) {
            return;
        }
        assert_denied(&guard, "dir/", CASES.iter().chain(&FORMS).chain(&CASES_AND_FORMS));
        assert_eq!(effect(&guard, "dir/Private/new", Kind::Write), Effect::Deny);
        assert_eq!(read(&guard, "dir/OPEN.txt").as_deref(), Ok("open"));
        let listed = guard.list(Path::new("dir"), &Abort::new()).unwrap();
        assert!(listed.file_called("SECRET.txt".as_ref()).is_err());
        assert!(listed.file_called("OPEN.txt".as_ref()).is_ok());
        // Beside it, case counts as before.
        assert_eq!(effect(&guard, "DIR/Secret.txt", Kind::Write), Effect::Allow);
    });
}

/// Names without letters, and no names at all: where nothing can be tried, a file system that is not known to tell letters apart
/// does not.
#[test]
fn where_nothing_can_be_tried_case_does_not_count() {
    let name = "where_nothing_can_be_tried_case_does_not_count";
    let trees: [Files; 4] = [
        &[],
        &[("1", ""), ("2.3", ""), ("\u{c9}", "")],
        &[("1", ""), ("2", ""), ("z", "")],
        &[("1/", ""), ("_", "")],
    ];
    apart(name, || {
        let tree = Tree::plant();
        for (index, files) in trees.into_iter().enumerate() {
            let ws = tree.root.join(format!("out{index}"));
            fs::create_dir(&ws).unwrap();
            if let Err(error) = serve(&ws, Names::Folded, files) {
                return skipped(name, &format!("no FUSE: {error}"));
            }
            let guard = guard(&config(&ws), "read");
            for path in ["SECRET.TXT", "private/x", "Private/x", "CAFE\u{301}.TXT"] {
                assert_eq!(effect(&guard, path, Kind::Write), Effect::Deny, "{index}: {path:?}");
            }
        }
    });
}

#[test]
fn where_case_counts_it_counts() {
    // An ordinary file system, with and without files in it.
    let tree = Tree::plant();
    let empty = tree.root.join("out/empty");
    fs::create_dir(&empty).unwrap();
    for ws in [&tree.ws, &empty] {
        let guard = guard(&config(ws), "write");
        for (path, effect) in [
            ("Secret.txt", Effect::Deny),
            ("SECRET.TXT", Effect::Allow),
            ("secret.txt", Effect::Allow),
            ("PRIVATE/x", Effect::Allow),
            ("private/x", Effect::Deny),
            ("gr\u{fc}n/\u{e9}t\u{e9}.txt", Effect::Allow),
            // A reader sees no difference, so no rule does.
            ("Cafe\u{301}.txt", Effect::Deny),
        ] {
            assert_eq!(self::effect(&guard, path, Kind::Write), effect, "{path:?}");
        }
    }
    let name = "where_case_counts_it_counts";
    apart(name, || {
        let tree = Tree::plant();
        let ws = tree.root.join("out");
        if !served(name, &ws, Names::Exact) {
            return;
        }
        let guard = guard(&config(&ws), "read");
        assert_eq!(effect(&guard, "SECRET.TXT", Kind::Write), Effect::Allow);
        assert_eq!(effect(&guard, "empty/new", Kind::Write), Effect::Allow);
        assert_eq!(read(&guard, "Secret.txt"), Err("read-denied"));
        assert_eq!(read(&guard, "Open.txt").as_deref(), Ok("open"));
    });
}
