//! Removal of a directory with everything in it, at any depth and with any modes.

use std::ffi::OsStr;

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use git::{Directory, raw};

/// Removes what a name leads to. Directories in it are moved beside it first, so that no depth costs more than three handles.
pub(crate) fn remove(parent: &Directory, name: &OsStr) -> Result<(), Errno> {
    let mut todo = vec![name.to_owned()];
    let mut moved = 0_u64;
    while let Some(name) = todo.last().cloned() {
        let directory = opened(parent, &name)?;
        for entry in directory.names()? {
            if !directory.look(&entry)?.is_some_and(|look| look.is_directory()) {
                rustix::fs::unlinkat(&directory, &entry, AtFlags::empty())?;
                continue;
            }
            if rustix::fs::unlinkat(&directory, &entry, AtFlags::REMOVEDIR).is_ok() {
                continue;
            }
            moved += 1;
            let beside = format!("{}{}-{moved}", super::store::GONE, std::process::id());
            open_up(&directory, &entry)?;
            rustix::fs::renameat(&directory, &entry, parent, &beside)?;
            todo.push(beside.into());
        }
        rustix::fs::unlinkat(parent, &name, AtFlags::REMOVEDIR)?;
        todo.retain(|other| *other != name);
    }
    Ok(())
}

/// A directory that may be closed even to its owner.
fn opened(parent: &Directory, name: &OsStr) -> Result<Directory, Errno> {
    open_up(parent, name)?;
    parent.enter(name)
}

/// No other process changes a directory that is being removed, so the name is still the directory that was looked at.
fn open_up(parent: &Directory, name: &OsStr) -> Result<(), Errno> {
    if parent.look(name)?.is_some_and(|look| look.is_directory() && look.mode() & 0o700 != 0o700) {
        rustix::fs::chmodat(parent, name, Mode::from_raw_mode(raw(0o700)), AtFlags::empty())?;
    }
    Ok(())
}
