//! `cargo xtask fuzz`: runs the fuzz targets under libFuzzer, keeps what they find, and prints how much code they reach.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command;
use crate::step::{Outcome, report};
use crate::tally::Tally;
use crate::workspace::{cargo, files_below};

/// Flags by which a compiler counts edges for libFuzzer. A stable one will do.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "--cfg=fuzzing",
];

/// Seconds for each target, unless told otherwise.
const SECONDS: u64 = 60;
/// Lines of output that are shown of a target that failed.
const SHOWN: usize = 40;

/// Targets to run, and for how long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    seconds: u64,
    /// Empty for all.
    targets: Vec<String>,
}

impl Wanted {
    /// Reads `[--seconds N] [TARGET…]`.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut wanted = Self { seconds: SECONDS, targets: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seconds" => wanted.seconds = words.next()?.parse().ok().filter(|seconds| *seconds > 0)?,
                word if word.starts_with('-') => return None,
                word => wanted.targets.push(word.to_owned()),
            }
        }
        Some(wanted)
    }
}

/// Builds and runs the targets one after the other; each is a step of its own.
pub(crate) fn run_all(root: &Path, wanted: &Wanted, out: &mut dyn Write) -> io::Result<Tally> {
    let place = Place { fuzz: root.join("fuzz"), host: host()? };
    let known = place.targets()?;
    if let Some(unknown) = wanted.targets.iter().find(|name| !known.contains(name)) {
        let text = format!("there is no fuzz target `{unknown}`; there are {}", known.join(", "));
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    let targets = if wanted.targets.is_empty() { known } else { wanted.targets.clone() };
    if !command::in_sight(&mut place.build(&targets))?.success {
        return Ok(Tally { failed: 1, ..Tally::default() });
    }
    let mut tally = Tally::default();
    for target in &targets {
        tally += report(out, target, &place.run(target, wanted.seconds)?)?;
    }
    Ok(tally)
}

/// The package of the targets, and the machine that they are built for.
struct Place {
    fuzz: PathBuf,
    host: String,
}

impl Place {
    fn targets(&self) -> io::Result<Vec<String>> {
        let files = files_below(&self.fuzz.join("targets"), "rs")?;
        Ok(files.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
    }

    /// Named with its target, because flags for the host would count edges of build scripts, too.
    fn build(&self, targets: &[String]) -> Command {
        let mut cargo = cargo();
        cargo.args(["build", "--profile", "fuzz", "--features", "libfuzzer", "--target", &self.host]);
        cargo.args(targets.iter().flat_map(|target| ["--bin", target]));
        cargo.arg("--target-dir").arg(self.fuzz.join("target"));
        cargo.current_dir(&self.fuzz).env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\x1f"));
        cargo
    }

    /// New inputs go to `corpus`, inputs that break a law to `findings`, where `tests/replay.rs` finds them.
    fn run(&self, target: &str, seconds: u64) -> io::Result<Outcome> {
        let [corpus, findings] = ["corpus", "findings"].map(|name| self.fuzz.join(name).join(target));
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&findings)?;
        let binary = self.fuzz.join("target").join(&self.host).join("fuzz").join(target);
        let mut command = Command::new(binary);
        command.arg(&corpus).arg(self.fuzz.join("seeds").join(target)).arg(&findings);
        command.arg(format!("-artifact_prefix={}/", findings.display()));
        command.args([&format!("-max_total_time={seconds}"), "-timeout=20", "-rss_limit_mb=4096"]);
        let output = command.stdin(Stdio::null()).output()?;
        // An empty directory is no finding; one with inputs cannot be removed so.
        let _is_empty = fs::remove_dir(&findings);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let reached = Reached::parse(&text);
        Ok(if output.status.success() {
            Outcome::Ok(vec![reached.to_string()])
        } else {
            let lines: Vec<_> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(SHOWN)..].iter().map(|line| (*line).to_owned());
            Outcome::Failed(std::iter::once(reached.to_string()).chain(last).collect())
        })
    }
}

/// Says how far a target came, by its own output.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reached {
    edges: u64,
    inputs: u64,
    runs: u64,
    seconds: u64,
}

impl Reached {
    /// Reads `#8 pulse cov: 44 ft: 60 corp: 5/20b …` and `Done 900 runs in 61 second(s)`.
    fn parse(text: &str) -> Self {
        let mut reached = Self::default();
        for line in text.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let after = |name: &str| {
                let at = words.iter().position(|word| *word == name)?;
                words.get(at + 1)?.split('/').next()?.parse::<u64>().ok()
            };
            if let Some(edges) = after("cov:") {
                reached.edges = edges;
                reached.inputs = after("corp:").unwrap_or(reached.inputs);
            }
            if let ["Done", runs, "runs", "in", seconds, ..] = words[..] {
                (reached.runs, reached.seconds) = (runs.parse().unwrap_or(0), seconds.parse().unwrap_or(0));
            }
        }
        reached
    }
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { edges, inputs, runs, seconds } = self;
        write!(f, "{edges} edges, {inputs} inputs, {runs} runs in {seconds} s")
    }
}

/// The machine that the compiler runs on.
fn host() -> io::Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| io::Error::other("rustc does not say which machine it runs on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_targets_and_time() {
        let wanted = |seconds, targets: &[&str]| {
            Some(Wanted { seconds, targets: targets.iter().map(ToString::to_string).collect() })
        };
        let rows: &[(&[&str], Option<Wanted>)] = &[
            (&[], wanted(SECONDS, &[])),
            (&["--seconds", "5", "urls", "page"], wanted(5, &["urls", "page"])),
            (&["urls", "--seconds", "7"], wanted(7, &["urls"])),
            (&["--seconds"], None),
            (&["--seconds", "0"], None),
            (&["--minutes", "5"], None),
        ];
        for (words, expected) in rows {
            assert_eq!(Wanted::parse(words), *expected, "{words:?}");
        }
    }

    #[test]
    fn the_last_line_with_coverage_counts() {
        let rows = [
            ("", "0 edges, 0 inputs, 0 runs in 0 s"),
            (
                "#2\tINITED cov: 44 ft: 60 corp: 5/20b exec/s: 0 rss: 40Mb\n#9\tNEW    cov: 50 ft: 70 corp: 6/2Kb lim: 4\nDone 900 runs in 61 second(s)\n",
                "50 edges, 6 inputs, 900 runs in 61 s",
            ),
            ("#8\tpulse  cov: 7 ft: 8 corp: 1/1b\nthread panicked\n", "7 edges, 1 inputs, 0 runs in 0 s"),
        ];
        for (text, expected) in rows {
            assert_eq!(Reached::parse(text).to_string(), expected);
        }
    }
}
