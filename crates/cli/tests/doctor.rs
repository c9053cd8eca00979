//! `ringfence doctor` as it is started: the real program on the real kernel.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn doctor(home: Option<&Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
    command.env_clear().current_dir("/").args(["doctor", "--format", "json"]);
    home.map(|home| command.env("HOME", home));
    command
}

fn json(output: &Output) -> Value {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["version"], 1);
    let possible = json["provider"]["strongest"] != "none";
    assert_eq!(output.status.code(), Some(i32::from(!possible)));
    json
}

fn measured<'a>(json: &'a Value, id: &str) -> &'a str {
    let rows = json["rows"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap()["measured"].as_str().unwrap()
}

/// Without a home, and with one that cannot be written to: it answers, and creates nothing.
#[test]
fn needs_nothing_and_leaves_nothing() {
    json(&doctor(None).output().unwrap());
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o500)).unwrap();
    json(&doctor(Some(home.path())).output().unwrap());
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// The probe runs in a process of its own and its answer arrives.
#[test]
fn namespaces_are_measured() {
    let json = json(&doctor(None).output().unwrap());
    assert!(!measured(&json, "userns").contains("the probe"), "{json}");
    let line = Command::new(env!("CARGO_BIN_EXE_ringfence"))
        .args(["doctor", "--probe-namespaces"])
        .output()
        .unwrap();
    assert!(line.stdout.starts_with(b"ringfence-namespaces 2 user="), "{line:?}");
}

#[test]
fn the_same_as_an_ordinary_user() {
    if rustix::process::geteuid().is_root() {
        let output = doctor(None).uid(65534).gid(65534).output().unwrap();
        assert!(measured(&json(&output), "kernel").ends_with("as user 65534"));
    }
}

/// Inside a user namespace that allows no further ones, `native` is gone and the reason named.
#[test]
fn a_limit_is_named() {
    // The setting belongs to the new user namespace: `unshare` made it, and the test checks that it is another one.
    let script = r#"test "$(readlink /proc/self/ns/user)" != "$1" && echo 0 >/proc/sys/user/max_user_namespaces && exec "$2" doctor --format json"#;
    let outside = fs::read_link("/proc/self/ns/user").unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh"])
        .args([outside.as_os_str(), env!("CARGO_BIN_EXE_ringfence").as_ref()])
        .output();
    let output = match output {
        Ok(output) if !output.stdout.is_empty() => output,
        _ => return skip::skipped("a limit in a user namespace", "unshare(1) cannot make one here"),
    };
    let json = json(&output);
    assert!(measured(&json, "userns").contains("user.max_user_namespaces"), "{json}");
    assert_ne!(json["provider"]["strongest"], "native");
}

/// Both say whether the kernel limits a whole jail, and say the same.
#[test]
fn a_run_has_the_limits_that_were_promised() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("ws")).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_ringfence"));
    run.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin").current_dir(home.path().join("ws"));
    let run = run.args(["run", "-v", "--", "true"]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let Some(line) = said.lines().find(|line| line.starts_with("resources ")) else {
        return skip::skipped("ringfence run", &said);
    };
    let json = json(&doctor(None).output().unwrap());
    let rows = json["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == "cgroup").unwrap();
    let whole = line.contains("cgroup on memory and processes");
    assert_eq!(row["status"] == "ok", whole, "{row}\n{line}");
    let why = row["measured"].as_str().unwrap().split_once("; ").unwrap().1;
    assert!(whole || line.contains(why), "{row}\n{line}");
}
