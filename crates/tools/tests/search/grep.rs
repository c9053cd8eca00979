//! Results of `grep`.

use ringfence::guard::Abort;
use ringfence_tools::{ErrorKind, Grep};
use serde_json::{Value, json};

use crate::stage::Stage;

const FILES: &[(&str, &str)] = &[
    ("src/lib.rs", "fn main() {\n    let needle = 1;\n}\n"),
    ("src/deep/mod.rs", "// Needle here\nfn needles() {}\n"),
    ("notes.txt", "a needle in a haystack\nneedle needle\nnothing\n"),
    ("data.py", "needle = 'x.y'\n"),
    (".hidden.txt", "needle\n"),
    ("target/out.txt", "needle\n"),
    (".gitignore", "target/\n"),
    (".env", "needle=1\n"),
];

fn places(stage: &Stage, arguments: &Value) -> Vec<String> {
    let data = stage.grep(arguments).data;
    let matches = data["matches"].as_array().unwrap().iter();
    matches.map(|hit| format!("{}:{}", hit["path"].as_str().unwrap(), hit["line"])).collect()
}

#[test]
fn every_parameter_does_what_it_says() {
    let stage = Stage::plant(FILES);
    let rows: &[(Value, &[&str])] = &[
        (
            json!({ "pattern": "needle" }),
            &[
                "data.py:1",
                "notes.txt:1",
                "notes.txt:2",
                "src/deep/mod.rs:1",
                "src/deep/mod.rs:2",
                "src/lib.rs:2",
            ],
        ),
        (json!({ "pattern": "Needle" }), &["src/deep/mod.rs:1"]),
        (json!({ "pattern": "NEEDLE HERE", "case": "insensitive" }), &["src/deep/mod.rs:1"]),
        (json!({ "pattern": "needle h", "case": "sensitive" }), &[]),
        (json!({ "pattern": "needles?\\(", "path": "src" }), &["src/deep/mod.rs:2"]),
        (json!({ "pattern": "x.y", "fixed": true }), &["data.py:1"]),
        (json!({ "pattern": "x.y(", "fixed": true }), &[]),
        (json!({ "pattern": "needle", "word": true, "path": "src/deep" }), &["src/deep/mod.rs:1"]),
        (
            json!({ "pattern": "needle", "glob": "*.rs" }),
            &["src/deep/mod.rs:1", "src/deep/mod.rs:2", "src/lib.rs:2"],
        ),
        (json!({ "pattern": "needle", "glob": ["*.rs", "!deep"] }), &["src/lib.rs:2"]),
        (json!({ "pattern": "needle", "glob": "!src/**" }), &["data.py:1", "notes.txt:1", "notes.txt:2"]),
        (
            json!({ "pattern": "needle", "glob": "deep/*.rs", "path": "src" }),
            &["src/deep/mod.rs:1", "src/deep/mod.rs:2"],
        ),
        (json!({ "pattern": "needle", "glob": ".hidden*" }), &[]),
        (json!({ "pattern": "needle", "glob": ".hidden*", "hidden": true }), &[".hidden.txt:1"]),
        (json!({ "pattern": "needle", "glob": "target/**" }), &[]),
        (json!({ "pattern": "needle", "type": "py" }), &["data.py:1"]),
        (json!({ "pattern": "needle", "type": "!py", "glob": "!src" }), &["notes.txt:1", "notes.txt:2"]),
        (json!({ "pattern": "needle", "type": ["py", "rust"], "path": "src/lib.rs" }), &["src/lib.rs:2"]),
        (json!({ "pattern": "needle", "path": "notes.txt" }), &["notes.txt:1", "notes.txt:2"]),
        (json!({ "pattern": "needle", "path": "notes.txt", "max_per_file": 1 }), &["notes.txt:1"]),
        (
            json!({ "pattern": "needle", "glob": "*.txt", "hidden": true }),
            &[".hidden.txt:1", "notes.txt:1", "notes.txt:2"],
        ),
        (json!({ "pattern": "^needle$", "no_ignore": true }), &["target/out.txt:1"]),
        (
            json!({ "pattern": "^needle", "hidden": true, "no_ignore": true }),
            &[".hidden.txt:1", "data.py:1", "notes.txt:2", "target/out.txt:1"],
        ),
        (json!({ "pattern": "haystack\\nneedle", "multiline": true }), &["notes.txt:1"]),
        (json!({ "pattern": "needle", "limit": 2 }), &["data.py:1", "notes.txt:1"]),
        (json!({ "pattern": "needle", "limit": 2, "offset": 2 }), &["notes.txt:2", "src/deep/mod.rs:1"]),
        (json!({ "pattern": "needle", "limit": 2, "offset": 5 }), &["src/lib.rs:2"]),
        (json!({ "pattern": "needle", "limit": 2, "offset": 50 }), &[]),
        (json!({ "pattern": "needle", "context": 0, "path": "src/lib.rs" }), &["src/lib.rs:2"]),
        (
            json!({ "pattern": "needle", "context": 1, "path": "src/lib.rs" }),
            &["src/lib.rs:1", "src/lib.rs:2", "src/lib.rs:3"],
        ),
        (
            json!({ "pattern": "needle", "before": 1, "path": "src/lib.rs" }),
            &["src/lib.rs:1", "src/lib.rs:2"],
        ),
        (json!({ "pattern": "needle", "after": 9, "path": "src/lib.rs" }), &["src/lib.rs:2", "src/lib.rs:3"]),
    ];
    for (arguments, expected) in rows {
        assert_eq!(places(&stage, arguments), *expected, "{arguments}");
    }
}

#[test]
fn what_a_model_reads() {
    let stage = Stage::plant(FILES);
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "needle", "limit": 3 })).text, @r"
    [matches 1 to 3 of 6; go on with offset: 3]
    [6 matches in 4 files; 4 files searched]
    data.py:1:needle = 'x.y'
    notes.txt:1:a needle in a haystack
    notes.txt:2:needle needle
    ");
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "needle", "glob": "*.{rs,txt}", "context": 1 })).text, @r"
    [5 matches in 3 files; 3 files searched]
    notes.txt:1:a needle in a haystack
    notes.txt:2:needle needle
    notes.txt-3-nothing
    --
    src/deep/mod.rs:1:// Needle here
    src/deep/mod.rs:2:fn needles() {}
    --
    src/lib.rs-1-fn main() {
    src/lib.rs:2:    let needle = 1;
    src/lib.rs-3-}
    ");
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "needle", "mode": "files" })).text, @r"
    [4 files; 4 files searched]
    data.py
    notes.txt
    src/deep/mod.rs
    src/lib.rs
    ");
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "needle", "mode": "count", "limit": 2 })).text, @r"
    [files 1 to 2 of 4; go on with offset: 2]
    [6 matches in 4 files; 4 files searched]
    data.py:1
    notes.txt:2
    ");
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "absent" })).text, @r"
    no match
    [0 matches in 0 files; 4 files searched]
    ");
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "haystack\\nneedle", "multiline": true })).text, @r"
    [1 match in 1 file; 4 files searched]
    notes.txt:1:a needle in a haystack
    notes.txt:2:needle needle
    ");
}

#[test]
fn what_a_program_reads() {
    let stage = Stage::plant(&[("a.txt", "x\n\tthe needle, needle\n")]);
    let data = stage.grep(&json!({ "pattern": "needle", "before": 1 })).data;
    let expected = json!({
        "matches": [
            { "path": "a.txt", "line": 1, "text": "x", "context": true },
            {
                "path": "a.txt", "line": 2, "column": 6, "text": "\tthe needle, needle",
                "submatches": [
                    { "start": 5, "end": 11, "text": "needle" },
                    { "start": 13, "end": 19, "text": "needle" },
                ],
            },
        ],
        "total_matches": 1,
        "files_with_matches": 1,
        "files_searched": 1,
        "files_left_out": { "binary": 0, "unread": 0, "linked_elsewhere": 0 },
        "directories_left_out": 0,
        "truncated": false,
        "next_offset": null,
    });
    assert_eq!(data, expected);
}

#[test]
fn what_is_wrong_is_told() {
    let stage = Stage::plant(FILES);
    let rows: &[(Value, ErrorKind, &str, &str)] = &[
        (json!({ "pattern": "a(b" }), ErrorKind::Malformed, "at character 2: unclosed group", "fixed"),
        (json!({ "pattern": "ä[z-a]" }), ErrorKind::Malformed, "at character 3", "fixed"),
        (json!({ "pattern": "a\\nb" }), ErrorKind::Malformed, "the pattern cannot be read", "multiline"),
        (
            json!({ "pattern": "((a{500}){500}){500}" }),
            ErrorKind::Malformed,
            "the pattern cannot be read",
            "fixed",
        ),
        (json!({ "pattern": "x".repeat(20_000) }), ErrorKind::Malformed, "longer than", ""),
        (json!({ "pattern": "x", "glob": "a[" }), ErrorKind::Malformed, "`glob`", "**"),
        (json!({ "pattern": "x", "type": "klingon" }), ErrorKind::InvalidArguments, "klingon", "ripgrep"),
        (json!({ "pattern": "x", "limit": 1_000_000 }), ErrorKind::InvalidArguments, "20000", "narrow"),
        (json!({ "pattern": "x", "mode": "lines" }), ErrorKind::InvalidArguments, "lines", "schema"),
        (json!({ "pattern": "x", "colour": true }), ErrorKind::InvalidArguments, "colour", "schema"),
        (json!({}), ErrorKind::InvalidArguments, "pattern", "schema"),
        (json!({ "pattern": "x", "path": "absent" }), ErrorKind::NotFound, "absent", "find"),
        (json!({ "pattern": "x", "path": "../out" }), ErrorKind::OutsideWorkspace, "out", ""),
        (json!({ "pattern": "x", "path": "/etc" }), ErrorKind::OutsideWorkspace, "/etc", ""),
        (json!({ "pattern": "x", "path": ".env" }), ErrorKind::PermissionDenied, ".env", ""),
        (json!({ "pattern": "x", "path": "" }), ErrorKind::InvalidArguments, "empty", ""),
        (json!({ "pattern": "x", "path": "a\0b" }), ErrorKind::InvalidArguments, "NUL", ""),
    ];
    for (arguments, kind, message, hint) in rows {
        let error = stage.call(&Grep, arguments, &Abort::new()).unwrap_err();
        assert_eq!(error.kind, *kind, "{arguments} {error:?}");
        assert!(error.message.contains(message), "{arguments} {error:?}");
        assert!(error.hint.unwrap_or_default().contains(hint), "{arguments}");
    }
}

#[test]
fn a_call_that_is_called_off_ends() {
    let stage = Stage::plant(FILES);
    let abort = Abort::new();
    abort.abort();
    let error = stage.call(&Grep, &json!({ "pattern": "needle" }), &abort).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Aborted);
}

#[test]
fn binary_files_and_those_in_other_encodings() {
    let stage = Stage::plant(&[("a.txt", "needle\n")]);
    stage.write("binary", b"needle\n\0\n");
    let mut late = b"needle\n".to_vec();
    late.resize(200_000, b'x');
    late.push(0);
    stage.write("late-binary", &late);
    stage.write("latin1.txt", b"caf\xe9 needle\n");
    let utf16: Vec<u8> = "\u{feff}a needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    stage.write("utf16.txt", &utf16);
    stage.write("escape.txt", b"needle \x1b[31mred\x07\n");
    stage.write("empty", b"");
    insta::assert_snapshot!(stage.grep(&json!({ "pattern": "needle" })).text, @r"
    [4 matches in 4 files; 5 files searched]
    [2 binary files were left out]
    a.txt:1:needle
    escape.txt:1:needle \u{1b}[31mred\u{7}
    latin1.txt:1:caf\xe9 needle
    utf16.txt:1:a needle
    ");
}

#[test]
fn a_long_result_is_the_same_each_time() {
    let stage = Stage::plant(&[]);
    for number in 0..500 {
        stage.write(&format!("d{}/f{number:03}.txt", number % 7), b"needle\nx\nneedle\n");
    }
    let first = stage.grep(&json!({ "pattern": "needle", "limit": 50, "offset": 20 }));
    for _ in 0..5 {
        assert_eq!(stage.grep(&json!({ "pattern": "needle", "limit": 50, "offset": 20 })), first);
    }
    assert_eq!(first.data["total_matches"], 1000);
    assert_eq!(first.data["next_offset"], 70);
    // All pages together are the whole.
    let all = places(&stage, &json!({ "pattern": "needle", "limit": 2000 }));
    let mut pages = Vec::new();
    while pages.len() < all.len() {
        pages.extend(places(&stage, &json!({ "pattern": "needle", "limit": 333, "offset": pages.len() })));
    }
    assert_eq!(pages, all);
    assert!(all.is_sorted());
}

#[test]
fn one_call_is_one_decision_on_what_was_asked() {
    let stage = Stage::plant(FILES);
    stage.sink.take();
    stage.grep(&json!({ "pattern": "needle", "path": "src" }));
    // The second is for what is ignored above.
    assert_eq!(stage.sink.take(), ["read src allow", "read . allow"]);
    for path in [".", "notes.txt"] {
        stage.grep(&json!({ "pattern": "needle", "path": path }));
        assert_eq!(stage.sink.take(), [format!("read {path} allow")]);
    }
}
