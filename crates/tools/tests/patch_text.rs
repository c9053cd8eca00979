//! The text of patches: what is read, what is refused and where, and that nothing panics.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ringfence_tools::patch::{Action, Form, Hunk, Line, Patch, Section, Sign, parse};

fn actions(text: &str) -> Vec<Action> {
    parse(text)
        .unwrap_or_else(|malformed| panic!("{malformed}\n{text}"))
        .sections
        .into_iter()
        .map(|it| it.action)
        .collect()
}

#[test]
fn reads_an_envelope() {
    let text = "*** Begin Patch\n*** Add File: new dir/a.txt\n+one\n+\n+three\n*** Delete File: b.txt\n\
                *** Update File: c.txt\n*** Move to: d.txt\n@@ fn main() {\n a\n-b\n+c\n\n d\n@@\n-x\n*** End of File\n\n*** End Patch\n";
    let patch = parse(text).unwrap();
    insta::assert_debug_snapshot!(patch.sections.iter().map(|section| section.line).collect::<Vec<_>>(), @r"
    [
        2,
        6,
        7,
    ]
    ");
    let line = |sign, text: &str| Line { sign, text: format!("{text}\n") };
    let wanted = [
        Action::Add { path: "new dir/a.txt".into(), content: "one\n\nthree\n".to_owned() },
        Action::Delete { path: "b.txt".into(), content: None },
        Action::Update {
            path: "c.txt".into(),
            to: Some("d.txt".into()),
            hunks: vec![
                Hunk {
                    line: 9,
                    anchors: vec!["fn main() {".to_owned()],
                    start: None,
                    at_end: false,
                    lines: vec![
                        line(Sign::Keep, "a"),
                        line(Sign::Remove, "b"),
                        line(Sign::Add, "c"),
                        line(Sign::Keep, ""),
                        line(Sign::Keep, "d"),
                    ],
                },
                Hunk {
                    line: 15,
                    anchors: vec![],
                    start: None,
                    at_end: true,
                    lines: vec![line(Sign::Remove, "x")],
                },
            ],
        },
    ];
    assert_eq!((patch.form, actions(text).as_slice()), (Form::Envelope, &wanted[..]));
}

#[test]
fn wrappings_come_off() {
    let bare = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    for (before, after) in [
        ("", ""),
        ("\n\n", "\n\n"),
        ("apply_patch <<'EOF'\n", "\nEOF\n"),
        ("<<EOF\n", "\nEOF"),
        ("apply_patch << \"PATCH\"\n", "\nPATCH"),
        ("cat <<-X\n", "\nX\n"),
    ] {
        assert_eq!(actions(&format!("{before}{bare}{after}")), actions(bare), "{before:?}");
    }
    assert_eq!(actions(&bare.replace('\n', "\r\n")), actions(bare));
    assert_eq!(
        parse(&format!("<<EOF\n{bare}\nEOT")).unwrap_err().text,
        "the here-document does not end in `EOF`"
    );
}

#[test]
fn reads_unified_diffs() {
    let update = |path: &str, to: Option<&str>| {
        let hunk = Hunk {
            line: 0,
            anchors: vec![],
            start: Some(0),
            at_end: false,
            lines: vec![
                Line { sign: Sign::Remove, text: "a\n".to_owned() },
                Line { sign: Sign::Add, text: "b\n".to_owned() },
            ],
        };
        Action::Update { path: path.into(), to: to.map(Into::into), hunks: vec![hunk] }
    };
    let add = |path: &str, content: &str| Action::Add { path: path.into(), content: content.to_owned() };
    let delete =
        |path: &str, content: &str| Action::Delete { path: path.into(), content: Some(content.to_owned()) };
    let rows: &[(&str, Vec<Action>)] = &[
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", vec![update("f", None)]),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@ heading\n-a\n+b\n", vec![update("f", None)]),
        (
            "--- a/f\t2026-01-01 10:00\n+++ b/f\t2026-01-01 10:00\n@@ -1,1 +1,1 @@\n-a\n+b\n",
            vec![update("f", None)],
        ),
        ("--- a/f\n+++ a/f\n@@ -1 +1 @@\n-a\n+b\n", vec![update("a/f", None)]),
        (
            "From: me\nSubject: x\n\ntext\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100755\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.43.0\n",
            vec![update("f", None)],
        ),
        (
            "Index: f\n=====\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n\nIndex: g\n=====\n--- g\n+++ g\n@@ -1 +1 @@\n-a\n+b\n",
            vec![update("f", None), update("g", None)],
        ),
        (
            "diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\nindex 1..2 100644\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
            vec![update("f", Some("g"))],
        ),
        (
            "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n",
            vec![Action::Update { path: "f".into(), to: Some("g".into()), hunks: vec![] }],
        ),
        (
            "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n",
            vec![add("n", "x\ny")],
        ),
        (
            "diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
            vec![add("n", "x\n")],
        ),
        ("diff --git a/e e b/e e\nnew file mode 100644\nindex 0000000..e69de29\n", vec![add("e e", "")]),
        (
            "diff --git a/e b/e\ndeleted file mode 100755\nindex e69de29..0000000\ndiff --git a/n b/n\nnew file mode 100644\n",
            vec![delete("e", ""), add("n", "")],
        ),
        ("--- a/o\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-- y\n", vec![delete("o", "x\n- y\n")]),
        (
            "diff --git \"a/\\303\\251\\t\\\"\" \"b/\\303\\251\\t\\\"\"\nnew file mode 100644\n",
            vec![add("\u{e9}\t\"", "")],
        ),
        ("--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n@@ -1 +1 @@\n-a\n+b\n", vec![update("\u{e9}", None)]),
    ];
    for (text, wanted) in rows {
        let mut got = actions(text);
        for action in &mut got {
            if let Action::Update { hunks, .. } = action {
                for hunk in hunks {
                    hunk.line = 0;
                }
            }
        }
        assert_eq!(got, *wanted, "{text}");
    }
    // An empty line is an empty line that stays, where the space was lost.
    let Action::Update { hunks, .. } = &actions("--- f\n+++ f\n@@ -1,3 +1,2 @@\n a\n\n-b\n")[0] else {
        panic!()
    };
    assert_eq!(hunks[0].lines[1], Line { sign: Sign::Keep, text: "\n".to_owned() });
    // Names are bytes.
    let Action::Add { path, .. } = &actions("--- /dev/null\n+++ \"b/n\\377\"\n@@ -0,0 +1 @@\n+x\n")[0] else {
        panic!()
    };
    assert_eq!(path, Path::new(&<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"n\xff")));
}

#[test]
fn says_what_is_wrong_and_where() {
    let rows: &[(&str, usize, &str)] = &[
        ("", 1, "neither an envelope"),
        ("hello\nworld", 1, "neither an envelope"),
        ("*** a\n--- b\n***************\n", 1, "neither an envelope"),
        ("*** Begin Patch\n*** End Patch", 1, "changes nothing"),
        ("*** Begin Patch\n*** Delete File: a\n", 3, "`*** End Patch` is missing"),
        ("*** Begin Patch\n*** Delete File: \n*** End Patch", 2, "name of the file is missing"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", 3, "begins with `+`"),
        ("*** Begin Patch\n*** Add File: a\n+x\n\n+y\n*** End Patch", 5, "begins with `+`"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", 2, "changes nothing"),
        ("*** Begin Patch\n*** Update File: a\n@@\n a\n*** End Patch", 3, "changes nothing"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-a\nb\n*** End Patch", 5, "begins with a space"),
        ("*** Begin Patch\n*** Rename File: a\n*** End Patch", 2, "expected"),
        ("*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore", 4, "something follows"),
        ("@@ -1 +1 @@\n-a\n+b\n", 1, "without the name"),
        ("--- f\n+++ f\n", 1, "changes nothing"),
        ("--- f\n+++ g\n@@ -1 +1 @@\n-a\n+b\n", 1, "names differ"),
        ("--- f\n+++ f\n@@ -1,2 +1 @@\n-a\n+b\n", 6, "ends early: 1 old and 0 new"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n+c\n", 6, "more lines than its header says"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\nzzz\n", 6, "neither a hunk nor a header"),
        ("--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+b\n+c\n", 3, "has no end"),
        ("--- f\n+++ f\n@@ -0,1 +1 @@\n-a\n+b\n", 3, "counted from 1"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n", 4, "no line stands before"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n a\n", 3, "changes nothing"),
        ("--- f\n+++ f\n@@ -99999999999999999999 +1 @@\n-a\n+b\n", 1, "changes nothing"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 1, "name of the file is missing"),
        ("--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", 1, "only lines that begin with `+`"),
        ("--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-a\n b\n", 1, "only lines that begin with `-`"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", 2, "mode of a file is not changed"),
        ("diff --git a/f b/f\nnew file mode 100755\n", 2, "mode 100644"),
        ("diff --git a/f b/f\nnew file mode 120000\n", 2, "mode 100644"),
        ("diff --git a/f b/f\ndeleted file mode 120000\n", 2, "plain files"),
        ("diff --git a/f b/f\nindex 1..2 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", 2, "plain files"),
        ("diff --git a/f b/g\ncopy from f\ncopy to g\n", 2, "not copied"),
        ("diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\n", 3, "binary"),
        ("diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n", 3, "binary"),
        ("Binary files a/f and b/f differ\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", 1, "binary"),
        ("diff --git a/f b/g\nrename from f\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", 1, "belong together"),
        (
            "diff --git a/f b/g\nrename from f\nrename to g\n--- a/h\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
            1,
            "do not agree",
        ),
        (
            "diff --git a/f b/f\nnew file mode 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            1,
            "do not agree",
        ),
        ("--- \"a/\\9\"\n+++ \"b/\\9\"\n@@ -1 +1 @@\n-a\n+b\n", 1, "cannot be read"),
    ];
    for (text, line, part) in rows {
        let malformed = parse(text).expect_err(text);
        assert!(malformed.line == *line && malformed.text.contains(part), "{malformed:?} in\n{text}");
    }
}

/// Reads in time that grows with the text: ten times the text does not take thirty times as long.
#[test]
fn hostile_text_is_read_in_time() {
    let shapes: &[fn(usize) -> String] = &[
        |n| "*** Begin Patch\n*** Update File: a\n".to_owned() + &"\n".repeat(n),
        |n| "*** Begin Patch\n*** Update File: a\n".to_owned() + &"\n+\n".repeat(n / 2),
        |n| "*** Begin Patch\n*** Update File: a\n".to_owned() + &"@@ x\n".repeat(n / 2),
        |n| "--- a\n".repeat(n),
        |n| "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n".repeat(n / 5),
        |n| format!("--- a\n+++ a\n@@ -1,{n} +1,{n} @@\n") + &" \n".repeat(n),
        |n| "diff --git a/x b/x\n".repeat(n),
        |n| format!("diff --git {}\n", "a ".repeat(n)),
        |n| format!("diff --git \"{}\n", "\\\" ".repeat(n)),
    ];
    for (number, shape) in shapes.iter().enumerate() {
        let text = shape(300_000);
        let began = std::time::Instant::now();
        drop(parse(&text));
        assert!(began.elapsed().as_secs() < 10, "shape {number}: {:?}", began.elapsed());
    }
}

/// The seeds of the fuzz target, and small damage to them.
#[test]
fn damaged_seeds_are_read_or_refused() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/patch_text");
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let seed = std::fs::read_to_string(seed.unwrap().path()).unwrap();
        assert!(parse(&seed).is_ok(), "{seed}");
        let lines: Vec<&str> = seed.split_inclusive('\n').collect();
        for at in 0..lines.len() {
            drop(parse(&[&lines[..at], &lines[at + 1..]].concat().concat()));
            drop(parse(&[&lines[..=at], &lines[at..]].concat().concat()));
        }
        for (at, _) in seed.char_indices() {
            drop(parse(&seed[..at]));
            drop(parse(&seed[at..]));
        }
        count += 1;
    }
    assert!(count > 5);
}

fn sign() -> impl Strategy<Value = Sign> {
    prop_oneof![Just(Sign::Keep), Just(Sign::Remove), Just(Sign::Add)]
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = (sign(), "[-+@* \\\\a]{0,6}").prop_map(|(sign, text)| Line { sign, text: text + "\n" });
    let lines = proptest::collection::vec(line, 1..6);
    lines.prop_filter("something changes", |lines| lines.iter().any(|line| line.sign != Sign::Keep))
}

fn path() -> impl Strategy<Value = PathBuf> {
    "[a-z\u{e9}]{1,4}( [a-z]{1,3})?(/[a-z]{1,3})?".prop_map(PathBuf::from)
}

fn content() -> impl Strategy<Value = String> {
    proptest::collection::vec("[-+@* a]{0,5}", 0..4)
        .prop_map(|lines| lines.iter().map(|line| line.clone() + "\n").collect())
}

fn envelope() -> impl Strategy<Value = Vec<Action>> {
    let hunk = (proptest::collection::vec("[a-z]{1,5}", 0..3), any::<bool>(), lines())
        .prop_map(|(anchors, at_end, lines)| Hunk { line: 0, anchors, start: None, at_end, lines });
    let hunks = proptest::collection::vec(hunk, 1..3);
    let action = prop_oneof![
        (path(), content()).prop_map(|(path, content)| Action::Add { path, content }),
        path().prop_map(|path| Action::Delete { path, content: None }),
        (path(), proptest::option::of(path()), hunks).prop_map(|(path, to, hunks)| Action::Update {
            path,
            to,
            hunks
        }),
    ];
    proptest::collection::vec(action, 1..4)
}

fn written(actions: &[Action]) -> String {
    let mut text = "*** Begin Patch\n".to_owned();
    for action in actions {
        match action {
            Action::Add { path, content } => {
                writeln!(text, "*** Add File: {}", path.display()).unwrap();
                content.lines().for_each(|line| writeln!(text, "+{line}").unwrap());
            }
            Action::Delete { path, .. } => writeln!(text, "*** Delete File: {}", path.display()).unwrap(),
            Action::Update { path, to, hunks } => {
                writeln!(text, "*** Update File: {}", path.display()).unwrap();
                if let Some(to) = to {
                    writeln!(text, "*** Move to: {}", to.display()).unwrap();
                }
                for hunk in hunks {
                    if hunk.anchors.is_empty() {
                        text.push_str("@@\n");
                    }
                    hunk.anchors.iter().for_each(|anchor| writeln!(text, "@@ {anchor}").unwrap());
                    hunk.lines.iter().for_each(|line| text.push_str(&signed(line)));
                    if hunk.at_end {
                        text.push_str("*** End of File\n");
                    }
                }
            }
        }
    }
    text + "*** End Patch\n"
}

fn signed(line: &Line) -> String {
    let sign = match line.sign {
        Sign::Keep => ' ',
        Sign::Remove => '-',
        Sign::Add => '+',
    };
    if line.text.ends_with('\n') {
        format!("{sign}{}", line.text)
    } else {
        format!("{sign}{}\n\\ No newline at end of file\n", line.text)
    }
}

fn bare(patch: Patch) -> Vec<Action> {
    let bare = |Section { mut action, .. }: Section| {
        if let Action::Update { hunks, .. } = &mut action {
            for hunk in hunks {
                hunk.line = 0;
            }
        }
        action
    };
    patch.sections.into_iter().map(bare).collect()
}

proptest! {
    #[test]
    fn an_envelope_is_read_as_it_was_written(actions in envelope()) {
        let text = written(&actions);
        let patch = parse(&text);
        prop_assert_eq!(patch.map(bare), Ok(actions), "{}", text);
    }

    #[test]
    fn a_diff_is_read_as_it_was_written(path in path(), hunks in proptest::collection::vec((lines(), 0..50_usize, any::<bool>()), 1..4)) {
        let mut text = format!("--- a/{0}\n+++ b/{0}\n", path.display());
        let mut wanted = Vec::new();
        for (mut lines, start, unended) in hunks {
            if unended {
                lines.last_mut().unwrap().text.pop();
            }
            let count = |other| lines.iter().filter(|line| line.sign != other).count();
            let (old, new) = (count(Sign::Add), count(Sign::Remove));
            let line = if old == 0 { start } else { start + 1 };
            write!(text, "@@ -{line},{old} +1,{new} @@\n{}", lines.iter().map(signed).collect::<String>()).unwrap();
            wanted.push(Hunk { line: 0, anchors: vec![], start: Some(start), at_end: unended, lines });
        }
        let patch = parse(&text);
        prop_assert_eq!(patch.map(bare), Ok(vec![Action::Update { path, to: None, hunks: wanted }]), "{}", text);
    }

    #[test]
    fn no_text_panics(text in "(\\*\\*\\* (Begin|End) Patch\n|\\*\\*\\* (Add|Update|Delete) File: a?\n|\\*\\*\\* End of File\n|@@.{0,4}\n|@@ -[0-3],[0-3] \\+[0-3],[0-3] @@\n|[-+ \\\\]a?\n|--- (a/)?[ab]\n|\\+\\+\\+ (b/|\")?[ab]\n|diff --git .{0,9}\n|rename (from|to) [ab]\n|new file mode 100644\n|\r?\n|<<E\n|E\n|-- \n){0,14}") {
        drop(parse(&text));
    }
}
