//! `ringfence secret`: values come in by standard input and never come out again.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use stage::{Ended, Stage, ended};

const VALUE: &str = "hush-hush-0123456789";

fn policy(stage: &Stage, text: &str) {
    let file = stage.path("home/.config/ringfence/policy.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("version = 1\n{text}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

fn set(stage: &Stage, name: &str, value: &str) -> Ended {
    let mut command = stage.command();
    command.args(["secret", "set", name]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn call(stage: &Stage, line: &str) -> Ended {
    ended(stage.command().args(line.split_whitespace()))
}

#[test]
fn a_secret_is_stored_listed_and_removed() {
    let stage = Stage::bare();
    policy(&stage, "[[secrets]]\npreset = \"openai\"");
    let stored = set(&stage, "openai", &format!("{VALUE}\n"));
    assert_eq!((stored.code, stored.out.as_str()), (Some(0), "stored openai\n"), "{stored:?}");
    assert_eq!(set(&stage, "other", VALUE).code, Some(0));
    let file = stage.path("home/.local/state/ringfence/secrets/openai");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&file).unwrap(), VALUE, "the line end is removed");
    let listed = call(&stage, "secret list");
    assert_eq!(listed.out, "openai  api.openai.com:443\nother  no route\n", "{listed:?}");
    let json = call(&stage, "--format json secret list");
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["secrets"][0]["routes"][0], "api.openai.com:443", "{value}");
    assert!(value["secrets"][0]["updated"].as_u64().is_some_and(|time| time > 0), "{value}");
    assert_eq!(call(&stage, "secret remove openai").out, "removed openai\n");
    let again = call(&stage, "secret remove openai");
    assert!(again.code == Some(1) && again.err.contains("there is no secret `openai`"), "{again:?}");
    for shown in [stored.out, stored.err, listed.out, listed.err, json.out, json.err, again.err] {
        assert!(!shown.contains(VALUE), "{shown}");
    }
}

#[test]
fn values_and_names_that_are_not_accepted() {
    let stage = Stage::bare();
    let rows = [
        ("a", "", "empty"),
        ("a", "tiny1", "shorter than"),
        ("a", "two\nlines-of-a-value", "control"),
        ("../a", VALUE, "the name of a secret"),
        ("A", VALUE, "the name of a secret"),
    ];
    for (name, value, told) in rows {
        let refused = set(&stage, name, value);
        assert!(refused.code != Some(0) && refused.err.contains(told), "{name} {value:?}: {refused:?}");
        assert!(value.is_empty() || !refused.err.contains(value), "{refused:?}");
    }
    assert!(call(&stage, "secret list").out.is_empty());
}
