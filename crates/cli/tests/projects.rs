//! This repository in its own jail: a part of it is built and used inside and outside, without a network, with the same result.
//!
//! `cargo xtask projects` does the same with more and larger software, and says what the jail costs.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A copy of what the package needs of this repository, in a workspace of its own.
fn copied(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let package = "crates/policy";
    fs::create_dir_all(to.join("crates")).unwrap();
    for name in [package, "tables", "Cargo.lock"] {
        assert!(
            Command::new("cp").arg("-r").arg(root.join(name)).arg(to.join(name)).status().unwrap().success()
        );
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = "members = [\"crates/policy\", \"app\"]";
    let changed = manifest.replace("members = [\"crates/*\", \"xtask\"]", members);
    // Quickly built is what counts here.
    let changed = changed.replace("default-members = [\"crates/cli\"]", "").replace("opt-level = 1", "");
    assert_ne!(changed, manifest);
    fs::write(to.join("Cargo.toml"), changed).unwrap();
    fs::create_dir_all(to.join("app/src")).unwrap();
    let app = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\npolicy.workspace = true\n";
    fs::write(to.join("app/Cargo.toml"), app).unwrap();
    fs::write(to.join("app/src/main.rs"), APP).unwrap();
}

const APP: &str = r#"
fn main() {
    for pattern in ["**/.env*", "src/*.{rs,toml}", "a[0-9]/**"] {
        let pattern = policy::Glob::parse(pattern).unwrap();
        println!("{pattern:?} {}", policy::Protected::all().in_tree().count());
    }
}
"#;

/// Returns the success of build and run, the output, and the complaints of cargo.
fn tried(stage: &Path, inside: bool) -> (bool, String, String) {
    let workspace = stage.join(if inside { "inside" } else { "outside" });
    fs::create_dir(&workspace).unwrap();
    copied(&workspace);
    let script = "cargo run --quiet --offline -p app";
    let mut command = Command::new(if inside { env!("CARGO_BIN_EXE_ringfence") } else { "/bin/sh" });
    if inside {
        command.args(["run", "--", "/bin/sh"]);
    }
    command.args(["-c", script]);
    let kept = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    command.env_clear().envs(kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.env("XDG_CONFIG_HOME", stage.join("config")).env("XDG_STATE_HOME", stage.join("state"));
    let output = command.current_dir(&workspace).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), said, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_part_of_this_repository_is_built_and_works_inside() {
    let directory = tempfile::tempdir().unwrap();
    let stage: PathBuf = directory.path().canonicalize().unwrap();
    let empty = stage.join("empty");
    fs::create_dir(&empty).unwrap();
    let works = Command::new(env!("CARGO_BIN_EXE_ringfence"))
        .args(["run", "--", "cargo", "--version"])
        .env("XDG_STATE_HOME", stage.join("state"))
        .current_dir(&empty)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if !works.status.success() {
        return skip::skipped("this repository in a jail", &String::from_utf8_lossy(&works.stderr));
    }
    let (success, outside, complaint) = tried(&stage, false);
    if !success {
        return skip::skipped(
            "this repository in a jail",
            &format!("it does not build outside: {complaint}"),
        );
    }
    let (success, inside, complaint) = tried(&stage, true);
    assert!(success, "{complaint}");
    assert!(!inside.is_empty() && inside == outside, "{inside}\n{outside}");
}
