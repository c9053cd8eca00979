//! Handles on objects of the file system.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::steps;
use crate::sys::{self, Along, PATH};
use crate::trouble::Trouble;

/// Flags of every open: nothing waits, and no terminal becomes the controlling one.
pub(crate) const QUIET: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Looks a path of plain names up. A link on the way is an error, and one at the end is what was found.
pub(crate) fn straight(from: impl AsFd, path: &Path) -> Result<OwnedFd, Trouble> {
    match sys::look(&from, path, PATH | OFlags::NOFOLLOW, Along::Names) {
        Err(Errno::NOSYS) => steps::straight(from, path),
        other => Ok(other?),
    }
}

/// Gives a new object to the owner of its directory, if root made it: the owner of the workspace wants to change it, too.
pub(crate) fn give_to_owner(parent: impl AsFd, new: impl AsFd) -> Result<(), Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    sys::give(new, &rustix::fs::fstat(parent)?)
}

/// Returns true if two answers are about one object.
pub(crate) fn same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}
