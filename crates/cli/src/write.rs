//! Policy files, replaced whole or not at all.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use config::Scope;
use policy::Shown;
use rustix::fs::{AtFlags, Mode, OFlags, open, openat, renameat, statat, unlinkat};

use crate::failure::Failure;

/// Replaces a file: a crash leaves the old text or the new one, never half of it.
///
/// A linked dotfile of the user's stays linked. In a project the agent could have made the link, so the name itself is
/// replaced, not its target.
pub(crate) fn replace(scope: Scope, path: &Path, text: &str) -> Result<(), Failure> {
    write_beside(scope, path, text)
        .map_err(|error| Failure::new(format!("{} cannot be written", Shown::path(path))).because(&error))
}

fn write_beside(scope: Scope, path: &Path, text: &str) -> io::Result<()> {
    let target = target(scope, path)?;
    let (parent, name) = (target.parent().unwrap_or(Path::new("/")), target.file_name().unwrap_or_default());
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    // From here on by handle: a renamed directory is still this one.
    let directory = open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let new = if scope == Scope::Project { 0o644 } else { 0o600 };
    let there = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
    let mode = there.map_or(new, |found| found.st_mode & 0o777);
    let temporary = format!(".{}.{}.new", name.to_string_lossy(), std::process::id());
    // Exclusively: a file or link that waits under this name is an error.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(openat(&directory, &temporary, flags, Mode::from_raw_mode(mode))?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| Ok(renameat(&directory, &temporary, &directory, name)?));
    renamed.inspect_err(|_| {
        // The first error is the one to tell; a file that is left over says so itself.
        let _left_over = unlinkat(&directory, &temporary, AtFlags::empty());
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
