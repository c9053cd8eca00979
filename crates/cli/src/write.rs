//! Policy files, replaced whole or not at all.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use config::Scope;
use policy::Shown;

use crate::failure::Failure;

/// Replaces a file: a crash leaves the old text or the new one, never half of it.
///
/// A linked dotfile of the user's stays linked. In a project the agent could have made the link, so the name itself is
/// replaced, whatever it leads to.
pub(crate) fn replace(scope: Scope, path: &Path, text: &str) -> Result<(), Failure> {
    write_beside(scope, path, text)
        .map_err(|error| Failure::new(format!("{} cannot be written", Shown::path(path))).because(&error))
}

fn write_beside(scope: Scope, path: &Path, text: &str) -> io::Result<()> {
    let target = target(scope, path)?;
    let directory = target.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let new = if scope == Scope::Project { 0o644 } else { 0o600 };
    let mode = fs::symlink_metadata(&target).map_or(new, |metadata| metadata.permissions().mode() & 0o777);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.new", std::process::id()));
    // Exclusively: a file or link that waits under this name is an error.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&temporary, &target)).inspect_err(|_| {
        // The first error is the one to tell; a file that is left over says so itself.
        drop(fs::remove_file(&temporary));
    })
}

/// The file to replace: the user's own links are followed, those of a project are not.
fn target(scope: Scope, path: &Path) -> io::Result<PathBuf> {
    match scope {
        Scope::Project => Ok(path.to_owned()),
        _ if path.symlink_metadata().is_ok() => fs::canonicalize(path),
        _ => Ok(path.to_owned()),
    }
}
