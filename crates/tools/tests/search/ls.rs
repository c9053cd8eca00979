//! Results of `ls`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, UNIX_EPOCH};

use ringfence::guard::Abort;
use ringfence_tools::{ErrorKind, Ls};
use serde_json::{Value, json};

use crate::stage::Stage;

fn stage() -> Stage {
    let stage = Stage::plant(&[
        ("b.txt", "12345"),
        ("a/x.txt", ""),
        (".dot", ""),
        (".env", "K=1"),
        ("c\n\u{1b}[2J.txt", ""),
        (".gitignore", "b.txt\n"),
    ]);
    symlink("/nowhere/\u{1b}[2J", stage.ws.join("link")).unwrap();
    for (name, mode) in [("b.txt", 0o640), ("a", 0o755)] {
        let path = stage.ws.join(name);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        File::open(path).unwrap().set_modified(time).unwrap();
    }
    stage
}

#[test]
fn what_a_model_reads() {
    let stage = stage();
    insta::assert_snapshot!(stage.ls(&json!({})).text, @r"
    [6 entries]
    .dot
    .gitignore
    a/
    b.txt
    c\n\u{1b}[2J.txt
    link -> /nowhere/\u{1b}[2J
    ");
    insta::assert_snapshot!(stage.ls(&json!({ "hidden": false, "directories_first": true, "limit": 2 })).text, @r"
    [entries 1 to 2 of 4; go on with offset: 2]
    a/
    b.txt
    ");
    let long = stage.ls(&json!({ "long": true, "hidden": false })).text;
    assert!(long.contains("]\ndrwxr-xr-x "), "{long}");
    assert!(long.contains(" 2023-11-14T22:13:20Z a/\n-rw-r-----"), "{long}");
    assert!(long.contains(" 5 2023-11-14T22:13:20Z b.txt\n"), "{long}");
    insta::assert_snapshot!(stage.ls(&json!({ "path": "b.txt", "long": true })).text, @r"
    [1 entry]
    -rw-r----- 5 2023-11-14T22:13:20Z b.txt
    ");
    insta::assert_snapshot!(stage.ls(&json!({ "path": "a" })).text, @r"
    [1 entry]
    x.txt
    ");
    fs::create_dir(stage.ws.join("empty")).unwrap();
    insta::assert_snapshot!(stage.ls(&json!({ "path": "empty" })).text, @"the directory is empty
    ");
}

#[test]
fn what_a_program_reads() {
    let stage = stage();
    let data = stage.ls(&json!({ "path": ".", "hidden": false, "offset": 1, "limit": 1, "long": true })).data;
    let expected = json!({
        "entries": [{ "name": "b.txt", "kind": "file", "size": 5, "modified": "2023-11-14T22:13:20Z", "mode": "rw-r-----" }],
        "total": 4, "truncated": true, "next_offset": 2,
    });
    assert_eq!(data, expected);
    let data = stage.ls(&json!({ "offset": 5 })).data;
    assert_eq!(data["entries"], json!([{ "name": "link", "kind": "link", "target": "/nowhere/\\u{1b}[2J" }]));
}

#[test]
fn what_is_wrong_is_told() {
    let stage = stage();
    let rows: &[(Value, ErrorKind, &str)] = &[
        (json!({ "path": "absent" }), ErrorKind::NotFound, "absent"),
        (json!({ "path": ".env" }), ErrorKind::PermissionDenied, ".env"),
        (json!({ "path": ".." }), ErrorKind::OutsideWorkspace, ""),
        (json!({ "path": "link" }), ErrorKind::OutsideWorkspace, ""),
        (json!({ "limit": 100_000 }), ErrorKind::InvalidArguments, "20000"),
    ];
    for (arguments, kind, message) in rows {
        let error = stage.call(&Ls, arguments, &Abort::new()).unwrap_err();
        assert_eq!(error.kind, *kind, "{arguments} {error:?}");
        assert!(error.message.contains(message), "{arguments} {error:?}");
    }
}
