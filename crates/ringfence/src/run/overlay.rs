//! The overlay of a run (`run --overlay`): changes are kept apart from the host's files.

use std::path::{Path, PathBuf};

use jail::{Mode, Spec, mode_at};
use overlay::{ChangeDirectory, Lock, Overlay, OverlayChoice, Store};
use policy::{Code, RuleRef, Shown};

use super::error::{RunError, RunErrorKind};
use super::outcome::OverlayOutcome;
use crate::journal::Journal;

/// The overlay of a run.
pub(crate) struct RunOverlay {
    overlay: Overlay,
    lock: Lock,
    kept: Vec<ChangeDirectory>,
}

impl RunOverlay {
    /// Makes or finds the overlay, and has the spec write there in place of the host.
    pub(crate) fn begin(
        wanted: &OverlayChoice,
        state: Option<&Path>,
        spec: &mut Spec,
        line: &str,
    ) -> Result<Self, RunError> {
        let state = state.ok_or_else(|| {
            RunError::new("cannot determine the overlay directory: HOME and XDG_STATE_HOME are unset")
                .hint("set HOME or XDG_STATE_HOME")
        })?;
        let views = writable_directories(spec)?;
        let store = Store::at(&state.join("ringfence"));
        let begun = store.begin(wanted, &spec.workspace, line, &views);
        let (overlay, lock, kept) = begun.map_err(|error| RunError::from(&error))?;
        spec.views.retain(|view| view.mode != Mode::ReadWrite);
        for ChangeDirectory { path, directory, .. } in &kept {
            // The jail takes directories by their real path.
            let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.clone());
            *spec = spec.clone().keep(path, &directory);
        }
        Ok(Self { overlay, lock, kept })
    }

    /// Records the directories whose changes are kept apart.
    pub(crate) fn record(&self, journal: &Journal) -> Result<(), audit::AuditError> {
        self.kept.iter().try_for_each(|kept| journal.record_overlay(&self.overlay.id, &kept.path))
    }

    /// Ends the overlay. One without changes is removed.
    pub(crate) fn end(self) -> OverlayOutcome {
        let id = self.overlay.id.clone();
        match self.overlay.ended(self.lock) {
            Ok(changed) => OverlayOutcome { id, changed, error: None },
            Err(error) => OverlayOutcome { id, changed: true, error: Some(RunError::from(&error)) },
        }
    }
}

/// Ends the overlay of a run that failed, and adds its part of the explanation.
pub(crate) fn explain(error: RunError, overlay: Option<RunOverlay>) -> RunError {
    let Some(overlay) = overlay else { return error };
    let place = overlay.kept.iter().map(|kept| kept.directory.as_path()).find_map(Path::parent);
    let place = place.map(Path::to_owned);
    let ended = overlay.end().error.map(|ended| ended.message);
    let error = match place {
        // The file system that would hold the changes may not take a layer.
        Some(place) if error.message.contains("put a layer over") => error.hint(format!(
            "changes would be kept in {}: that has to be on ext4, xfs, btrfs or tmpfs; XDG_STATE_HOME moves it",
            Shown::path(&place)
        )),
        _ => error,
    };
    ended.into_iter().fold(error, RunError::hint)
}

/// Refuses an overlay without a jail: nothing would stand between the command and the files.
pub(crate) fn needs_a_jail(rule: &RuleRef) -> RunError {
    let message = format!("an overlay needs a jail, and {rule} says that there is none");
    RunError::coded(Code::JailUnavailable, message)
}

/// Returns the directories of the host that the command could change, and whether each is a repository itself. A directory
/// below another one is part of it.
fn writable_directories(spec: &Spec) -> Result<Vec<(PathBuf, bool)>, RunError> {
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
        Err(RunError::coded(Code::JailConflict, message).hint("name its directory with --write"))
    });
    let own: Vec<_> = own.collect::<Result<_, _>>()?;
    if own.is_empty() {
        let error = RunError::new("there is nothing to keep apart: the command may change nothing");
        let error = error.kind(RunErrorKind::Usage);
        return Err(error.hint("choose a profile that writes, such as workspace-write"));
    }
    Ok(own)
}
