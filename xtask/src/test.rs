//! `cargo xtask test`: everything the tests need, every test, every check.

mod ordinary;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::check;
use crate::command::{self, Transcript};
use crate::packages;
use crate::tally::Tally;
use crate::workspace::cargo;

/// The variable that names the file in which a test says that it cannot run here.
pub(crate) const SKIPS: &str = "RINGFENCE_SKIPS";

/// The scores of the shell reader on its corpus.
const SCORES: &str = "crates/shell/tests/corpus/scores.md";

/// Packages whose tests need no kernel, and whose errors show at once.
const FAST: &[&str] = &[
    "ringfence-policy",
    "ringfence-shell",
    "ringfence-config",
    "ringfence-source",
    "ringfence-skill",
    "ringfence-audit",
];

/// Unit tests and tables of those packages, without the tests that look for slowness, for races or in real shells; of the program,
/// the test that a command in a jail ends as the command ends.
const SELECTED: &str = "(kind(lib) & not package(ringfence-cli)) \
    | (package(/^ringfence-(policy|config)$/) & kind(test)) \
    | (package(ringfence-shell) & binary(/^(read|spellings|arithmetic|malformed)$/)) \
    | (package(ringfence-audit) & binary(/^(append|tamper|recover)$/)) \
    | (package(ringfence-cli) & binary(run) & test(=it_ends_as_the_command_ends))";

/// Runs everything and prints the count as the last line.
pub(crate) fn run_all(root: &Path, out: &mut dyn Write) -> io::Result<Tally> {
    let Some(mut tally) = packages::ensure(out)? else {
        return Ok(Tally { failed: 1, ..Tally::default() });
    };
    add_components(out)?;
    tally += run_tests(root, out)?;
    show_scores(root, out)?;
    tally += run_doc_tests(root, out)?;
    tally += ordinary::run(root, out)?;
    headline(out, "check")?;
    tally += check::run_all(root, &[], out)?;
    conclude(out, &tally)?;
    Ok(tally)
}

/// Runs the tests of the edit loop: those of the crates that touch neither files nor the kernel, and one run in a jail.
pub(crate) fn run_fast(root: &Path, out: &mut dyn Write) -> io::Result<Tally> {
    let packages = FAST.iter().chain(&["ringfence-cli"]).flat_map(|package| ["--package", package]);
    let words: Vec<_> =
        ["nextest", "run", "--no-fail-fast", "-E", SELECTED].into_iter().chain(packages).collect();
    let tally = if command::works(cargo().args(["nextest", "--version"])) {
        run_counted(root, &words, out)?
    } else {
        let packages = FAST.iter().flat_map(|package| ["--package", package]);
        run_counted(root, &["test", "--lib"].into_iter().chain(packages).collect::<Vec<_>>(), out)?
    };
    conclude(out, &tally)?;
    Ok(tally)
}

/// Writes what is about to happen.
fn headline(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n==> {text}")?;
    out.flush()
}

fn conclude(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    headline(out, "result")?;
    tally.skips.iter().try_for_each(|skip| writeln!(out, "SKIPPED: {skip}"))?;
    writeln!(out, "{tally}")
}

/// A toolchain with the minimal profile lacks what `check` needs. If that does not help, `check` says so.
fn add_components(out: &mut dyn Write) -> io::Result<()> {
    for component in ["rustfmt", "clippy"] {
        let word = if component == "rustfmt" { "fmt" } else { component };
        if !command::works(cargo().args([word, "--version"])) {
            headline(out, &format!("rustup component add {component}"))?;
            command::works(Command::new("rustup").args(["component", "add", component]));
        }
    }
    Ok(())
}

fn run_tests(root: &Path, out: &mut dyn Write) -> io::Result<Tally> {
    if nextest_knows_all(root, out)? {
        return run_counted(
            root,
            &["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests", "pass"],
            out,
        );
    }
    run_counted(root, &["test", "--workspace", "--tests", "--no-fail-fast"], out)
}

/// Returns true if nextest is installed and can list the tests: a test with a `main` of its own must answer `--list`.
fn nextest_knows_all(root: &Path, out: &mut dyn Write) -> io::Result<bool> {
    if !command::works(cargo().args(["nextest", "--version"])) {
        return Ok(false);
    }
    headline(out, "cargo nextest list --workspace")?;
    let mut list = cargo();
    list.args(["nextest", "list", "--workspace"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    Ok(list.status()?.success())
}

/// Shows how well command lines are read. The test of the corpus has just held the table against what it measured.
fn show_scores(root: &Path, out: &mut dyn Write) -> io::Result<()> {
    headline(out, SCORES)?;
    out.write_all(&fs::read(root.join(SCORES))?)
}

fn run_doc_tests(root: &Path, out: &mut dyn Write) -> io::Result<Tally> {
    run_counted(root, &["test", "--workspace", "--doc", "--no-fail-fast"], out)
}

fn run_counted(root: &Path, words: &[&str], out: &mut dyn Write) -> io::Result<Tally> {
    headline(out, &format!("cargo {}", words.join(" ")))?;
    let dir = TempDir::new()?;
    let skips = dir.path().join("skips");
    fs::write(&skips, "")?;
    let mut cargo = cargo();
    cargo.args(words).current_dir(root).env(SKIPS, &skips).env("CARGO_TERM_COLOR", "never");
    // A failing snapshot is a failing test, not an invitation to write into the tree.
    cargo.env("INSTA_UPDATE", "no");
    let tally = count(&command::in_sight(&mut cargo)?, &skips)?;
    dir.close()?;
    Ok(tally)
}

/// Counts the results of a run of tests, with those that could not run here.
fn count(transcript: &Transcript, skips: &Path) -> io::Result<Tally> {
    let said = String::from_utf8_lossy(&fs::read(skips)?).into_owned();
    let mut tally = Tally::parse(&transcript.text).with_skips(&said);
    // A test binary that did not build or died on the way left no summary.
    if !transcript.success && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_dies_without_a_summary_has_failed() {
        let dir = TempDir::new().unwrap();
        let skips = dir.path().join("skips");
        fs::write(&skips, "SKIPPED: a: b\n").unwrap();
        let rows = [
            ("error: could not compile", false, "0 passed, 1 failed, 1 skipped"),
            (
                "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured",
                false,
                "2 passed, 2 failed, 1 skipped",
            ),
            (
                "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured",
                true,
                "2 passed, 0 failed, 1 skipped",
            ),
        ];
        for (text, success, expected) in rows {
            let transcript = Transcript { text: text.into(), success };
            assert_eq!(count(&transcript, &skips).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn the_count_stands_on_a_line_of_its_own_at_the_end() {
        let mut out = Vec::new();
        conclude(&mut out, &Tally::skip("cargo deny: not installed")).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"

        ==> result
        SKIPPED: cargo deny: not installed
        0 passed, 0 failed, 1 skipped
        ");
    }
}
