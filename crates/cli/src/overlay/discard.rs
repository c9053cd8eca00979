//! `ringfence discard`: changes thrown away.

use ::audit::{By, Event, FilePath, Name};
use ::overlay::{OverlayError, Store};
use policy::Shown;
use ringfence::run::Host;
use serde_json::json;

use super::{ask, chosen, failure, store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::terminal::{Format, Terminal};

/// Arguments of `ringfence discard`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DiscardArgs {
    /// The overlay, by the beginning of its id [default: the newest of this directory]
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Throws changes away.
pub(crate) fn run(args: &DiscardArgs, around: &Host, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let store = store(around)?;
    if let Some(id) = damaged(&store, args.id.as_deref()) {
        agreed(args, &format!("Remove the damaged overlay {id}?"), terminal)?;
        let journal = Journal::open(around)?;
        journal.record(&event(&id, &around.places.workspace, 0))?;
        store.remove(&id).map_err(|error| failure(&error))?;
        return tell(&id, 0, terminal);
    }
    let overlay = chosen(&store, around, args.id.as_deref())?;
    let lock = overlay.hold().map_err(|error| failure(&error))?;
    // An overlay can be discarded even if it cannot be read.
    let count = overlay.changes().map_or(0, |changes| changes.len());
    let id = overlay.id.clone();
    let workspace = overlay.manifest.workspace.clone();
    let question = format!("Throw {count} changes of {} away (overlay {id})?", Shown::path(&workspace));
    agreed(args, &question, terminal)?;
    let journal = Journal::open(around)?;
    journal.record(&event(&id, &workspace, count as u64))?;
    overlay.discard(lock).map_err(|error| failure(&error))?;
    tell(&id, count, terminal)
}

fn damaged(store: &Store, id: Option<&str>) -> Option<String> {
    match store.find(id?) {
        Err(OverlayError::Damaged { id, .. }) => Some(id),
        _ => None,
    }
}

fn agreed(args: &DiscardArgs, question: &str, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    match ask(question, terminal)? {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::new("nothing was discarded")),
        None => Err(Failure::usage("discarding needs confirmation, and there is no terminal to ask on")
            .hint("to discard without asking: --yes")),
    }
}

fn event<'a>(id: &'a str, path: &'a std::path::Path, changes: u64) -> Event<'a> {
    Event::OverlayDiscarded { by: By::default(), overlay: Name(id), path: FilePath(path), changes }
}

fn tell(id: &str, count: usize, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    match terminal.format {
        Format::Json => terminal.json(&json!({ "version": 1, "overlay": id, "discarded": count }))?,
        Format::Text => writeln!(terminal.out, "overlay {id} is gone, with {count} changes")?,
    }
    Ok(Exit::Ok)
}
