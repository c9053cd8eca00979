//! `run --keep-home`: a home directory that is there again in the next run of the same workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jail::Spec;
use jail::toolchain::TOOLCHAINS;
use overlay::{Home, Homes, Lock, OverlayError};
use policy::{Code, RuleRef, Shown};

use crate::failure::Failure;
use crate::overlay::failure;

/// The home of a run. It is free again when this is dropped.
pub(crate) struct KeptHome {
    pub(crate) home: Home,
    /// Where it appears inside.
    pub(crate) path: PathBuf,
    _lock: Lock,
}

impl KeptHome {
    /// Makes or finds the home of a workspace.
    pub(crate) fn begin(state: Option<&Path>, workspace: &Path) -> Result<Self, Failure> {
        let state = state.ok_or_else(|| {
            Failure::new("cannot determine where homes are kept: HOME and XDG_STATE_HOME are unset")
        })?;
        let begun = Homes::at(&state.join("ringfence")).begin(workspace);
        let (home, lock) = begun.map_err(|error| in_use(&error).unwrap_or_else(|| failure(&error)))?;
        // The jail takes places by their real path.
        let path = std::fs::canonicalize(home.kept().path)
            .map_err(|error| Failure::new("the kept home cannot be opened").because(&error))?;
        Ok(Self { home, path, _lock: lock })
    }

    /// Has a spec use it in place of the private one.
    pub(crate) fn put_into(&self, mut spec: Spec) -> Result<Spec, Failure> {
        let directory = std::fs::canonicalize(self.home.kept().directory)
            .map_err(|error| Failure::new("the kept home cannot be opened").because(&error))?;
        spec.home.clone_from(&self.path);
        Ok(spec.keep(&self.path, &directory))
    }
}

/// Without a jail a command would write there as it likes, for the next jail to find.
pub(crate) fn needs_a_jail(rule: &RuleRef) -> Failure {
    let message = format!("a kept home needs a jail, and {rule} says that there is none");
    Failure::coded(Code::JailUnavailable, message).hint("run without --keep-home")
}

fn in_use(error: &OverlayError) -> Option<Failure> {
    let OverlayError::Busy(id) = error else { return None };
    let message = format!("the kept home {id} is in use by another run in this workspace");
    Some(Failure::coded(Code::JailConflict, message).hint("wait for it, or run without --keep-home"))
}

/// The caller's variables, with those by which tools find what they have in the real home directory: `HOME` is another one inside.
pub(crate) fn leading_home(
    home: &Path,
    mut environment: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let dirs = TOOLCHAINS.iter().flat_map(|toolchain| toolchain.dirs);
    // What is installed with `pip install --user` is to be kept.
    let moved = dirs.filter(|dir| !["", "PYTHONUSERBASE"].contains(&dir.variable) && !dir.path.is_empty());
    for dir in moved {
        let path = home.join(dir.path);
        let known = environment.iter().any(|(name, _)| name.eq_ignore_ascii_case(dir.variable));
        if !known && path.exists() {
            environment.push((dir.variable.into(), path.into()));
        }
    }
    environment
}

/// How a home is told.
pub(crate) fn shown(home: &Home) -> String {
    format!("{} {}", home.id, Shown::path(&home.workspace))
}
