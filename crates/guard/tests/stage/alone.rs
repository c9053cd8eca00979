//! Tests that change their process, in a process of their own.

use std::process::Command;

/// Set in that process.
const ALONE: &str = "RINGFENCE_TEST_ALONE";

/// Runs a test of a file in a process of its own.
pub(crate) fn alone(name: &str, act: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return act();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", "--nocapture", name]).env(ALONE, "1").output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && text[0].contains("1 passed"), "{}{}", text[0], text[1]);
}
