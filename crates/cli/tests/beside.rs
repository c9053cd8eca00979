//! Writes beside a view are refused, instead of being lost with the jail.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use stage::{Ended, Stage, ended, has};

/// Runs a script with `ringfence run` in a directory of the stage, with a given home.
fn run_in(stage: &Stage, home: &str, directory: &str, options: &str, script: &str) -> Ended {
    let mut command = stage.script(options, script);
    ended(command.env("HOME", stage.path(home)).current_dir(stage.path(directory)))
}

fn directories(stage: &Stage, names: &[&str]) {
    for name in names {
        fs::create_dir_all(stage.path(name)).unwrap();
        fs::set_permissions(stage.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Prints for each directory if a file can be created there. The error is `EROFS` if the file would be lost.
const BESIDE: &str = r#"
try() { if touch "$1/made" 2>err; then echo "$1 open"; else grep -q 'Read-only' err && echo "$1 closed"; fi; rm -f err; }
"#;

#[test]
fn a_directory_that_only_leads_to_a_view_is_closed() {
    let Some(stage) = Stage::new() else { return };
    directories(&stage, &["home/src/deep/project", "home/data/models", "home/project", "home/.local/tool"]);
    let rows = [
        // Among temporary files, and beside the home.
        ("ws", "", "..", "closed"),
        ("ws", "", "/tmp", "open"),
        ("ws", "", "../home", "open"),
        // In the home: the directories between are closed, the private home itself is not.
        ("home/src/deep/project", "", "..", "closed"),
        ("home/src/deep/project", "", "../..", "closed"),
        ("home/src/deep/project", "", "../../..", "open"),
        ("home/src/deep/project", "", ".", "open"),
        ("home/project", "", "..", "open"),
        // Beside a view that a person names, and in the directory of settings around one.
        ("ws", "--read ../home/data/models", "../home/data", "closed"),
        ("ws", "--read ../home/data/models", "../home", "open"),
        ("ws", "--read ../home/.local/tool", "../home/.local", "open"),
        // A view in a view is part of it.
        ("ws", "--write src", "src/..", "open"),
        ("home/src/deep/project", "--read ../../../data", "../..", "closed"),
    ];
    for (directory, options, place, expected) in rows {
        let ended = run_in(&stage, "home", directory, options, &format!("{BESIDE} try {place}"));
        assert_eq!(ended.out.trim(), format!("{place} {expected}"), "{directory} {options}: {ended:?}");
    }
    assert_eq!(fs::read_dir(stage.path("home/src")).unwrap().count(), 1);
}

#[test]
fn git_and_cp_say_that_nothing_can_be_made_there() {
    let Some(stage) = Stage::new() else { return };
    if !has("git", "a worktree beside the workspace") {
        return;
    }
    directories(&stage, &["home/src/project"]);
    let mut git = Command::new("/bin/sh");
    let script = "git init -q && echo a >a && git add a && git -c user.name=A -c user.email=a@b commit -qm a";
    stage.surround(&mut git).args(["-ec", script]).current_dir(stage.path("home/src/project"));
    assert_eq!(ended(&mut git).code, Some(0));
    for script in
        ["git worktree add ../x", "cp a ..", "mkdir ../x", "ln -s a ../x", "mv a ../x", "echo x >../x"]
    {
        let ended = run_in(&stage, "home", "home/src/project", "", script);
        assert!(ended.code != Some(0) && ended.err.contains("Read-only file system"), "{script}: {ended:?}");
    }
    assert!(stage.path("home/src/project/a").exists());
}
