//! Unified diffs as git and `patch` apply them: the same bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod desk;
#[path = "../../../tests/skip.rs"]
mod skip;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use desk::Desk;
use proptest::prelude::*;
use ringfence_tools::ApplyPatch;
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use skip::skipped;

/// Returns true if a program can be run here.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        skipped("patches compared with other programs", &format!("there is no `{program}`"));
    }
    found
}

/// Returns the file that a program makes, if it applies the patch.
fn others(program: &str, arguments: &[&str], old: &str, patch: &str) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), old).unwrap();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(dir.path())
        .env("GIT_CEILING_DIRECTORIES", dir.path().parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    child.wait().unwrap().success().then(|| fs::read_to_string(dir.path().join("f")).unwrap())
}

fn ours(old: &str, patch: &str) -> Result<String, ringfence_tools::ToolError> {
    let desk = Desk::new();
    desk.put("f", old);
    desk.call(&ApplyPatch, json!({ "patch": patch }))?;
    Ok(String::from_utf8(desk.got("f")).unwrap())
}

/// Lines that look like parts of a patch, among some that are often the same.
const LINES: &[&str] = &[
    "a",
    "a",
    "a",
    "b",
    "b",
    "b",
    "",
    "  a",
    "a ",
    "-- x",
    "++ y",
    "@@ -1 +1 @@",
    "\\ z",
    "a\r",
    "*** End Patch",
    "diff --git a/f b/f",
    "caf\u{e9}",
    "\u{feff}m",
];

fn text() -> impl Strategy<Value = String> {
    (proptest::collection::vec(proptest::sample::select(LINES), 0..12), any::<bool>()).prop_map(
        |(lines, ended)| {
            let text = lines.join("\n");
            if ended && !lines.is_empty() { text + "\n" } else { text }
        },
    )
}

fn ended() -> impl Strategy<Value = String> {
    text().prop_map(|text| if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_makes_the_new_file(old in text(), new in text(), around in 0..4_usize) {
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        let patch = diff(&old, &new, around);
        prop_assert_eq!(ours(&old, &patch).unwrap(), new.clone(), "{}", patch);
        // Without lines around them, others lose track of a last line that has no end.
        if around > 0 && has("patch") {
            prop_assert_eq!(others("patch", &["-p1", "--binary", "-s"], &old, &patch), Some(new.clone()), "{}", patch);
        }
        if around > 0 && has("git") {
            let arguments = ["apply", "-p1", "--whitespace=nowarn"];
            prop_assert_eq!(others("git", &arguments, &old, &patch), Some(new), "{}", patch);
        }
    }

    /// If lines have been added before the change meanwhile, every program that finds a place finds the same. Only with
    /// lines that have an end: one without belongs at the end of the file, and others put it anywhere.
    #[test]
    fn a_diff_that_is_off_goes_to_the_same_place(before in ended(), old in ended(), new in ended()) {
        prop_assume!(old != new && !old.is_empty() && !new.is_empty() && has("patch"));
        let patch = diff(&old, &new, 3);
        let now = before + &old;
        let theirs = others("patch", &["-p1", "--binary", "-s", "-F0", "-N"], &now, &patch);
        if let (Ok(ours), Some(theirs)) = (ours(&now, &patch), theirs) {
            prop_assert_eq!(ours, theirs, "{}", patch);
        }
    }
}

fn diff(old: &str, new: &str, around: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let mut text = "--- a/f\n+++ b/f\n".to_owned();
    let changes: Vec<(ChangeTag, &str)> =
        diff.iter_all_changes().map(|change| (change.tag(), change.value())).collect();
    for (first, last) in groups(&changes, around) {
        let count = |part: &[(ChangeTag, &str)], other| part.iter().filter(|(tag, _)| *tag != other).count();
        let side = |other| {
            let lines = count(&changes[first..last], other);
            (count(&changes[..first], other) + usize::from(lines > 0), lines)
        };
        let (old, new) = (side(ChangeTag::Insert), side(ChangeTag::Delete));
        writeln!(text, "@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1).unwrap();
        for (tag, line) in &changes[first..last] {
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            write!(text, "{tag}{line}{end}").unwrap();
        }
    }
    text
}

/// Returns the start and end of the hunks.
fn groups(changes: &[(ChangeTag, &str)], around: usize) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (at, _) in changes.iter().enumerate().filter(|(_, (tag, _))| *tag != ChangeTag::Equal) {
        let (first, last) = (at.saturating_sub(around), (at + 1 + around).min(changes.len()));
        match groups.last_mut() {
            Some(group) if group.1 >= first => group.1 = last,
            _ => groups.push((first, last)),
        }
    }
    groups
}

type Tree = BTreeMap<Vec<u8>, String>;

fn tree() -> impl Strategy<Value = Tree> {
    let name = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"dir/b".to_vec()),
        Just(b"dir/sub/c c".to_vec()),
        Just("caf\u{e9}".as_bytes().to_vec()),
        Just(b"tab\there".to_vec()),
        Just(b"n\xff".to_vec()),
    ];
    proptest::collection::btree_map(name, long_text(), 0..5)
}

/// Long enough for git to see that it was moved.
fn long_text() -> impl Strategy<Value = String> {
    (text(), 0..4_usize).prop_map(|(text, which)| {
        let body: Vec<String> = (0..20).map(|n| format!("line {n} of {which}")).collect();
        if which == 0 { text } else { body.join("\n") + "\n" + &text }
    })
}

fn lay(dir: &Path, tree: &Tree) {
    for (name, content) in tree {
        let path = dir.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn found(dir: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut left = vec![dir.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(dir).unwrap().as_os_str().as_bytes().to_vec();
                tree.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    tree
}

/// The difference between two trees as git writes it.
fn git_diff(old: &Tree, new: &Tree) -> String {
    let dir = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args([
                "-c",
                "core.autocrlf=false",
                "-c",
                "user.name=n",
                "-c",
                "user.email=e@e",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .current_dir(dir.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    lay(dir.path(), old);
    git(&["add", "-A"]);
    git(&["commit", "-q", "--allow-empty", "-m", "old"]);
    for name in old.keys() {
        fs::remove_file(dir.path().join(OsStr::from_bytes(name))).unwrap();
    }
    lay(dir.path(), new);
    git(&["add", "-A"]);
    git(&["diff", "--cached", "-M"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_git_says_of_a_tree_makes_the_new_tree(old in tree(), new in tree()) {
        prop_assume!(old != new && has("git"));
        let patch = git_diff(&old, &new);
        let desk = Desk::new();
        lay(&desk.ws(""), &old);
        let output = desk.call(&ApplyPatch, json!({ "patch": patch }));
        prop_assert!(output.is_ok(), "{:?}\n{}", output, patch);
        prop_assert_eq!(found(&desk.ws("")), new, "{}", patch);
    }
}
