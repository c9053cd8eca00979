//! Kept homes (`run --keep-home`): a home directory that the next run in the same workspace sees again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jail::Spec;
use jail::toolchain::TOOLCHAINS;
use overlay::{Home, Homes, Lock, OverlayError};
use policy::{Code, RuleRef};

use super::error::RunError;

/// Kept home directory of a run. Dropping it releases its lock.
pub struct KeptHome {
    /// The home on disk.
    pub home: Home,
    /// Path inside the jail.
    pub path: PathBuf,
    _lock: Lock,
}

impl KeptHome {
    /// Makes or finds the home of a workspace.
    pub fn begin(state: Option<&Path>, workspace: &Path) -> Result<Self, RunError> {
        let state = state.ok_or_else(|| {
            RunError::new("cannot determine where homes are kept: HOME and XDG_STATE_HOME are unset")
        })?;
        let begun = Homes::at(&state.join("ringfence")).begin(workspace);
        let (home, lock) = begun.map_err(|error| in_use(&error).unwrap_or_else(|| RunError::from(&error)))?;
        // The jail takes places by their real path.
        let path = std::fs::canonicalize(home.kept().path)
            .map_err(|error| RunError::new("the kept home cannot be opened").because(&error))?;
        Ok(Self { home, path, _lock: lock })
    }

    /// Has a spec use it in place of the private one.
    pub fn put_into(&self, mut spec: Spec) -> Result<Spec, RunError> {
        let directory = std::fs::canonicalize(self.home.kept().directory)
            .map_err(|error| RunError::new("the kept home cannot be opened").because(&error))?;
        spec.home.clone_from(&self.path);
        Ok(spec.keep(&self.path, &directory))
    }
}

/// Refuses a kept home without a jail: the command could write there without any check, for the next jail to find.
pub fn needs_a_jail(rule: &RuleRef) -> RunError {
    let message = format!("a kept home needs a jail, and {rule} says that there is none");
    RunError::coded(Code::JailUnavailable, message).hint("run without --keep-home")
}

fn in_use(error: &OverlayError) -> Option<RunError> {
    let OverlayError::Busy(id) = error else { return None };
    let message = format!("the kept home {id} is in use by another run in this workspace");
    Some(RunError::coded(Code::JailConflict, message).hint("wait for it, or run without --keep-home"))
}

/// Adds the variables that lead tools to their directories in the real home: `HOME` is another one inside.
pub(crate) fn with_real_home(
    home: &Path,
    mut environment: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let dirs = TOOLCHAINS.iter().flat_map(|toolchain| toolchain.dirs);
    // Packages that `pip install --user` installs are kept.
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
