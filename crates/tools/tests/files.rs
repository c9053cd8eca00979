//! `read`, `write` and `edit` on real files: one row for each thing that they promise.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod desk;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;

use desk::{Desk, fifo};
use ringfence::guard::{Abort, PathRules};
use ringfence::policy::Effect;
use ringfence_tools::{AnyTool, Edit, ErrorKind, Output, Read, ToolError, Write};
use serde_json::{Value, json};

fn read(desk: &Desk, arguments: Value) -> Result<Output, ToolError> {
    desk.call(&Read, arguments)
}

fn text(desk: &Desk, arguments: Value) -> String {
    read(desk, arguments).unwrap().text
}

#[test]
fn read_returns_numbered_lines_and_how_to_go_on() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\nthree\n");
    insta::assert_snapshot!(text(&desk, json!({ "path": "a.txt" })), @r"
    [a.txt: 3 lines, 14 bytes]
         1	one
         2	two
         3	three
    ");
    insta::assert_snapshot!(text(&desk, json!({ "path": "a.txt", "offset": 2, "limit": 1 })), @r"
    [a.txt: lines 2-2 of 3, 14 bytes; continue with offset 3]
         2	two
    ");
    insta::assert_snapshot!(text(&desk, json!({ "path": "./a.txt", "offset": 3, "numbered": false })), @r"
    [a.txt: lines 3-3 of 3, 14 bytes]
    three
    ");
    let data = read(&desk, json!({ "path": "a.txt", "limit": 2 })).unwrap().data;
    assert_eq!(
        (&data["content"], &data["next"], &data["lines"]),
        (&json!("one\ntwo\n"), &json!(3), &json!(3))
    );
    let lines: String = (1..=2500).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    desk.put("long.txt", &lines);
    let long = read(&desk, json!({ "path": "long.txt" })).unwrap();
    assert!(long.text.starts_with("[long.txt: lines 1-2000 of 2500, "), "{}", &long.text[..80]);
    assert_eq!(long.data["next"], json!(2001));
    let rest = read(&desk, json!({ "path": "long.txt", "offset": 2001 })).unwrap();
    assert_eq!(rest.data["next"], Value::Null);
    assert_eq!(
        format!("{}{}", long.data["content"].as_str().unwrap(), rest.data["content"].as_str().unwrap()),
        lines
    );
}

#[test]
fn read_says_what_is_unusual() {
    let utf16: Vec<u8> = "\u{feff}h\u{e9}\n\u{1f600}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let rows: &[(&[u8], &str)] = &[
        (b"", "[f: the file is empty]"),
        (b"\n", "[f: 1 line, 1 byte]\n     1\t"),
        (b"a", "[f: 1 line, 1 byte; no line end at the end]\n     1\ta"),
        (b"a\r\nb\r\n", "[f: 2 lines, 6 bytes; lines end in CRLF]\n     1\ta\n     2\tb"),
        (b"a\r\nb\n", "[f: 2 lines, 5 bytes; some lines end in CRLF, some in LF]\n     1\ta\n     2\tb"),
        (b"\xef\xbb\xbfx\n", "[f: 1 line, 5 bytes; UTF-8 with a byte order mark]\n     1\tx"),
        (&utf16, "[f: 2 lines, 14 bytes; UTF-16, little-endian]\n     1\th\u{e9}\n     2\t\u{1f600}"),
    ];
    for (content, wanted) in rows {
        let desk = Desk::new();
        desk.put("f", content);
        assert_eq!(text(&desk, json!({ "path": "f" })), *wanted);
    }
    let desk = Desk::new();
    desk.put("late", [&b"x\n".repeat(5000)[..], b"b\xffd\n"].concat());
    let late = text(&desk, json!({ "path": "late", "offset": 5001 }));
    assert!(
        late.contains("not text are shown as \u{fffd}, on 1 of the lines") && late.ends_with("b\u{fffd}d"),
        "{late}"
    );
    desk.put("wide", format!("{}\nshort\n", "\u{e9}".repeat(3000)));
    let wide = text(&desk, json!({ "path": "wide" }));
    assert!(
        wide.contains(&format!("\t{} [cut: the line has 6000 bytes]\n     2\tshort", "\u{e9}".repeat(2000)))
    );
    desk.put("much", ("z".repeat(1999) + "\n").repeat(100));
    let much = read(&desk, json!({ "path": "much" })).unwrap();
    assert_eq!(
        (&much.data["last"], &much.data["next"], &much.data["lines"]),
        (&json!(44), &json!(45), &json!(100))
    );
}

#[test]
fn read_refuses_what_is_no_text() {
    let desk = Desk::new();
    desk.put("doc.pdf", b"%PDF-1.7\n...");
    desk.put("prog", b"\x7fELF\x02\x01\x01\0\0");
    desk.put("latin.txt", b"caf\xe9\n");
    desk.put("d/inside", "x");
    desk.put("short", "1\n2\n");
    fifo(&desk.ws("pipe"));
    let _socket = UnixListener::bind(desk.ws("socket")).unwrap();
    let rows: &[(Value, ErrorKind, &str)] = &[
        (json!({ "path": "doc.pdf" }), ErrorKind::Binary, "a PDF document, 12 bytes"),
        (json!({ "path": "prog" }), ErrorKind::Binary, "an ELF program or library, 9 bytes"),
        (json!({ "path": "latin.txt" }), ErrorKind::Binary, "older encoding, 5 bytes"),
        (json!({ "path": "d" }), ErrorKind::WrongType, "it is a directory"),
        (json!({ "path": "." }), ErrorKind::WrongType, "it is a directory"),
        (json!({ "path": "pipe" }), ErrorKind::WrongType, "pipe"),
        (json!({ "path": "socket" }), ErrorKind::WrongType, "socket"),
        (json!({ "path": "none" }), ErrorKind::NotFound, "no such file"),
        (json!({ "path": "" }), ErrorKind::InvalidArguments, "empty"),
        (json!({ "path": "a\u{0}b" }), ErrorKind::InvalidArguments, "NUL"),
        (
            json!({ "path": "short", "offset": 3 }),
            ErrorKind::InvalidArguments,
            "has 2 lines, and offset 3 lies beyond its end",
        ),
        (json!({ "path": "short", "offset": 0 }), ErrorKind::InvalidArguments, "counted from 1"),
        (json!({ "path": "short", "limit": 0 }), ErrorKind::InvalidArguments, "`limit` is 0"),
        (json!({ "path": "short", "offset": -1 }), ErrorKind::InvalidArguments, "do not fit"),
        (json!({ "path": "short", "ofset": 1 }), ErrorKind::InvalidArguments, "unknown field"),
        (json!({ "path": "/dev/zero" }), ErrorKind::OutsideWorkspace, ""),
    ];
    for (arguments, kind, wanted) in rows {
        let error = read(&desk, arguments.clone()).unwrap_err();
        assert!(error.kind == *kind && error.message.contains(wanted), "{arguments}: {error:?}");
    }
    assert!(read(&desk, json!({ "path": "d" })).unwrap_err().hint.unwrap().contains("`ls`"));
}

#[test]
fn read_returns_images() {
    let desk = Desk::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x2c\0\0\0\xc8\x08\x06";
    desk.put("i.png", png);
    let image = read(&desk, json!({ "path": "i.png" })).unwrap();
    assert_eq!(image.text, "[i.png: an image, image/png, 300 x 200 pixels, 26 bytes]");
    let wanted = json!({
        "kind": "image", "path": "i.png", "mime": "image/png", "size": 26, "width": 300, "height": 200,
        "base64": "iVBORw0KGgoAAAANSUhEUgAAASwAAADICAY=",
    });
    assert_eq!(image.data, wanted);
    desk.put("big.png", [&png[..], &vec![0; 5_000_000]].concat());
    let error = read(&desk, json!({ "path": "big.png" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
}

#[test]
fn read_keeps_little_of_a_huge_file() {
    let desk = Desk::new();
    let path = desk.put("huge", format!("first\n{}", "text ".repeat(2000)));
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2 << 30).unwrap();
    let before = peak();
    let huge = read(&desk, json!({ "path": "huge" })).unwrap();
    assert!(
        huge.text.starts_with("[huge: lines 1-2, 2147483648 bytes; more follow, too many to count"),
        "{}",
        &huge.text[..200]
    );
    let error = read(&desk, json!({ "path": "huge", "offset": 3 })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error:?}");
    // Of 2 GiB. Other tests of the same process add to the peak.
    assert!(peak() - before < 64 << 10, "{} kB more", peak() - before);
    let abort = Abort::new();
    abort.abort();
    let error = desk.call_until(&Read, json!({ "path": "huge" }), &abort).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Aborted);
    // Nothing but zeros, and no end in sight.
    fs::File::create(desk.ws("zeros")).unwrap().set_len(2 << 30).unwrap();
    assert_eq!(read(&desk, json!({ "path": "zeros" })).unwrap_err().kind, ErrorKind::Binary);
}

/// The most memory that this process ever had, in kB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn read_ends_although_the_file_grows() {
    let desk = Desk::new();
    let path = desk.put("log", "line\n".repeat(100_000));
    let stop = Abort::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = fs::OpenOptions::new().append(true).open(&path).unwrap();
            while !stop.is_aborted() {
                std::io::Write::write_all(&mut log, b"more\n").unwrap();
            }
        });
        for _ in 0..20 {
            let log = read(&desk, json!({ "path": "log", "offset": 100_000, "limit": 1 })).unwrap();
            assert!(log.text.ends_with("100000\tline"), "{}", log.text);
        }
        stop.abort();
    });
}

#[test]
fn the_policy_holds_for_every_tool() {
    let desk = Desk::new();
    desk.put("a.txt", "in here\n");
    desk.put(".env", "KEY=1\n");
    desk.link("in", "a.txt");
    desk.link("out", desk.outside("secret.txt"));
    desk.link("dir-out", desk.outside(""));
    desk.link("dangling", desk.outside("new.txt"));
    desk.link("env", ".env");
    fs::hard_link(desk.outside("secret.txt"), desk.ws("hard")).unwrap();
    let denied: &[(&str, ErrorKind, bool)] = &[
        ("out", ErrorKind::OutsideWorkspace, true),
        ("dir-out/secret.txt", ErrorKind::OutsideWorkspace, true),
        ("../out/secret.txt", ErrorKind::OutsideWorkspace, true),
        ("dangling", ErrorKind::OutsideWorkspace, true),
        ("dir-out/new/x", ErrorKind::OutsideWorkspace, true),
        ("/etc/hostname", ErrorKind::OutsideWorkspace, true),
        (".env", ErrorKind::PermissionDenied, true),
        ("env", ErrorKind::PermissionDenied, true),
        (".git/hooks/pre-commit", ErrorKind::PermissionDenied, true),
        // A name for something that may be elsewhere is read, and not written without asking.
        ("hard", ErrorKind::PermissionDenied, false),
    ];
    let before = desk.everything();
    for (path, kind, also_read) in denied {
        let calls: [(&dyn AnyTool, Value); 3] = [
            (&Read, json!({ "path": path })),
            (&Write, json!({ "path": path, "content": "x" })),
            (&Edit, json!({ "path": path, "old": "SECRET", "new": "x" })),
        ];
        for (tool, arguments) in calls.into_iter().skip(usize::from(!also_read)) {
            let error = desk.call(tool, arguments).unwrap_err();
            assert!(error.kind == *kind && error.code.is_some(), "{} {path}: {error:?}", tool.name());
        }
        assert!(*also_read || text(&desk, json!({ "path": path })).contains("SECRET"));
    }
    assert_eq!(desk.everything(), before);
    assert!(text(&desk, json!({ "path": "in" })).starts_with("[a.txt: 1 line"));
    desk.call(&Edit, json!({ "path": "in", "old": "in", "new": "out" })).unwrap();
    assert_eq!(desk.got("a.txt"), b"out here\n");
    assert!(fs::symlink_metadata(desk.ws("in")).unwrap().is_symlink());
}

/// JSON has no way to write a name that is not UTF-8, so such files are out of reach; what looks like an attempt stays text.
#[test]
fn names_that_are_not_text_cannot_be_written() {
    use std::os::unix::ffi::OsStrExt as _;
    let desk = Desk::new();
    fs::write(desk.ws("").join(std::ffi::OsStr::from_bytes(b"n\xff")), "x").unwrap();
    for path in ["n\u{fffd}", "n\\xff", "n%ff"] {
        assert_eq!(read(&desk, json!({ "path": path })).unwrap_err().kind, ErrorKind::NotFound, "{path}");
    }
    let error = read(&desk, json!({ "path": "a\u{1b}[2J\u{202e}b" })).unwrap_err();
    assert_eq!(error.message, r"a\u{1b}[2J\u{202e}b: there is no such file or directory");
}

#[test]
fn write_says_what_it_did() {
    let desk = Desk::new();
    let write = |arguments: Value| desk.call(&Write, arguments).map(|output| output.text);
    let rows: &[(Value, &str)] = &[
        (json!({ "path": "d/e/n.txt", "content": "a\nb\n" }), "created d/e/n.txt: 4 bytes, 2 lines"),
        (
            json!({ "path": "d/e/n.txt", "content": "a\nb\n" }),
            "d/e/n.txt has this content already: nothing was written (4 bytes, 2 lines)",
        ),
        (
            json!({ "path": "d/e/n.txt", "content": "a\nc\nd" }),
            "replaced d/e/n.txt: 5 bytes, 3 lines; 2 lines added, 1 line removed",
        ),
        (
            json!({ "path": "d/e/n.txt", "content": "" }),
            "replaced d/e/n.txt: 0 bytes, 0 lines; 0 lines added, 3 lines removed",
        ),
        (json!({ "path": "e.txt", "content": "", "create_only": true }), "created e.txt: 0 bytes, 0 lines"),
    ];
    for (arguments, wanted) in rows {
        assert_eq!(write(arguments.clone()).unwrap(), *wanted);
    }
    desk.put("b", b"\xff\0");
    assert_eq!(write(json!({ "path": "b", "content": "x" })).unwrap(), "replaced b: 1 byte, 1 line");
    assert_eq!(desk.got("b"), b"x");
}

#[test]
fn write_does_not_touch_a_file_that_has_the_content_already() {
    let desk = Desk::new();
    let path = desk.put("a", "same");
    let before = fs::metadata(&path).unwrap();
    let output = desk.call(&Write, json!({ "path": "a", "content": "same" })).unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(output.data["done"], "unchanged");
    assert_eq!((before.ino(), before.ctime_nsec()), (after.ino(), after.ctime_nsec()));
}

#[test]
fn write_holds_what_was_expected() {
    type Row<'a> = (Value, Result<(), (ErrorKind, &'a str)>);
    let sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let rows: &[Row<'_>] = &[
        (json!({ "path": "a", "content": "x", "expected_sha256": sha }), Ok(())),
        (json!({ "path": "a", "content": "x", "expected_sha256": sha.to_uppercase() }), Ok(())),
        (
            json!({ "path": "a", "content": "x", "expected_sha256": "0".repeat(64) }),
            Err((ErrorKind::Conflict, sha)),
        ),
        (
            json!({ "path": "a", "content": "x", "expected_sha256": "abc" }),
            Err((ErrorKind::InvalidArguments, "64")),
        ),
        (
            json!({ "path": "new", "content": "x", "expected_sha256": sha }),
            Err((ErrorKind::Conflict, "does not exist")),
        ),
        (
            json!({ "path": "a", "content": "x", "create_only": true }),
            Err((ErrorKind::Conflict, "exists already")),
        ),
        (json!({ "path": "a", "content": "x".repeat(10_000_001) }), Err((ErrorKind::TooLarge, "10000001"))),
        (json!({ "path": "d", "content": "x" }), Err((ErrorKind::WrongType, "directory"))),
        (json!({ "path": "d/", "content": "x" }), Err((ErrorKind::WrongType, "directory"))),
        (json!({ "path": "new/", "content": "x" }), Err((ErrorKind::NotFound, ""))),
        (json!({ "path": "a/b", "content": "x" }), Err((ErrorKind::WrongType, "not a directory"))),
        (json!({ "path": "pipe", "content": "x" }), Err((ErrorKind::WrongType, "pipe"))),
        (json!({ "path": "a" }), Err((ErrorKind::InvalidArguments, "content"))),
        (
            json!({ "path": "a", "content": "x", "expected_sha": sha }),
            Err((ErrorKind::InvalidArguments, "expected_sha")),
        ),
    ];
    for (arguments, wanted) in rows {
        let desk = Desk::new();
        desk.put("a", "abc");
        desk.put("d/x", "");
        fifo(&desk.ws("pipe"));
        let before = desk.everything();
        match (desk.call(&Write, arguments.clone()), wanted) {
            (Ok(_), Ok(())) => assert_eq!(desk.got("a"), b"x", "{arguments}"),
            (Err(error), Err((kind, part))) => {
                assert!(
                    error.kind == *kind && error.message.contains(part),
                    "{}: {error:?}",
                    arguments["path"]
                );
                assert_eq!(desk.everything(), before, "{}", arguments["path"]);
            }
            (got, _) => panic!("{}: {got:?}", arguments["path"]),
        }
    }
}

/// A tool that may write and not read learns nothing about the file, not even how much changed.
#[test]
fn write_tells_nothing_that_may_not_be_read() {
    for default in [Effect::Deny, Effect::Ask] {
        let desk = Desk::with(|config| config.read = PathRules { deny: vec![], allow: vec![], default });
        desk.put("a", "old\n");
        let output = desk.call(&Write, json!({ "path": "a", "content": "new\n" })).unwrap();
        assert_eq!(output.text, "replaced a: 4 bytes, 1 line");
        let output = desk.call(&Write, json!({ "path": "a", "content": "new\n" })).unwrap();
        assert_eq!((&output.data["done"], desk.asked()), (&json!("replaced"), 0));
        let sha = "7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c";
        let error =
            desk.call(&Write, json!({ "path": "a", "content": "x", "expected_sha256": sha })).unwrap_err();
        assert_eq!(error.kind, ErrorKind::PermissionDenied);
        let error = desk.call(&Edit, json!({ "path": "a", "old": "n", "new": "x" })).unwrap_err();
        assert_eq!(error.kind, ErrorKind::PermissionDenied);
    }
}

#[test]
fn modes_and_owners_are_kept() {
    for mode in [0o755, 0o640, 0o600, 0o644] {
        let desk = Desk::new();
        for name in ["w", "e"] {
            desk.put(name, "old");
            desk.mode(name, mode);
            if rustix::process::geteuid().is_root() {
                std::os::unix::fs::chown(desk.ws(name), Some(1234), Some(2345)).unwrap();
            }
        }
        let before = ["w", "e"].map(|name| fs::metadata(desk.ws(name)).unwrap());
        desk.call(&Write, json!({ "path": "w", "content": "new" })).unwrap();
        desk.call(&Edit, json!({ "path": "e", "old": "old", "new": "new" })).unwrap();
        for (name, before) in ["w", "e"].into_iter().zip(before) {
            let after = fs::metadata(desk.ws(name)).unwrap();
            assert_eq!(after.permissions().mode() & 0o7777, mode, "{name}");
            assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{name}");
            assert_eq!(desk.got(name), b"new");
        }
    }
}

#[test]
fn edit_changes_what_it_is_told_to() {
    type Row<'a> = (&'a str, Value, &'a str);
    let rows: &[Row<'_>] = &[
        ("a b c", json!({ "old": "b", "new": "x" }), "a x c"),
        ("a b c", json!({ "old_string": "b", "new_string": "x" }), "a x c"),
        ("a b c", json!({ "oldText": "b", "newText": "" }), "a  c"),
        ("b b", json!({ "old": "b", "new": "x", "replace_all": true }), "x x"),
        ("b b", json!({ "edits": [{ "old": "b", "new": "x", "replaceAll": true }] }), "x x"),
        ("a b", json!({ "edits": [{ "old": "a", "new": "b" }, { "old": "b b", "new": "c" }] }), "c"),
        ("a\r\nb\r\n", json!({ "old": "a\nb", "new": "x\ny" }), "x\r\ny\r\n"),
        ("\u{feff}a\n", json!({ "old": "a", "new": "b" }), "\u{feff}b\n"),
        ("", json!({ "old": "", "new": "filled" }), "filled"),
        ("\u{feff}", json!({ "old": "", "new": "filled" }), "\u{feff}filled"),
    ];
    for (content, arguments, wanted) in rows {
        let desk = Desk::new();
        desk.put("f", content);
        desk.call(&Edit, with_path(arguments)).unwrap();
        assert_eq!(String::from_utf8(desk.got("f")).unwrap(), *wanted, "{arguments}");
    }
    let desk = Desk::new();
    let made = desk.call(&Edit, json!({ "path": "d/f", "old": "", "new": "made\n" })).unwrap();
    insta::assert_snapshot!(made.text, @"
    created d/f: 1 replacement, 1 line added, 0 lines removed
    --- /dev/null
    +++ d/f
    @@ -0,0 +1,1 @@
    +made
    ");
    let edited = desk.call(&Edit, json!({ "path": "d/f", "old": "made", "new": "made\nagain" })).unwrap();
    insta::assert_snapshot!(edited.text, @"
    edited d/f: 1 replacement, 1 line added, 0 lines removed
    --- d/f
    +++ d/f
    @@ -1,1 +1,2 @@
     made
    +again
    ");
}

fn with_path(arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["path"] = json!("f");
    arguments
}

#[test]
fn edit_is_all_or_nothing() {
    use ErrorKind::{Binary, InvalidArguments, NoMatch, NotUnique};
    type Row<'a> = (&'a [u8], Value, ErrorKind, &'a str, &'a str);
    let rows: &[Row<'_>] = &[
        (b"a\nb\n", json!({ "old": "c", "new": "x" }), NoMatch, "f: `old` is not there", "nothing similar"),
        (
            b"a\nb\n",
            json!({ "edits": [{ "old": "a", "new": "x" }, { "old": "a", "new": "y" }] }),
            NoMatch,
            "edit 2: f: `old` is not there",
            "",
        ),
        (
            b"b\na\nb b\n",
            json!({ "old": "b", "new": "x" }),
            NotUnique,
            "`old` is there 3 times, on lines 1, 3",
            "replace_all",
        ),
        (b"aaa", json!({ "old": "aa", "new": "x" }), NotUnique, "2 times, on line 1", ""),
        (
            b"\tlet x = 1;\n",
            json!({ "old": "    let x = 1;", "new": "" }),
            NoMatch,
            "not there",
            "line 1 is similar (the file is indented with tabs, not with spaces):\n\tlet x = 1;",
        ),
        (
            b"\tlet x = 1;\n",
            json!({ "old": "     1\t\tlet x = 1;", "new": "" }),
            NoMatch,
            "",
            "leave out the numbers",
        ),
        (b"a", json!({ "old": "a", "new": "a" }), InvalidArguments, "are the same", ""),
        (b"a", json!({ "old": "", "new": "a" }), InvalidArguments, "`old` is empty", "`write`"),
        (b"", json!({ "old": "", "new": "" }), InvalidArguments, "", ""),
        (b"a", json!({ "old": "a" }), InvalidArguments, "belong together", ""),
        (b"a", json!({}), InvalidArguments, "nothing to do", ""),
        (b"a", json!({ "edits": [] }), InvalidArguments, "nothing to do", ""),
        (
            b"a",
            json!({ "old": "a", "new": "b", "edits": [{ "old": "a", "new": "b" }] }),
            InvalidArguments,
            "not both",
            "",
        ),
        (b"a\0b", json!({ "old": "a", "new": "x" }), Binary, "NUL", ""),
        (b"a\xff", json!({ "old": "a", "new": "x" }), Binary, "byte 1 is not UTF-8", ""),
        (b"a", json!({ "old": "a", "new": "b", "all": true }), InvalidArguments, "unknown field", ""),
    ];
    for (content, arguments, kind, message, hint) in rows {
        let desk = Desk::new();
        desk.put("f", content);
        let before = (desk.everything(), fs::metadata(desk.ws("f")).unwrap().ino());
        let error = desk.call(&Edit, with_path(arguments)).unwrap_err();
        assert!(error.kind == *kind && error.message.contains(message), "{arguments}: {error:?}");
        assert!(error.hint.as_deref().unwrap_or("").contains(hint), "{arguments}: {error:?}");
        assert_eq!((desk.everything(), fs::metadata(desk.ws("f")).unwrap().ino()), before, "{arguments}");
    }
    let desk = Desk::new();
    let error = desk.call(&Edit, json!({ "path": "none", "old": "a", "new": "b" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    desk.put("f", "x".repeat(10_000_001));
    let error = desk.call(&Edit, json!({ "path": "f", "old": "a", "new": "b" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    desk.put("f", "a");
    let edits = json!([{ "old": "a", "new": "b" }, { "old": "b", "new": "a" }]);
    let output = desk.call(&Edit, json!({ "path": "f", "edits": edits })).unwrap();
    assert_eq!(output.data["done"], "unchanged");
    let abort = Abort::new();
    abort.abort();
    let error = desk.call_until(&Edit, json!({ "path": "f", "old": "a", "new": "b" }), &abort).unwrap_err();
    assert_eq!((error.kind, desk.got("f")), (ErrorKind::Aborted, b"a".to_vec()));
}

#[test]
fn looking_for_something_similar_costs_little() {
    let desk = Desk::new();
    desk.put("f", "a a a a a a a a a a a a a a a a a a a\n".repeat(200_000));
    let old = "a a a a a a a a a a a a a a a a a a a\n".repeat(50_000) + "b";
    let began = std::time::Instant::now();
    let error = desk.call(&Edit, json!({ "path": "f", "old": old, "new": "" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoMatch);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}
