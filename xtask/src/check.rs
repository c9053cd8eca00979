//! `cargo xtask check`: budgets, directions, lints, tables, generated files.

mod documents;
mod graph;
mod lints;
mod literals;
mod minimal;
mod names;
mod rows;
mod size;
mod subjects;
mod unsafety;
mod words;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use lints::Manifest;

use crate::command;
use crate::generate;
use crate::offence::Offence;
use crate::step::{Outcome, report};
use crate::tally::Tally;
use crate::workspace::{Workspace, cargo, files_below, relative};

type Step = (&'static str, fn(&Workspace) -> Outcome);

/// Every step, cheap ones first. All of them run, even after a failure.
const STEPS: &[Step] = &[
    ("sources", |it| it.unreadable.clone().into()),
    ("budgets", budgets),
    ("crate graph", |it| graph::check(&it.packages).into()),
    ("unsafe", |it| unsafety::check(&it.sources).into()),
    ("lints", |it| lint_lists(it).into()),
    ("names", |it| names::check(&it.sources).into()),
    ("wording of comments", wording),
    ("commit subjects", |it| subjects::check(&it.root)),
    ("documents", |it| documents::check(&it.root).into()),
    ("tables", |it| tables(&it.root).into()),
    ("facts", |it| literals::check(&it.root, &it.sources).into()),
    ("generated files", |it| generate::stale(&it.root).into()),
    ("cargo fmt", |it| run(it, &["fmt", "--all", "--check", "--", "-l"])),
    ("cargo clippy", |it| {
        run(it, &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("library without features", |it| minimal::check(&it.root)),
    ("clippy of init", init),
    ("cargo clippy for macOS", macos),
    ("cargo doc", |it| run(it, &["doc", "--quiet", "--no-deps", "--workspace"])),
    ("cargo deny", deny),
];

/// Runs every step, or those whose name begins with one of these words, and counts them.
pub(crate) fn run_all(root: &Path, wanted: &[&str], out: &mut dyn Write) -> io::Result<Tally> {
    let workspace = Workspace::load(root)?;
    let mut tally = Tally::default();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.starts_with(word));
    let steps: Vec<&Step> = STEPS.iter().filter(|(name, _)| is_wanted(name)).collect();
    if steps.is_empty() {
        return Err(io::Error::other(format!("no step is called {}", wanted.join(" or "))));
    }
    for (name, step) in steps {
        tally += report(out, name, &step(&workspace))?;
    }
    Ok(tally)
}

fn budgets(workspace: &Workspace) -> Outcome {
    let sizes = size::check(&workspace.sources);
    measured(sizes.report, sizes.offences)
}

fn wording(workspace: &Workspace) -> Outcome {
    let wording = words::check(&workspace.sources);
    measured(wording.report, wording.offences)
}

/// Joins a report that is always printed with the offences, if there are any.
fn measured(report: Vec<String>, offences: Vec<Offence>) -> Outcome {
    match Outcome::from(offences) {
        Outcome::Failed(lines) => Outcome::Failed([report, lines].concat()),
        _ => Outcome::Ok(report),
    }
}

fn lint_lists(workspace: &Workspace) -> io::Result<Vec<Offence>> {
    let read =
        |path: String| fs::read_to_string(workspace.root.join(&path)).map(|text| Manifest { path, text });
    let packages = workspace.packages.iter().map(|package| read(format!("{}/Cargo.toml", package.dir)));
    Ok(lints::check(&read("Cargo.toml".into())?, &packages.collect::<io::Result<Vec<_>>>()?))
}

fn tables(root: &Path) -> io::Result<Vec<Offence>> {
    let files = files_below(&root.join("tables"), "toml")?;
    let check = |path: &PathBuf| Ok(rows::check(&relative(root, path), &fs::read_to_string(path)?));
    Ok(files.iter().map(check).collect::<io::Result<Vec<_>>>()?.concat())
}

fn run(workspace: &Workspace, words: &[&str]) -> Outcome {
    let mut command = cargo();
    command.args(words).current_dir(&workspace.root);
    command::step(command.env("RUSTDOCFLAGS", "-Dwarnings").env("CARGO_TERM_COLOR", "never"))
}

/// The init program of the jail, which a build script compiles: cargo, and so clippy and fmt, do not know it.
fn init(workspace: &Workspace) -> Outcome {
    let source = workspace.root.join("crates/jail/init/main.rs");
    let format =
        command::step(Command::new("rustfmt").args(["--edition=2024", "--check", "-l"]).arg(&source));
    let targets = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
    let lint = |target: &str| {
        let mut clippy = Command::new("clippy-driver");
        clippy
            .args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--target", target])
            .arg(&source);
        clippy.args([
            "-Cpanic=abort",
            "-Dwarnings",
            "-Dclippy::undocumented_unsafe_blocks",
            "-Dunsafe_op_in_unsafe_fn",
        ]);
        command::step(clippy.args(["--out-dir"]).arg(workspace.root.join("target/init")))
    };
    let here = targets.into_iter().filter(|target| has_target(target));
    std::iter::once(format).chain(here.map(lint)).fold(Outcome::Ok(Vec::new()), |all, one| match (all, one) {
        (failed @ Outcome::Failed(_), _) => failed,
        (_, one) => one,
    })
}

/// Target for which macOS code is compiled. Nothing is linked or run.
const MACOS: &str = "aarch64-apple-darwin";

/// The crates are checked with all they need; those without a warning keep it so.
fn macos(workspace: &Workspace) -> Outcome {
    if !has_target(MACOS) {
        let how = format!("`rustup target add {MACOS}` installs what is needed, skipped");
        return Outcome::Skipped(how);
    }
    let clean = ["-p", "ringfence-guard", "-p", "ringfence", "-p", "ringfence-cli"];
    let words = ["clippy", "--quiet", "--no-deps", "--target", MACOS];
    run(workspace, &[&words[..], &clean, &["--", "-D", "warnings"]].concat())
}

/// Returns true if the standard library of a target is here.
fn has_target(target: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let found = Command::new(rustc).args(["--print", "target-libdir", "--target", target]).output();
    found.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_dir())
}

fn deny(workspace: &Workspace) -> Outcome {
    if !command::works(cargo().args(["deny", "--version"])) {
        return Outcome::Skipped("not installed, skipped".into());
    }
    match run(workspace, &["deny", "check", "bans", "licenses", "sources"]) {
        Outcome::Ok(_) => advisories(workspace),
        failed => failed,
    }
}

/// The advisories live in a repository of their own, which not every machine can reach.
fn advisories(workspace: &Workspace) -> Outcome {
    match run(workspace, &["deny", "fetch", "db"]) {
        Outcome::Ok(_) => run(workspace, &["deny", "check", "advisories"]),
        _ => {
            Outcome::Skipped("the advisory database cannot be fetched from here; all else is in order".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_there_or_not() {
        let version = Command::new("rustc").arg("-vV").output().unwrap();
        let version = String::from_utf8(version.stdout).unwrap();
        let here = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        assert!(has_target(here));
        assert!(!has_target("nowhere-none-none"));
    }
}
