//! `ringfence apply`: changes made real, all or some.

use std::path::PathBuf;

use ::audit::{Applied as Word, By, Event, FilePath, Name};
use ::overlay::{ApplyReport, Change, GitChanges, Overlay, OverlayError, Parts, Verb};
use policy::{Code, Shown};
use ringfence::run::Host;
use serde_json::json;

use super::draw::protected_lines;
use super::listing::{Found, Listing, absolute};
use super::selection::{Selection, Wish};
use super::{chosen, failure, listed, named, patch, place, shown, shown_path, store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::terminal::{Format, Terminal};

/// Arguments of `ringfence apply`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Exit codes: 0 applied, 1 not everything that was asked for; what is left is listed.")]
pub(crate) struct ApplyArgs {
    /// The overlay [default: the newest of this directory], then the paths [default: all]
    #[arg(value_name = "ID|PATH")]
    words: Vec<PathBuf>,
    /// Paths only
    #[arg(value_name = "PATH", last = true)]
    paths: Vec<PathBuf>,
    /// Ask about each change, and about each part of a changed text
    #[arg(short, long)]
    patch: bool,
    /// Also apply a protected name; may be repeated
    #[arg(long, value_name = "PATH")]
    protected: Vec<PathBuf>,
    /// Also apply commits and staged files that bring new content to protected names
    #[arg(long)]
    protected_commits: bool,
    /// Also apply what was changed outside meanwhile
    #[arg(long)]
    force: bool,
}

/// Changes that are applied, and those that are left because they are protected.
#[derive(Default)]
struct Decision<'a> {
    taken: Vec<&'a Change>,
    parts: Parts,
    left: Vec<&'a Change>,
    /// Repositories that are left.
    held: Vec<&'a GitChanges>,
}

/// Makes changes real.
pub(crate) fn run(args: &ApplyArgs, around: &Host, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let store = store(around)?;
    let (id, words) = named(&store, &args.words);
    let overlay = chosen(&store, around, id)?;
    let lock = overlay.hold().map_err(|error| failure(&error))?;
    let journal = Journal::open(around)?;
    let found = Found::of(&overlay)?;
    let wish = Wish {
        paths: absolute(&around.cwd, &[words, &args.paths].concat()),
        protected: absolute(&around.cwd, &args.protected),
        commits: args.protected_commits,
    };
    let decision = decide(args, &overlay, &found, &wish, terminal)?;
    if !args.force {
        untouched(&overlay, &decision.taken)?;
    }
    let Decision { taken, parts, left, held } = decision;
    let recorded = |change: &Change| record(&journal, &overlay, &found, change);
    let applied = overlay.clone().apply(lock, &taken, &parts, recorded);
    let applied = applied.map_err(|Stopped(failure)| failure)?;
    tell(&overlay, &applied, &left, &held, terminal)
}

fn decide<'a>(
    args: &ApplyArgs,
    overlay: &'a Overlay,
    found: &'a Found,
    wish: &'a Wish,
    terminal: &mut Terminal<'_>,
) -> Result<Decision<'a>, Failure> {
    let listing = Listing { overlay, found, paths: &wish.paths, folds: true };
    listing.knows(&wish.paths)?;
    listing.knows(&wish.protected)?;
    let selection = Selection { overlay, found, wish };
    selection.is_finished()?;
    if args.patch {
        let chosen = patch::choose(overlay, &listing.entries(), terminal)?;
        let taken = selection.with_directories(chosen.changes);
        return Ok(Decision { taken, parts: chosen.parts, ..Decision::default() });
    }
    let (taken, left) = selection.divide(terminal)?;
    let (taken, held) = selection.hold_back(taken, terminal)?;
    Ok(Decision { taken: selection.with_directories(taken), left, held, parts: Parts::new() })
}

/// Reason why applying stopped in the middle.
struct Stopped(Failure);

impl From<OverlayError> for Stopped {
    fn from(error: OverlayError) -> Self {
        Self(failure(&error))
    }
}

/// All or nothing: what was changed on both sides is for a person to choose.
fn untouched(overlay: &Overlay, taken: &[&Change]) -> Result<(), Failure> {
    let both: Vec<_> = taken.iter().filter(|change| change.outside).collect();
    if both.is_empty() {
        return Ok(());
    }
    let places: Vec<_> = both.iter().map(|change| shown(overlay, change)).collect();
    let message = "nothing was applied: these were changed outside, too, since the command began".to_owned();
    Err(listed(Code::OverlayConflict, message, &places)
        .hint("name the paths that you want, or take the overlay's version of all with --force"))
}

fn record(journal: &Journal, overlay: &Overlay, found: &Found, change: &Change) -> Result<(), Stopped> {
    let path = place(overlay, change);
    let in_commits = found.repository(change).is_some_and(GitChanges::carries_protected);
    let event = Event::OverlayApplied {
        by: By::default(),
        overlay: Name(&overlay.id),
        path: FilePath(&path),
        change: match change.verb() {
            Verb::Added => Word::Added,
            Verb::Changed => Word::Changed,
            Verb::Removed => Word::Removed,
        },
        protected: change.protected.is_some() || in_commits,
        forced: change.outside,
    };
    journal.record(&event).map_err(Stopped)
}

fn tell(
    overlay: &Overlay,
    applied: &ApplyReport,
    protected: &[&Change],
    held: &[&GitChanges],
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (id, views) = (&overlay.id, &overlay.manifest.views);
    let failed: Vec<_> = applied
        .left
        .iter()
        .map(|left| format!("{}: {}", Shown::path(&views[left.view].path.join(&left.path)), left.why))
        .collect();
    let kept: Vec<_> = protected.iter().map(|change| shown(overlay, change)).collect();
    let commits: Vec<_> = held.iter().flat_map(|git| told(overlay, git)).collect();
    match terminal.format {
        Format::Json => terminal.json(&json!({
            "version": 1,
            "overlay": id,
            "applied": applied.count,
            "failed": failed,
            "protected": kept,
            "commits": commits,
            "removed": applied.whole,
        }))?,
        Format::Text => {
            let rest =
                if applied.whole { "nothing is left of the overlay" } else { "the rest is still there" };
            writeln!(terminal.out, "{} applied from overlay {id}; {rest}", applied.count)?;
        }
    }
    let by_name = (!kept.is_empty()).then(|| {
        let message = format!("{} protected and not applied", kept.len());
        listed(Code::OverlayProtected, message, &kept).hint("name each that you want: --protected PATH")
    });
    let by_commit = (!commits.is_empty()).then(|| {
        let message = "not applied: commits made inside bring new content to protected names".to_owned();
        listed(Code::OverlayProtected, message, &commits)
            .hint("look at each in `ringfence review`, then take the repository with --protected-commits")
    });
    for told in by_name.iter().chain(&by_commit) {
        write!(terminal.err, "{told}")?;
    }
    if failed.is_empty() {
        return Ok(if kept.is_empty() && commits.is_empty() { Exit::Ok } else { Exit::Failed });
    }
    Err(listed(Code::OverlayConflict, format!("{} could not be applied", failed.len()), &failed))
}

/// Returns the reasons why a repository was left, line by line.
fn told(overlay: &Overlay, git: &GitChanges) -> Vec<String> {
    let path = shown_path(overlay, git.view, &git.path);
    let lines = protected_lines(git);
    lines
        .iter()
        .map(|line| format!("{path}: {}", line.trim_start().trim_start_matches("protected: ")))
        .collect()
}
