//! Results of `find`.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use ringfence::guard::Abort;
use ringfence_tools::{ErrorKind, Find};
use serde_json::{Value, json};

use crate::stage::Stage;

fn stage() -> Stage {
    let stage = Stage::plant(&[
        ("src/lib.rs", "12345"),
        ("src/deep/mod.rs", "1"),
        ("src/deep/er/mod.rs", ""),
        ("README.md", "1234567890"),
        (".hidden/x.rs", "1"),
        ("target/x.rs", "1"),
        (".gitignore", "target/\n"),
        ("secrets/key.txt", "1"),
        ("id_rsa", "1"),
    ]);
    symlink("src/lib.rs", stage.ws.join("link.rs")).unwrap();
    symlink("/etc", stage.ws.join("src/etc")).unwrap();
    stage
}

#[test]
fn every_parameter_does_what_it_says() {
    let stage = stage();
    let all = [
        "README.md",
        "link.rs",
        "src",
        "src/deep",
        "src/deep/er",
        "src/deep/er/mod.rs",
        "src/deep/mod.rs",
        "src/etc",
        "src/lib.rs",
    ];
    let old = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(stage.ws.join("README.md")).unwrap().set_modified(old).unwrap();
    let rows: &[(Value, &[&str])] = &[
        (json!({}), &all),
        (json!({ "pattern": "*.rs" }), &["link.rs", "src/deep/er/mod.rs", "src/deep/mod.rs", "src/lib.rs"]),
        (
            json!({ "pattern": "*.rs", "kind": "file" }),
            &["src/deep/er/mod.rs", "src/deep/mod.rs", "src/lib.rs"],
        ),
        (json!({ "pattern": "src/*.rs" }), &["src/lib.rs"]),
        (json!({ "pattern": "./src/*.rs" }), &["src/lib.rs"]),
        (json!({ "pattern": "src/**/mod.rs" }), &["src/deep/er/mod.rs", "src/deep/mod.rs"]),
        (
            json!({ "pattern": "{lib,mod}.rs", "path": "src", "max_depth": 2 }),
            &["src/deep/mod.rs", "src/lib.rs"],
        ),
        (json!({ "pattern": "deep/*", "path": "src" }), &["src/deep/er", "src/deep/mod.rs"]),
        (json!({ "pattern": "/deep/*", "path": "src" }), &["src/deep/er", "src/deep/mod.rs"]),
        (json!({ "pattern": "deep/" }), &["src/deep"]),
        (json!({ "pattern": "[!a-z]*.md" }), &["README.md"]),
        (json!({ "kind": "directory" }), &["src", "src/deep", "src/deep/er"]),
        (json!({ "kind": "link" }), &["link.rs", "src/etc"]),
        (json!({ "max_depth": 1 }), &["README.md", "link.rs", "src"]),
        (
            json!({ "pattern": "*.rs", "hidden": true, "no_ignore": true, "kind": "file" }),
            &[".hidden/x.rs", "src/deep/er/mod.rs", "src/deep/mod.rs", "src/lib.rs", "target/x.rs"],
        ),
        (json!({ "kind": "file", "min_size": 5 }), &["README.md", "src/lib.rs"]),
        (json!({ "min_size": 1, "max_size": 5 }), &["src/deep/mod.rs", "src/lib.rs"]),
        (
            json!({ "kind": "file", "sort": "size" }),
            &["README.md", "src/lib.rs", "src/deep/mod.rs", "src/deep/er/mod.rs"],
        ),
        (
            json!({ "kind": "file", "modified_within": "30m" }),
            &["src/deep/er/mod.rs", "src/deep/mod.rs", "src/lib.rs"],
        ),
        (json!({ "pattern": "*.md", "modified_within": "2h" }), &["README.md"]),
        (json!({ "limit": 2 }), &["README.md", "link.rs"]),
        (json!({ "limit": 2, "offset": 8 }), &["src/lib.rs"]),
        (json!({ "pattern": "*.key" }), &[]),
        (json!({ "pattern": "id_rsa*", "hidden": true, "no_ignore": true }), &[]),
        (json!({ "pattern": "**/secrets/**" }), &[]),
    ];
    for (arguments, expected) in rows {
        assert_eq!(stage.found(arguments), *expected, "{arguments}");
    }
    let last = stage.found(&json!({ "kind": "file", "sort": "modified" })).pop();
    assert_eq!(last.as_deref(), Some("README.md"));
}

#[test]
fn what_a_model_and_a_program_read() {
    let stage = stage();
    insta::assert_snapshot!(stage.find(&json!({ "limit": 5 })).text, @r"
    [entries 1 to 5 of 9; go on with offset: 5]
    README.md
    link.rs@
    src/
    src/deep/
    src/deep/er/
    ");
    insta::assert_snapshot!(stage.find(&json!({ "pattern": "absent" })).text, @"nothing was found
    ");
    let data = stage.find(&json!({ "pattern": "*.md", "min_size": 1 })).data;
    assert_eq!(data["found"][0]["size"], 10);
    assert!(data["found"][0]["modified"].as_str().unwrap().ends_with('Z'));
    let data = stage.find(&json!({ "kind": "link", "limit": 1 })).data;
    let expected = json!({
        "found": [{ "path": "link.rs", "kind": "link" }],
        "total": 2, "directories_left_out": 0, "truncated": true, "next_offset": 1,
    });
    assert_eq!(data, expected);
}

#[test]
fn what_is_wrong_is_told() {
    let stage = stage();
    let rows: &[(Value, ErrorKind, &str)] = &[
        (json!({ "pattern": "a[" }), ErrorKind::Malformed, "`pattern`"),
        (json!({ "pattern": "{a" }), ErrorKind::Malformed, "`pattern`"),
        (json!({ "modified_within": "soon" }), ErrorKind::InvalidArguments, "`soon`"),
        (json!({ "modified_within": "" }), ErrorKind::InvalidArguments, "``"),
        (json!({ "modified_within": "99999999999999999w" }), ErrorKind::InvalidArguments, "no time"),
        (json!({ "modified_within": "-1d" }), ErrorKind::InvalidArguments, "no time"),
        (json!({ "path": "README.md" }), ErrorKind::WrongType, "README.md"),
        (json!({ "path": "absent" }), ErrorKind::NotFound, "absent"),
        (json!({ "path": "src/etc" }), ErrorKind::OutsideWorkspace, ""),
        (json!({ "path": "secrets" }), ErrorKind::PermissionDenied, "secrets"),
        (json!({ "kind": "pipe" }), ErrorKind::InvalidArguments, "pipe"),
    ];
    for (arguments, kind, message) in rows {
        let error = stage.call(&Find, arguments, &Abort::new()).unwrap_err();
        assert_eq!(error.kind, *kind, "{arguments} {error:?}");
        assert!(error.message.contains(message), "{arguments} {error:?}");
    }
}

#[test]
fn pages_of_a_large_directory_are_the_whole() {
    let stage = Stage::roomy();
    fs::create_dir(stage.ws.join("large")).unwrap();
    for number in 0..3000 {
        fs::write(stage.ws.join(format!("large/{number:04}")), "").unwrap();
    }
    let all = stage.found(&json!({ "kind": "file", "limit": 5000 }));
    assert_eq!(all.len(), 3000);
    let pages: Vec<_> = (0..4)
        .flat_map(|page| stage.found(&json!({ "kind": "file", "limit": 800, "offset": page * 800 })))
        .collect();
    assert_eq!(pages, all);
    assert!(all.is_sorted());
}
