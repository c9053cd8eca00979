//! Tests that mount something, in a mount namespace of their own.

use std::io::Write as _;
use std::process::Command;

use super::skip::skipped;

/// Set in the namespace.
const INSIDE: &str = "RINGFENCE_TEST_MOUNTS";

/// Runs a test of a file in a new mount namespace: root's own, or one of a new user namespace.
pub(crate) fn apart(name: &str, act: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return act();
    }
    let arguments: &[&str] = if rustix::process::geteuid().is_root() {
        &["--mount", "--"]
    } else {
        &["--user", "--map-root-user", "--mount", "--"]
    };
    // A mount cannot be removed from inside. It is gone when the namespace is.
    let place = tempfile::tempdir().unwrap();
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(arguments).env(INSIDE, "1").env("TMPDIR", place.path());
        command
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        return skipped(name, "no mount namespace can be made here");
    }
    let output = unshare()
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", name])
        .output()
        .unwrap();
    // Its skips are printed here, too.
    std::io::stderr().write_all(&output.stderr).unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && text[0].contains("1 passed"), "{}{}", text[0], text[1]);
    place.close().unwrap();
}
