//! Names are made by the keeper in a command's place: with the same answers as the kernel's own, but for protected ones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const PYTHON: &str = "/usr/bin/python3";

/// A home with a workspace in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = tempfile::Builder::new().prefix("rf-names-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir(place.path().join("ws")).unwrap();
        Self(place)
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.0.path().canonicalize().unwrap().join("ws")
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.workspace()).arg("run").arg("--").args(words);
        command.stdin(Stdio::null()).output().unwrap()
    }
}

fn has_python() -> bool {
    let there = Path::new(PYTHON).exists();
    if !there {
        skip::skipped("calls by the keeper", "/usr/bin/python3 is not installed");
    }
    there
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every row has the same answer inside as outside.
#[test]
fn calls_have_the_answers_of_the_kernel() {
    if !has_python() {
        return;
    }
    let (inside, outside) = (Place::new(), Place::new());
    let script = include_str!("names/calls.py");
    for place in [&inside, &outside] {
        fs::write(place.workspace().join("calls.py"), script).unwrap();
    }
    let native = Command::new(PYTHON)
        .arg("calls.py")
        .current_dir(outside.workspace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let kept = inside.run(&[PYTHON, "calls.py"]);
    let (native, kept, errors) = (text(&native.stdout), text(&kept.stdout), text(&kept.stderr));
    assert!(native.lines().count() > 100, "{native}");
    let differ: Vec<_> = native.lines().zip(kept.lines()).filter(|(native, kept)| native != kept).collect();
    assert!(differ.is_empty() && native.lines().count() == kept.lines().count(), "{differ:#?}\n{errors}");
}

/// What was there stays as it was and nothing new appears that a tool would run, whatever is tried.
#[test]
fn no_trick_leads_around_a_protected_name() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let top = place.workspace();
    let old = [
        ".git/HEAD",
        ".git/config",
        ".git/info/attributes",
        "deep/er/.envrc",
        "deep/er/.vscode/tasks.json",
        "deep/repo/.git/HEAD",
        "deep/repo/.git/config",
        "deep/repo/.git/hooks/pre-commit",
        "bare/HEAD",
        "bare/config",
        "bare/hooks/update",
    ];
    for path in old {
        fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
        fs::write(top.join(path), "as it was\n").unwrap();
    }
    for repository in [".git", "deep/repo/.git", "bare"] {
        fs::create_dir_all(top.join(repository).join("objects")).unwrap();
        fs::create_dir_all(top.join(repository).join("refs")).unwrap();
    }
    fs::write(top.join("tricks.py"), include_str!("names/tricks.py")).unwrap();
    let ended = place.run(&[PYTHON, "tricks.py"]);
    let said = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    assert!(said.contains("flip bare/hooks/update"), "{said}");
    for path in old {
        assert_eq!(fs::read_to_string(top.join(path)).unwrap(), "as it was\n", "{path}\n{said}");
    }
    for path in
        ["new/.envrc", "new/.vscode", ".git/hooks/post-checkout", "new/.git/hooks/x", ".git/commondir"]
    {
        let text = fs::read_to_string(top.join(path)).unwrap_or_default();
        assert!(!text.contains("evil"), "{path}\n{said}");
    }
    for name in ["new/.vscode", ".idea", ".claude"] {
        assert!(top.join(name).symlink_metadata().is_err(), "{name}\n{said}");
    }
    for what in ["node_modules", "deep-node_modules", ".git-made"] {
        for path in [format!("out{what}"), format!("plain{what}/.vscode"), format!("whole{what}")] {
            assert!(top.join(&path).symlink_metadata().is_err(), "{path}\n{said}");
        }
    }
    for number in 0..200 {
        let race = top.join(format!("race{number}"));
        assert!(!(race.join("HEAD").exists() && race.join("objects").exists()), "{}", race.display());
    }
}
