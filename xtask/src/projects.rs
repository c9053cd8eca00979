//! `cargo xtask projects`: real software inside a jail and outside, with the same result, and what the jail costs.

mod table;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::command;
use crate::step::{Outcome, report};
use crate::tally::Tally;
use crate::workspace::cargo;
use table::{PROJECTS, Project};

/// Projects to try, number of rounds, and directory.
pub(crate) struct Wanted<'a> {
    /// The names of projects; none means all.
    pub(crate) names: Vec<&'a str>,
    /// Number of builds of each on both sides, in turn.
    pub(crate) rounds: usize,
    /// A directory to work in, such as one in memory.
    pub(crate) place: Option<PathBuf>,
}

impl<'a> Wanted<'a> {
    /// Reads `[--rounds N] [--in DIR] [NAME…]`.
    pub(crate) fn parse(words: &[&'a str]) -> Option<Self> {
        let mut wanted = Self { names: Vec::new(), rounds: 1, place: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--rounds" => wanted.rounds = words.next()?.parse().ok().filter(|rounds| *rounds > 0)?,
                "--in" => wanted.place = Some(PathBuf::from(words.next()?)),
                name => wanted.names.push(PROJECTS.iter().find(|project| project.name == name)?.name),
            }
        }
        Some(wanted)
    }
}

/// Tries every project that is wanted.
pub(crate) fn run_all(root: &Path, wanted: &Wanted<'_>, out: &mut dyn Write) -> io::Result<Tally> {
    let jail = built(root)?;
    let mut tally = Tally::default();
    for project in PROJECTS.iter().filter(|it| wanted.names.is_empty() || wanted.names.contains(&it.name)) {
        let outcome = tried(project, root, &jail, wanted)?;
        tally += report(out, project.name, &outcome)?;
    }
    Ok(tally)
}

/// The command as people use it.
fn built(root: &Path) -> io::Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--release", "-p", "ringfence-cli", "--message-format", "json"]).current_dir(root);
    let output = build.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    programs
        .next_back()
        .filter(|_| output.status.success())
        .ok_or_else(|| io::Error::other("ringfence does not build"))
}

fn tried(project: &Project, root: &Path, jail: &Path, wanted: &Wanted<'_>) -> io::Result<Outcome> {
    if let Some(missing) = project.needs.iter().find(|program| !is_there(program)) {
        return Ok(Outcome::Skipped(format!("there is no {missing}")));
    }
    let directory = match &wanted.place {
        Some(place) => TempDir::new_in(place)?,
        None => TempDir::new()?,
    };
    let stage =
        Stage { root: root.to_owned(), jail: jail.to_owned(), path: directory.path().canonicalize()? };
    if let Err(why) = stage.prepared(project)? {
        return Ok(Outcome::Skipped(format!("it cannot be brought here: {why}")));
    }
    let mut rounds = Vec::new();
    for _ in 0..wanted.rounds {
        let (outside, inside) = (stage.ran(project, Side::Outside)?, stage.ran(project, Side::Inside)?);
        if let Some(difference) = difference(&outside, &inside) {
            return Ok(Outcome::Failed(difference));
        }
        rounds.push([outside, inside]);
    }
    directory.close()?;
    let by = |measure: fn(&Tried) -> f64| rounds.iter().map(|round| round.each_ref().map(measure)).collect();
    let (time, work): (Vec<_>, Vec<_>) = (by(|tried| tried.time), by(|tried| tried.work));
    Ok(Outcome::Ok(vec![format!("time {}", ratio(&time)), format!("work {}", ratio(&work))]))
}

fn is_there(program: &str) -> bool {
    command::works(Command::new("sh").args(["-c", &format!("command -v {program}")]))
}

/// Directory of a trial.
struct Stage {
    root: PathBuf,
    jail: PathBuf,
    path: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Outside,
    Inside,
}

/// Result of a project on one side.
#[derive(Debug, Clone)]
struct Tried {
    success: bool,
    /// Text that has to be the same on both sides.
    result: String,
    /// The last of what it complained about.
    complaint: String,
    /// Duration of the build.
    time: f64,
    /// Processor time of the build, with everything it started.
    work: f64,
}

impl Stage {
    /// Brings everything, or says why that cannot be done.
    fn prepared(&self, project: &Project) -> io::Result<Result<(), String>> {
        let seed = self.path.join("seed");
        fs::create_dir(&seed)?;
        let script = format!("set -e\n{}", project.prepare);
        let output = self.command("sh", &seed).args(["-c", &script]).output()?;
        let why = last_lines(&output.stderr, 1);
        Ok(if output.status.success() { Ok(()) } else { Err(why) })
    }

    /// Builds in a fresh copy, in the same place for both sides, and asks for the result.
    fn ran(&self, project: &Project, side: Side) -> io::Result<Tried> {
        let workspace = self.path.join("ws");
        if workspace.exists() {
            fs::remove_dir_all(&workspace)?;
        }
        let copied = Command::new("cp").arg("-a").arg(self.path.join("seed")).arg(&workspace).status()?;
        if !copied.success() {
            return Err(io::Error::other("the project cannot be copied"));
        }
        for (name, text) in [("build.sh", project.build), ("result.sh", project.result)] {
            fs::write(workspace.join(name), format!("set -e\n{text}"))?;
        }
        // Pending writes of copying are no cost of the build.
        command::works(&mut Command::new("sync"));
        let start = Instant::now();
        let built = self.on(side, project, "build.sh").output()?;
        let time = start.elapsed().as_secs_f64();
        let asked = self.on(side, project, "result.sh").output()?;
        Ok(Tried {
            success: built.status.success() && asked.status.success(),
            result: String::from_utf8_lossy(&asked.stdout).into_owned(),
            complaint: format!("{}\n{}", last_lines(&built.stderr, 15), last_lines(&asked.stderr, 5)),
            time,
            work: worked(&built.stderr).unwrap_or(time),
        })
    }

    fn on(&self, side: Side, project: &Project, script: &str) -> Command {
        let workspace = &self.path.join("ws");
        let mut command = self.command("bash", workspace);
        command.args(["-c", "TIMEFORMAT='worked %U %S'; time \"$@\"", "bash"]);
        if side == Side::Inside {
            command.arg(&self.jail).arg("run").args(project.options).arg("--");
        }
        command.args(["sh", script]);
        command
    }

    /// A command with little of our environment, and with policies and ledgers of its own.
    fn command(&self, program: &str, directory: &Path) -> Command {
        let mut command = Command::new(program);
        let kept = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "SSL_CERT_FILE", "PIP_CERT"];
        let kept = kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.env_clear().envs(kept).env("LANG", "C.UTF-8").env("ROOT", &self.root);
        command
            .env("XDG_CONFIG_HOME", self.path.join("config"))
            .env("XDG_STATE_HOME", self.path.join("state"));
        command.current_dir(directory).stdin(Stdio::null());
        command
    }
}

/// Processor time by what the shell said last.
fn worked(err: &[u8]) -> Option<f64> {
    let last = last_lines(err, 1);
    let (own, kernel) = last.strip_prefix("worked ")?.split_once(' ')?;
    Some(own.parse::<f64>().ok()? + kernel.parse::<f64>().ok()?)
}

fn last_lines(bytes: &[u8], count: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Returns the difference, if there is one.
fn difference(outside: &Tried, inside: &Tried) -> Option<Vec<String>> {
    let wrong = match (outside.success, inside.success) {
        (false, _) => "it does not work outside",
        (true, false) => "it works outside and not inside",
        (true, true) if outside.result != inside.result => "the result is another one inside",
        (true, true) if outside.result.trim().is_empty() => "there is no result",
        (true, true) => return None,
    };
    let told = |side: &str, tried: &Tried| format!("{side}:\n{}{}", tried.result, tried.complaint);
    let all = format!("{}\n{}", told("outside", outside), told("inside", inside));
    Some(std::iter::once(wrong).chain(all.lines()).map(str::to_owned).collect())
}

/// A measure of both sides, outside and inside of each round, in seconds.
fn ratio(rounds: &[[f64; 2]]) -> String {
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        let middle = all.len() / 2;
        if all.len() % 2 == 1 { all[middle] } else { f64::midpoint(all[middle - 1], all[middle]) }
    };
    let side = |side: usize| median(rounds.iter().map(|round| round[side]).collect());
    let ratios: Vec<_> = rounds.iter().map(|[outside, inside]| inside / outside).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    format!(
        "{:.2} x outside (median of {} rounds, {least:.2} to {most:.2}): {:.2} s inside, {:.2} s outside",
        median(ratios),
        rounds.len(),
        side(1),
        side(0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_is_wanted() {
        let wanted = Wanted::parse(&["--rounds", "3", "rust", "--in", "/dev/shm", "node"]).unwrap();
        assert_eq!(
            (wanted.rounds, wanted.names, wanted.place),
            (3, vec!["rust", "node"], Some("/dev/shm".into()))
        );
        assert!(Wanted::parse(&[]).unwrap().names.is_empty());
        for wrong in [&["nonsense"][..], &["--rounds"], &["--rounds", "0"], &["--rounds", "x"], &["--in"]] {
            assert!(Wanted::parse(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_ratio_says_its_spread() {
        let said = ratio(&[[1.0, 1.1], [1.0, 1.5], [2.0, 2.0]]);
        assert_eq!(said, "1.10 x outside (median of 3 rounds, 1.00 to 1.50): 1.50 s inside, 1.00 s outside");
    }

    #[test]
    fn work_is_what_the_shell_said_last() {
        assert_eq!(worked(b"noise\nworked 1.5 0.25\n"), Some(1.75));
        assert!(worked(b"worked 1\n").is_none() && worked(b"").is_none());
    }

    #[test]
    fn both_sides_have_to_come_out_alike() {
        let tried = |success, result: &str| Tried {
            success,
            result: result.to_owned(),
            complaint: String::new(),
            time: 0.0,
            work: 0.0,
        };
        let rows = [
            (tried(true, "a"), tried(true, "a"), None),
            (tried(true, ""), tried(true, ""), Some("there is no result")),
            (tried(true, "a"), tried(true, "b"), Some("the result is another one inside")),
            (tried(true, "a"), tried(false, "a"), Some("it works outside and not inside")),
            (tried(false, "a"), tried(false, "a"), Some("it does not work outside")),
        ];
        for (outside, inside, wrong) in rows {
            assert_eq!(difference(&outside, &inside).map(|lines| lines[0].clone()).as_deref(), wrong);
        }
    }
}
