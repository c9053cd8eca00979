//! `ringfence apply`: changes made real, all or some.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ::audit::{Applied as Word, By, Event, FilePath, Name};
use ::overlay::{Applied, Change, Overlay, OverlayError, Verb};
use policy::{Code, Shown, lexical};
use serde_json::json;

use super::{ask, chosen, failure, listed, named, place, shown, store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::surroundings::Surroundings;
use crate::terminal::{Format, Terminal};

/// What a person types after `ringfence apply`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Exit codes: 0 applied, 1 not everything that was asked for; what is left is listed.")]
pub(crate) struct ApplyArgs {
    /// The overlay [default: the newest of this directory], then the paths [default: all]
    #[arg(value_name = "ID|PATH")]
    words: Vec<PathBuf>,
    /// Also apply a protected name; may be repeated
    #[arg(long, value_name = "PATH")]
    protected: Vec<PathBuf>,
    /// Also apply what was changed outside meanwhile
    #[arg(long)]
    force: bool,
}

/// Makes changes real.
pub(crate) fn run(
    args: &ApplyArgs,
    around: &Surroundings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let store = store(around)?;
    let (id, paths) = named(&store, &args.words);
    let overlay = chosen(&store, around, id)?;
    let lock = overlay.hold().map_err(|error| failure(&error))?;
    let journal = Journal::open(around)?;
    let changes = overlay.changes().map_err(|error| failure(&error))?;
    let real =
        |paths: &[PathBuf]| paths.iter().map(|path| lexical(&around.cwd.join(path))).collect::<Vec<_>>();
    let (wanted, protected) = (real(paths), real(&args.protected));
    let selection = Selection { overlay: &overlay, changes: &changes };
    selection.knows(&wanted)?;
    selection.knows(&protected)?;
    let (taken, left) = selection.divided(&wanted, &protected, terminal)?;
    if !args.force {
        selection.untouched(&taken)?;
    }
    let applied = overlay.clone().apply(lock, &taken, |change| record(&journal, &overlay, change));
    let applied = applied.map_err(|Stopped(failure)| failure)?;
    tell(&overlay, &applied, &left, terminal)
}

/// Why applying stopped in the middle.
struct Stopped(Failure);

impl From<OverlayError> for Stopped {
    fn from(error: OverlayError) -> Self {
        Self(failure(&error))
    }
}

/// The changes that are to be applied.
struct Selection<'a> {
    overlay: &'a Overlay,
    changes: &'a [Change],
}

type Changes<'a> = Vec<&'a Change>;

impl<'a> Selection<'a> {
    /// Whoever names something that was not changed means something else.
    fn knows(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        let unknown = paths.iter().find(|path| !self.changes.iter().any(|change| self.is_in(change, path)));
        unknown.map_or(Ok(()), |path| {
            let message = format!("nothing was changed at {}", Shown::path(path));
            Err(Failure::usage(message).hint("`ringfence review --stat` lists what was"))
        })
    }

    fn is_in(&self, change: &Change, path: &Path) -> bool {
        place(self.overlay, change).starts_with(path)
    }

    /// What is applied, and the protected names that are left.
    fn divided(
        &self,
        wanted: &[PathBuf],
        protected: &[PathBuf],
        terminal: &mut Terminal<'_>,
    ) -> Result<(Changes<'a>, Changes<'a>), Failure> {
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        // New directories come with what is in them, and are not asked about for themselves.
        let (ways, things): (Changes<'a>, Changes<'a>) =
            self.changes.iter().partition(|change| change.carries() && self.holds_more(change));
        for change in things {
            let named = protected.iter().any(|path| self.is_in(change, path));
            let is_wanted = wanted.is_empty() || wanted.iter().any(|path| self.is_in(change, path));
            match change.protected {
                _ if named => taken.push(change),
                None if is_wanted => taken.push(change),
                Some(name) if is_wanted => {
                    let path = shown(self.overlay, change);
                    let verb = change.verb().word();
                    let question = format!("{path} is {verb}. It is protected: {}. Apply it?", name.because);
                    let agreed = ask(&question, terminal)?.unwrap_or(false);
                    if agreed { &mut taken } else { &mut left }.push(change);
                }
                _ => {}
            }
        }
        let above: HashSet<(usize, &Path)> = taken
            .iter()
            .flat_map(|change| change.path.ancestors().skip(1).map(|above| (change.view, above)))
            .collect();
        taken.extend(ways.into_iter().filter(|way| above.contains(&(way.view, way.path.as_path()))));
        Ok((taken, left))
    }

    /// Whether other changes lie in a directory.
    fn holds_more(&self, way: &Change) -> bool {
        let after = |other: &Change| (other.view, &other.path) <= (way.view, &way.path);
        let next = self.changes.get(self.changes.partition_point(after));
        next.is_some_and(|next| next.view == way.view && next.is_beneath(&way.path))
    }

    /// All or nothing: what was changed on both sides is for a person to choose.
    fn untouched(&self, taken: &[&Change]) -> Result<(), Failure> {
        let both: Vec<_> = taken.iter().filter(|change| change.outside).collect();
        if both.is_empty() {
            return Ok(());
        }
        let places: Vec<_> = both.iter().map(|change| shown(self.overlay, change)).collect();
        let message =
            "nothing was applied: these were changed outside, too, since the command began".to_owned();
        Err(listed(Code::OverlayConflict, message, &places)
            .hint("name the paths that you want, or take the overlay's version of all with --force"))
    }
}

fn record(journal: &Journal, overlay: &Overlay, change: &Change) -> Result<(), Stopped> {
    let path = place(overlay, change);
    let event = Event::OverlayApplied {
        by: By::default(),
        overlay: Name(&overlay.id),
        path: FilePath(&path),
        change: match change.verb() {
            Verb::Added => Word::Added,
            Verb::Changed => Word::Changed,
            Verb::Removed => Word::Removed,
        },
        protected: change.protected.is_some(),
        forced: change.outside,
    };
    journal.record(&event).map_err(Stopped)
}

fn tell(
    overlay: &Overlay,
    applied: &Applied,
    protected: &[&Change],
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (id, views) = (&overlay.id, &overlay.manifest.views);
    let failed: Vec<_> = applied
        .left
        .iter()
        .map(|left| format!("{}: {}", Shown::path(&views[left.view].path.join(&left.path)), left.why))
        .collect();
    let kept: Vec<_> = protected.iter().map(|change| shown(overlay, change)).collect();
    match terminal.format {
        Format::Json => terminal.json(&json!({
            "version": 1,
            "overlay": id,
            "applied": applied.count,
            "failed": failed,
            "protected": kept,
            "removed": applied.whole,
        }))?,
        Format::Text => {
            let rest =
                if applied.whole { "nothing is left of the overlay" } else { "the rest is still there" };
            writeln!(terminal.out, "{} applied from overlay {id}; {rest}", applied.count)?;
        }
    }
    if !kept.is_empty() {
        let message = format!("{} protected and not applied", kept.len());
        let told =
            listed(Code::OverlayProtected, message, &kept).hint("name each that you want: --protected PATH");
        write!(terminal.err, "{told}")?;
    }
    if failed.is_empty() {
        return Ok(if kept.is_empty() { Exit::Ok } else { Exit::Failed });
    }
    Err(listed(Code::OverlayConflict, format!("{} could not be applied", failed.len()), &failed))
}
