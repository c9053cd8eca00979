//! `run --overlay`: what the command changes is kept apart.

use std::path::{Path, PathBuf};

use jail::{Mode, Spec, mode_at};
use overlay::{Kept, Lock, Overlay, Store, Wanted};
use policy::{Code, RuleRef, Shown};
use serde_json::json;

use super::record::Journal;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::overlay::failure;
use crate::terminal::{Format, Terminal};

/// The overlay of a run.
pub(crate) struct Layered {
    overlay: Overlay,
    lock: Lock,
    kept: Vec<Kept>,
}

impl Layered {
    /// Makes or finds it, and lets the spec write to it wherever it would have written to the host.
    pub(crate) fn begin(
        wanted: &str,
        state: Option<&Path>,
        spec: &mut Spec,
        line: &str,
    ) -> Result<Self, Failure> {
        let state = state.ok_or_else(|| {
            Failure::new("it is not known where overlays are kept").hint("set HOME or XDG_STATE_HOME")
        })?;
        let wanted = match wanted {
            "" => Wanted::Newest,
            "new" => Wanted::New,
            id => Wanted::Id(id.to_owned()),
        };
        let views = changed(spec)?;
        let store = Store::at(&state.join("ringfence"));
        let begun = store.begin(&wanted, &spec.workspace, line, &views);
        let (overlay, lock, kept) = begun.map_err(|error| failure(&error))?;
        spec.views.retain(|view| view.mode != Mode::ReadWrite);
        for Kept { path, directory } in &kept {
            // The jail takes places by their real path.
            let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.clone());
            *spec = spec.clone().keep(path, &directory);
        }
        Ok(Self { overlay, lock, kept })
    }

    /// Records where changes go.
    pub(crate) fn record(&self, journal: &Journal) -> Result<(), Failure> {
        self.kept.iter().try_for_each(|kept| journal.overlaid(&self.overlay.id, &kept.path))
    }

    /// Says where the changes are, however the command came out. An overlay without changes is gone.
    pub(crate) fn ended(
        self,
        came: Result<Exit, Failure>,
        terminal: &mut Terminal<'_>,
    ) -> Result<Exit, Failure> {
        let id = self.overlay.id.clone();
        let changed = match self.overlay.ended(self.lock) {
            Ok(changed) => changed,
            Err(error) => {
                // The command has run, and its exit code is the answer.
                write!(terminal.err, "{}", failure(&error))?;
                true
            }
        };
        let came = came.map_err(|failed| hinted(failed, &self.kept))?;
        match terminal.format {
            Format::Json => writeln!(
                terminal.err,
                "{}",
                json!({ "version": 1, "event": "overlay", "overlay": id, "changed": changed })
            )?,
            Format::Text if changed => {
                writeln!(
                    terminal.err,
                    "note: changes are in the overlay {id}; see them: ringfence review {id}"
                )?;
            }
            Format::Text => {}
        }
        Ok(came)
    }
}

/// Where the layer cannot be made, the place for its changes may be why.
fn hinted(failed: Failure, kept: &[Kept]) -> Failure {
    let place = kept.iter().map(|kept| kept.directory.as_path()).find_map(Path::parent);
    match place {
        Some(place) if failed.message.contains("put a layer over") => failed.hint(format!(
            "changes would be kept in {}: that has to be on ext4, xfs, btrfs or tmpfs; XDG_STATE_HOME moves it",
            Shown::path(place)
        )),
        _ => failed,
    }
}

/// Without a jail there is nothing between the command and the files.
pub(crate) fn needs_a_jail(rule: &RuleRef) -> Failure {
    let message = format!("an overlay needs a jail, and {rule} says that there is none");
    Failure::coded(Code::JailUnavailable, message)
}

/// The directories of the host that the command could change, and whether each is one of a repository itself. What lies in another
/// one is part of it.
fn changed(spec: &Spec) -> Result<Vec<(PathBuf, bool)>, Failure> {
    let writable = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
    let own = writable.filter(|view| {
        let above = view.path.parent().and_then(|above| mode_at(&spec.views, above));
        above != Some(Mode::ReadWrite)
    });
    let own = own.map(|view| {
        if view.path.is_dir() {
            return Ok((view.path.clone(), spec.repositories.contains(&view.path)));
        }
        let message = format!("{} is a file, and an overlay takes directories only", Shown::path(&view.path));
        Err(Failure::coded(Code::JailConflict, message).hint("name its directory with --write"))
    });
    let own: Vec<_> = own.collect::<Result<_, _>>()?;
    if own.is_empty() {
        let message = "there is nothing to keep apart: the command may change nothing";
        return Err(Failure::usage(message).hint("choose a profile that writes, such as workspace-write"));
    }
    Ok(own)
}
