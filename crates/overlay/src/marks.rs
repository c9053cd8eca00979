//! The marks that the kernel leaves in a directory of changes. Commands cannot set them: in a layered view these names lead to
//! other ones.

use std::ffi::OsStr;

use rustix::fs::{FileType, Mode, OFlags, XattrFlags};
use rustix::io::Errno;

use crate::compare::Entry;
use git::Directory;

const OPAQUE: &str = "user.overlay.opaque";
const ORIGIN: &str = "user.overlay.origin";

/// Marks of layers that we never make. Following them would lead to other files.
const FOREIGN: &[&str] = &["user.overlay.redirect", "user.overlay.metacopy", "user.overlay.whiteout"];

/// Returns true if a directory hides everything that the one below it has.
pub(crate) fn is_opaque(directory: &Directory) -> Result<bool, Errno> {
    let mut value = [0_u8; 2];
    match rustix::fs::fgetxattr(directory, OPAQUE, &mut value) {
        Ok(length) => Ok(&value[..length] == b"y"),
        Err(errno) => absent(errno),
    }
}

/// Makes a directory hide everything below it.
pub(crate) fn set_opaque(directory: &Directory) -> Result<(), Errno> {
    rustix::fs::fsetxattr(directory, OPAQUE, b"y", XattrFlags::empty())
}

/// Makes a directory hide nothing any more.
pub(crate) fn clear_opaque(directory: &Directory) -> Result<(), Errno> {
    match rustix::fs::fremovexattr(directory, OPAQUE) {
        Err(errno) => absent(errno).map(drop),
        Ok(()) => Ok(()),
    }
}

/// Returns true if a file was copied from below before it was changed. One that cannot be opened counts as new.
pub(crate) fn is_copied(parent: &Directory, name: &OsStr) -> Result<bool, Errno> {
    let Ok(file) = parent.file(name) else { return Ok(false) };
    match rustix::fs::fgetxattr(&file, ORIGIN, &mut [0_u8; 256]) {
        Ok(_) | Err(Errno::RANGE) => Ok(true),
        Err(errno) => absent(errno),
    }
}

/// A mark on an entry that must not be there.
pub(crate) fn foreign(entry: &Entry<'_>) -> Result<Option<&'static str>, Errno> {
    if !matches!(entry.look.kind(), FileType::RegularFile | FileType::Directory) {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    // A file that cannot be opened cannot be applied either.
    let opened = rustix::fs::openat(entry.parent, entry.name, flags, Mode::empty());
    let Ok(opened) = opened else { return Ok(None) };
    for mark in FOREIGN {
        match rustix::fs::fgetxattr(&opened, *mark, &mut [0_u8; 1]) {
            Ok(_) | Err(Errno::RANGE) => return Ok(Some(mark)),
            Err(errno) => absent(errno).map(drop)?,
        }
    }
    Ok(None)
}

/// Returns true if a directory lies where marks can be kept at all.
pub(crate) fn can_be_kept(directory: &Directory) -> bool {
    const TRIAL: &str = "user.ringfence";
    rustix::fs::fsetxattr(directory, TRIAL, b"y", XattrFlags::empty())
        .and_then(|()| rustix::fs::fremovexattr(directory, TRIAL))
        .is_ok()
}

/// Makes the mark for something that was removed.
#[cfg(target_os = "linux")]
pub(crate) fn set_removed(parent: &Directory, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::mknodat(parent, name, FileType::CharacterDevice, Mode::empty(), 0) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

/// There are no overlays elsewhere.
#[cfg(not(target_os = "linux"))]
pub(crate) fn set_removed(_: &Directory, _: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

fn absent(errno: Errno) -> Result<bool, Errno> {
    match errno {
        Errno::NODATA | Errno::OPNOTSUPP => Ok(false),
        errno => Err(errno),
    }
}
