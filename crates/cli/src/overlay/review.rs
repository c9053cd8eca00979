//! `ringfence review`: what a command changed.

use std::path::PathBuf;

use ::overlay::{Overlay, State};
use policy::Shown;
use ringfence::run::Host;
use serde_json::{Value, json};

use super::draw::Drawing;
use super::listing::{Entry, Found, Listing, absolute};
use super::{chosen, failure, named, pager, store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::surroundings;
use crate::terminal::{Format, Terminal};

/// Arguments of `ringfence review`.
#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct ReviewArgs {
    /// The overlay [default: the newest of this directory], then the paths [default: all]
    #[arg(value_name = "ID|PATH")]
    words: Vec<PathBuf>,
    /// Paths only
    #[arg(value_name = "PATH", last = true)]
    paths: Vec<PathBuf>,
    /// One line for each change, without what is in it
    #[arg(long)]
    stat: bool,
    /// Fold nothing: list each change in repositories and at ignored names
    #[arg(long)]
    full: bool,
    /// Do not use a pager on a terminal ($PAGER, else less)
    #[arg(long)]
    no_pager: bool,
    /// List all overlays instead
    #[arg(long, conflicts_with_all = ["words", "paths", "stat", "full"])]
    list: bool,
}

/// Shows what a command changed. Looking changes nothing.
pub(crate) fn run(args: &ReviewArgs, around: &Host, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let store = store(around)?;
    if args.list {
        return list(&store, terminal);
    }
    let (id, words) = named(&store, &args.words);
    let paths = absolute(&around.cwd, &[words, &args.paths].concat());
    let overlay = chosen(&store, around, id)?;
    let found = Found::of(&overlay)?;
    let listing = Listing { overlay: &overlay, found: &found, paths: &paths, folds: !args.full };
    listing.knows(&paths)?;
    let entries = listing.entries();
    let drawing = Drawing { overlay: &overlay, stat: args.stat, color: terminal.color };
    match terminal.format {
        Format::Text => {
            let mut text = format!("{}\n", heading(&overlay, &entries));
            drawing.entries(&entries, &mut text)?;
            let pager = if args.no_pager { None } else { surroundings::pager() };
            pager::show(&text, pager, terminal)?;
        }
        Format::Json => {
            let mut told = about(&overlay);
            for (key, value) in drawing.json(&entries)? {
                told[key] = value;
            }
            terminal.json(&told)?;
        }
    }
    Ok(Exit::Ok)
}

/// Returns the number of entries that follow, by kind.
fn heading(overlay: &Overlay, entries: &[Entry<'_>]) -> String {
    let count = |fits: &dyn Fn(&Entry<'_>) -> bool| entries.iter().filter(|entry| fits(entry)).count();
    let any = |entry: &Entry<'_>, fits: fn(&::overlay::Change) -> bool| {
        entry.changes().iter().any(|change| fits(change))
    };
    let ignored = entries.iter().filter(|entry| matches!(entry, Entry::Ignored { .. }));
    let commits = entries.iter().map(|entry| match entry {
        Entry::Repository { git, .. } => git.commits.len(),
        _ => 0,
    });
    let commits: usize = commits.sum();
    let counted = [
        (count(&|entry| !entry.is_folded()), "changed"),
        (count(&|entry| is_protected(entry)), "protected"),
        (count(&|entry| any(entry, |change| change.outside)), "changed outside, too"),
        (commits, if commits == 1 { "commit" } else { "commits" }),
        (ignored.map(Entry::files).sum(), "ignored"),
    ];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let counted: Vec<_> =
        counted.map(|(count, what)| format!(", {} {what}", super::draw::grouped(*count as u64))).collect();
    let workspace = Shown::path(&overlay.manifest.workspace);
    format!("overlay {} of {workspace}, {}{}", overlay.id, state(overlay), counted.concat())
}

fn is_protected(entry: &Entry<'_>) -> bool {
    match entry {
        Entry::Repository { git, .. } => git.carries_protected(),
        other => other.changes().iter().any(|change| change.protected.is_some()),
    }
}

fn list(store: &::overlay::Store, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let all = store.list().map_err(|error| failure(&error))?;
    if terminal.format == Format::Json {
        let told = all.iter().map(|found| match found {
            Ok(overlay) => about(overlay),
            Err(error) => json!({ "damaged": error.to_string() }),
        });
        terminal.json(&json!({ "version": 1, "overlays": told.collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    for found in &all {
        match found {
            Ok(overlay) => {
                let Overlay { id, manifest, .. } = overlay;
                let (state, workspace) = (state(overlay), Shown::path(&manifest.workspace));
                writeln!(terminal.out, "{id}  {state:<10}  {workspace}  {}", Shown::text(&manifest.command))?;
            }
            Err(error) => writeln!(terminal.out, "{error}")?,
        }
    }
    Ok(Exit::Ok)
}

/// Returns the state of the command.
fn state(overlay: &Overlay) -> &'static str {
    match (overlay.is_held(), overlay.manifest.state) {
        (true, _) => "running",
        (false, State::Running) => "unfinished",
        (false, State::Ended) => "ended",
    }
}

fn about(overlay: &Overlay) -> Value {
    let manifest = &overlay.manifest;
    json!({
        "version": 1,
        "overlay": overlay.id,
        "workspace": Shown::path(&manifest.workspace).to_string(),
        "began": manifest.began.seconds,
        "command": manifest.command,
        "state": state(overlay),
    })
}
