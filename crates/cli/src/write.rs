//! Files of the user's own, replaced whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use policy::Shown;

use crate::failure::Failure;

/// Replaces a file: a crash leaves the old text or the new one, never half of it.
///
/// A link is followed first, so that a linked dotfile stays linked.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("{} cannot be written", Shown::path(path))).because(&error)
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory).map_err(failed)?;
    let mode = fs::metadata(&target).map_or(0o600, |metadata| metadata.permissions().mode() & 0o777);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.new", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, &target)
    })();
    written.map_err(|error| {
        // The first error is the one to tell; a file that is left over says so itself.
        drop(fs::remove_file(&temporary));
        failed(error)
    })
}
