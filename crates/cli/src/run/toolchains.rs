//! Which toolchains a command sees, on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use config::JailSettings;
use jail::Mode;
use jail::toolchain::{Ask, Disk, Shown, shown};

/// What toolchains bring, and the caller's variables with a search path that leads to them.
pub(crate) fn toolchains(
    settings: &JailSettings,
    home: &Path,
    workspace: &Path,
    own: &[PathBuf],
    mut environment: Vec<(OsString, OsString)>,
) -> (Shown, Vec<(OsString, OsString)>) {
    let writable = settings.views.iter().filter(|view| view.mode == Mode::ReadWrite);
    let foreign = writable.map(|view| view.path.clone()).chain([workspace.to_owned()]).collect();
    let files = Disk::new(home, foreign);
    let ask = Ask {
        choose: &settings.toolchains,
        outside: home,
        home,
        workspace,
        environment: &environment,
        views: &settings.views,
        closed: own,
    };
    let shown = shown(&ask, &files);
    shown.lead(&mut environment, &files);
    (shown, environment)
}
