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
