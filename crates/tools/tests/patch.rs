//! `apply_patch` on real files: what it does, and that nothing is left of what fails.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod desk;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use desk::{Desk, fifo};
use ringfence::guard::{Abort, PathRules};
use ringfence::policy::Effect;
use ringfence_tools::{ApplyPatch, ErrorKind, Output, ToolError};
use serde_json::json;

fn apply(desk: &Desk, patch: &str) -> Result<Output, ToolError> {
    desk.call(&ApplyPatch, json!({ "patch": patch }))
}

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

/// A desk with something on it.
fn laid() -> Desk {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\nthree\n");
    desk.put("b.txt", "b\n");
    desk.put("run.sh", "echo hi\n");
    desk.mode("run.sh", 0o755);
    desk.put("sub/c.txt", "c\n");
    desk.put("twice.txt", "x\ny\nx\n");
    desk.put("bin", b"a\0b\n");
    desk.put(".env", "KEY=1\n");
    desk.link("link", "a.txt");
    desk.link("out", desk.outside("secret.txt"));
    desk.link("dir-out", desk.outside(""));
    fs::hard_link(desk.outside("secret.txt"), desk.ws("hard")).unwrap();
    fifo(&desk.ws("pipe"));
    desk
}

#[test]
fn does_what_the_patch_says() {
    let desk = laid();
    let patch = envelope(
        "*** Add File: new/n.txt\n+new\n*** Update File: a.txt\n@@\n-two\n+2\n*** Delete File: b.txt\n\
         *** Update File: run.sh\n*** Move to: bin2/run.sh\n@@\n-echo hi\n+echo ho\n*** Update File: sub/c.txt\n*** Move to: sub/d.txt\n",
    );
    let output = apply(&desk, &patch).unwrap();
    insta::assert_snapshot!(output.text, @r"
    5 files changed: 3 lines added, 2 lines removed
    add new/n.txt (+1 -0)
    update a.txt (+1 -1)
    delete b.txt (+0 -0)
    move run.sh to bin2/run.sh (+1 -1)
    move sub/c.txt to sub/d.txt (+0 -0)
    ");
    assert_eq!(desk.got("new/n.txt"), b"new\n");
    assert_eq!(desk.got("a.txt"), b"one\n2\nthree\n");
    assert_eq!(desk.got("bin2/run.sh"), b"echo ho\n");
    assert_eq!(fs::metadata(desk.ws("bin2/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(desk.got("sub/d.txt"), b"c\n");
    for gone in ["b.txt", "run.sh", "sub/c.txt"] {
        assert!(!desk.ws(gone).exists(), "{gone}");
    }
    let output = apply(&desk, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-2\n+II\n three\n").unwrap();
    insta::assert_snapshot!(output.text, @r"
    1 file changed: 1 line added, 1 line removed
    update a.txt (+1 -1)
      the hunk on line 3 of the patch was found on line 2 instead of line 1
    ");
    // A link in the workspace is followed to what it leads to, and stays a link.
    apply(&desk, &envelope("*** Update File: link\n@@\n-one\n+1\n")).unwrap();
    assert_eq!(desk.got("a.txt"), b"1\nII\nthree\n");
    assert!(fs::symlink_metadata(desk.ws("link")).unwrap().is_symlink());
    apply(&desk, "--- a/sub/d.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n").unwrap();
    assert!(!desk.ws("sub/d.txt").exists());
}

#[test]
fn modes_and_owners_are_kept() {
    let desk = Desk::new();
    for name in ["u", "m", "r"] {
        desk.put(name, "old\n");
        desk.mode(name, 0o750);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(desk.ws(name), Some(1234), Some(2345)).unwrap();
        }
    }
    let before = fs::metadata(desk.ws("u")).unwrap();
    let body = "*** Update File: u\n@@\n-old\n+new\n*** Update File: m\n*** Move to: d/m2\n@@\n-old\n+new\n\
                *** Update File: r\n*** Move to: d/r2\n";
    apply(&desk, &envelope(body)).unwrap();
    for name in ["u", "d/m2", "d/r2"] {
        let after = fs::metadata(desk.ws(name)).unwrap();
        assert_eq!(
            (after.mode(), after.uid(), after.gid()),
            (before.mode(), before.uid(), before.gid()),
            "{name}"
        );
    }
}

/// Every row fails, and nothing that stood before it in the patch has happened.
#[test]
fn all_or_nothing() {
    use ErrorKind::{
        Binary, Conflict, Malformed, NoMatch, NotFound, NotUnique, OutsideWorkspace, PermissionDenied,
        WrongType,
    };
    let long = format!("*** Update File: b.txt\n*** Move to: deep/{}\n", "x".repeat(300));
    let long_add = format!("*** Add File: deep/er/{}\n+x\n", "x".repeat(300));
    let rows: &[(&str, ErrorKind, &str)] = &[
        ("*** Update File: none\n@@\n-a\n+b\n", NotFound, "none"),
        ("*** Update File: sub\n@@\n-a\n+b\n", WrongType, "directory"),
        ("*** Update File: pipe\n@@\n-a\n+b\n", WrongType, "pipe"),
        ("*** Update File: bin\n@@\n-a\n+b\n", Binary, "NUL"),
        (
            "*** Update File: b.txt\n@@\n-z\n+b\n",
            NoMatch,
            "b.txt: the hunk on line 7 of the patch: its lines are not there",
        ),
        ("*** Update File: twice.txt\n@@\n-x\n+b\n", NotUnique, "any of the lines 1, 3"),
        ("*** Update File: twice.txt\n@@\n+b\n", NotUnique, "does not say where"),
        ("*** Add File: b.txt\n+x\n", Conflict, "b.txt exists already"),
        ("*** Add File: sub\n+x\n", WrongType, "directory"),
        ("*** Add File: b.txt/x\n+x\n", WrongType, "not a directory"),
        ("*** Delete File: none\n", NotFound, "none"),
        ("*** Delete File: sub\n", WrongType, "directory"),
        ("*** Delete File: link\n", WrongType, "link"),
        ("*** Delete File: pipe\n", WrongType, "not a file"),
        ("*** Update File: link\n*** Move to: x\n", WrongType, "link"),
        ("*** Update File: b.txt\n*** Move to: sub/c.txt\n", Conflict, "sub/c.txt exists already"),
        ("*** Update File: b.txt\n*** Move to: b.txt\n", Malformed, "twice"),
        ("*** Update File: ./sub/../a.txt\n@@\n-one\n+1\n", Malformed, "a.txt is in the patch twice"),
        ("*** Update File: link\n@@\n-one\n+1\n", Malformed, "a.txt is in the patch twice"),
        ("*** Delete File: a.txt\n", Malformed, "twice"),
        ("*** Add File: n\n+x\n*** Add File: ./n\n+y\n", Malformed, "twice"),
        ("*** Add File: n\n+x\n*** Add File: n/m\n+y\n", Malformed, "below another file"),
        ("*** Update File: .env\n@@\n-KEY=1\n+KEY=2\n", PermissionDenied, ".env"),
        ("*** Delete File: .env\n", PermissionDenied, ".env"),
        ("*** Update File: b.txt\n*** Move to: .env.local\n", PermissionDenied, ".env.local"),
        ("*** Add File: .git/hooks/pre-commit\n+x\n", PermissionDenied, "hooks"),
        ("*** Update File: hard\n@@\n-SECRET of somebody else\n+x\n", PermissionDenied, "hard"),
        ("*** Update File: out\n@@\n-SECRET of somebody else\n+x\n", OutsideWorkspace, "secret.txt"),
        ("*** Add File: dir-out/x\n+x\n", OutsideWorkspace, ""),
        ("*** Delete File: dir-out/secret.txt\n", OutsideWorkspace, ""),
        ("*** Update File: b.txt\n*** Move to: dir-out/b.txt\n", OutsideWorkspace, ""),
        ("*** Update File: b.txt\n*** Move to: ../b.txt\n", OutsideWorkspace, ""),
        ("*** Add File: /tmp/x\n+x\n", OutsideWorkspace, ""),
        // These fail only when the first file has been changed.
        (
            &long,
            ErrorKind::InvalidArguments,
            "too long; nothing is changed: what had been done before (1) was taken back",
        ),
        (
            &long_add,
            ErrorKind::InvalidArguments,
            "too long; nothing is changed: what had been done before (1) was taken back",
        ),
    ];
    for (body, kind, part) in rows {
        let desk = laid();
        let before = desk.everything();
        let first = "*** Update File: a.txt\n@@\n-two\n+2\n";
        let error = apply(&desk, &envelope(&format!("{first}{body}"))).unwrap_err();
        assert!(error.kind == *kind && error.message.contains(part), "{body}: {error:?}");
        assert_eq!(desk.everything(), before, "{body}");
    }
    for patch in [
        "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n",
        "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\\ No newline at end of file\n",
    ] {
        let desk = laid();
        assert_eq!(apply(&desk, patch).unwrap_err().kind, ErrorKind::NoMatch);
        assert_eq!(desk.got("b.txt"), b"b\n");
    }
}

#[test]
fn limits_hold() {
    let desk = laid();
    let before = desk.everything();
    let many: String = (0..201).map(|n| format!("*** Add File: n{n}\n+x\n")).collect::<Vec<_>>().concat();
    assert_eq!(apply(&desk, &envelope(&many)).unwrap_err().kind, ErrorKind::TooLarge);
    let long = format!("*** Add File: n\n+{}\n", "x".repeat(1_000_000));
    assert_eq!(apply(&desk, &envelope(&long)).unwrap_err().kind, ErrorKind::TooLarge);
    let abort = Abort::new();
    abort.abort();
    let patch = envelope("*** Update File: a.txt\n@@\n-two\n+2\n");
    let error = desk.call_until(&ApplyPatch, json!({ "patch": patch }), &abort).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Aborted);
    let error = apply(&desk, "*** Begin Patch\nnonsense\n").unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::Malformed,
            "line 2 of the patch: expected `*** Add File:`, `*** Update File:`, `*** Delete File:` or `*** End Patch`"
        )
    );
    assert_eq!(desk.everything(), before);
    let many: String = (0..200).map(|n| format!("*** Add File: n{n}\n+x\n")).collect::<Vec<_>>().concat();
    apply(&desk, &envelope(&many)).unwrap();
}

/// A file that may be changed and not read is not moved to where it can be read.
#[test]
fn what_may_not_be_read_is_not_moved() {
    let desk = Desk::with(|config| {
        config.read =
            PathRules { deny: vec!["private/**".to_owned()], allow: vec![], default: Effect::Allow };
    });
    desk.put("private/p", "private\n");
    let before = desk.everything();
    for body in
        ["*** Update File: private/p\n*** Move to: p\n", "*** Update File: private/p\n@@\n-private\n+x\n"]
    {
        let error = apply(&desk, &envelope(body)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::PermissionDenied, "{error:?}");
    }
    assert_eq!(
        apply(&desk, "--- a/private/p\n+++ /dev/null\n@@ -1 +0,0 @@\n-private\n").unwrap_err().kind,
        ErrorKind::PermissionDenied
    );
    assert_eq!(desk.everything(), before);
    apply(&desk, &envelope("*** Delete File: private/p\n")).unwrap();
    assert!(!desk.ws("private/p").exists());
}

#[test]
fn the_nearest_place_is_told() {
    let desk = Desk::new();
    desk.put("f", "fn main() {\n\tlet total = sum(&values);\n}\n");
    let error = apply(&desk, &envelope("*** Update File: f\n@@\n-    let totals = sums(&values);\n+x\n"))
        .unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("line 2 is similar:\n\tlet total = sum(&values);\n"));
}
