//! `ringfence review`, `apply` and `discard`: what becomes of the changes that `run --overlay` kept apart.

mod apply;
mod as_json;
mod diff;
mod discard;
mod draw;
mod hunks;
mod ignored;
mod listing;
mod pager;
mod patch;
mod review;
mod selection;

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use ::overlay::{Change, Overlay, OverlayError, Store};
use policy::{Code, Shown};
use ringfence::run::{Host, RunError};

use crate::failure::Failure;
use crate::terminal::Terminal;

pub(crate) use apply::{ApplyArgs, run as apply};
pub(crate) use discard::{DiscardArgs, run as discard};
pub(crate) use review::{ReviewArgs, run as review};

/// Converts an error of an overlay.
pub(crate) fn failure(error: &OverlayError) -> Failure {
    RunError::from(error).into()
}

fn store(around: &Host) -> Result<Store, Failure> {
    let state = around.places.state.as_ref().ok_or_else(|| {
        Failure::new("cannot determine the overlay directory: HOME and XDG_STATE_HOME are unset")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    Ok(Store::at(&state.join("ringfence")))
}

/// The overlay that was named, or the newest of the workspace.
fn chosen(store: &Store, around: &Host, id: Option<&str>) -> Result<Overlay, Failure> {
    let found = match id {
        Some(id) => store.find(id).map(Some),
        None => store.newest(&around.places.workspace),
    };
    found.map_err(|error| failure(&error))?.ok_or_else(|| {
        let message = format!("{} has no overlay", Shown::path(&around.places.workspace));
        Failure::new(message).hint("`ringfence run --overlay` makes one, `ringfence review --list` lists all")
    })
}

/// Returns the path of a change, outside.
fn place(overlay: &Overlay, change: &Change) -> PathBuf {
    let view = &overlay.manifest.views[change.view].path;
    if change.path.as_os_str().is_empty() { view.clone() } else { view.join(&change.path) }
}

/// The first word is an id if there is such an overlay; a path of that name can be written `./NAME` or after `--`.
fn named<'a>(store: &Store, words: &'a [PathBuf]) -> (Option<&'a str>, &'a [PathBuf]) {
    let id = words.first().and_then(|word| word.to_str());
    let hex = |word: &&str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match id.filter(hex).filter(|word| !matches!(store.find(word), Err(OverlayError::Unknown(_)))) {
        Some(id) => (Some(id), &words[1..]),
        None => (None, words),
    }
}

/// Returns the path of a change, for people.
fn shown(overlay: &Overlay, change: &Change) -> String {
    shown_path(overlay, change.view, &change.path)
}

/// Returns the path of a view's entry, for people: from the workspace, if it is in there.
fn shown_path(overlay: &Overlay, view: usize, path: &Path) -> String {
    let view = &overlay.manifest.views[view].path;
    let place = if path.as_os_str().is_empty() { view.clone() } else { view.join(path) };
    let short = place.strip_prefix(&overlay.manifest.workspace).unwrap_or(&place);
    let short = if short.as_os_str().is_empty() { Path::new(".") } else { short };
    Shown::path(short).to_string()
}

/// Asks a person. `None`: there is no terminal to ask on.
fn ask(question: &str, terminal: &mut Terminal<'_>) -> io::Result<Option<bool>> {
    if !is_attended() {
        return Ok(None);
    }
    let answer = answer(&format!("{question} [y/N]"), terminal)?.unwrap_or_default();
    Ok(Some(matches!(answer.trim(), "y" | "Y" | "yes")))
}

/// Returns true if there is a person who can be asked.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Reads the answer of a person. `None`: the input has ended. Keys typed before the question are not an answer to it.
fn answer(question: &str, terminal: &mut Terminal<'_>) -> io::Result<Option<String>> {
    terminal.out.flush()?;
    rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
    write!(terminal.err, "{question} ")?;
    terminal.err.flush()?;
    let mut answer = String::new();
    let length = io::stdin().lock().read_line(&mut answer)?;
    Ok((length > 0).then_some(answer))
}

/// `RF-O002` and `RF-O003` list places, but not more than fit on a screen.
fn listed(code: Code, message: String, places: &[String]) -> Failure {
    const MOST: usize = 20;
    let mut failure = Failure::coded(code, message);
    failure.causes.extend(places.iter().take(MOST).cloned());
    if places.len() > MOST {
        failure.causes.push(format!("and {} more", places.len() - MOST));
    }
    failure
}
