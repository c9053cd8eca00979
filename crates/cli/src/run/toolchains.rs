//! Which toolchains a command sees, on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::JailSettings;
use jail::toolchain::{Ask, Disk, Shown, shown};

use super::foreign;
use crate::surroundings::Surroundings;

/// The home directory on the host, and where the one inside appears.
pub(crate) struct Homes<'a> {
    pub(crate) outside: &'a Path,
    pub(crate) inside: &'a Path,
}

/// What toolchains bring, and the caller's variables with a search path that leads to them.
pub(crate) fn toolchains(
    settings: &JailSettings,
    homes: &Homes<'_>,
    around: &Surroundings,
    own: &[PathBuf],
    mut environment: Vec<(OsString, OsString)>,
) -> (Shown, Vec<(OsString, OsString)>) {
    let files = Disk::new(homes.outside, foreign(settings, around));
    let ask = Ask {
        choose: &settings.toolchains,
        outside: homes.outside,
        home: homes.inside,
        workspace: &around.places.workspace,
        environment: &environment,
        views: &settings.views,
        closed: own,
    };
    let shown = shown(&ask, &files);
    shown.lead(&mut environment, &files);
    (shown, environment)
}
