//! Looking at one object through a handle that follows no link.

use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use rustix::fs::{Access, FileType, Mode, OFlags, Stat, access, fstat, fstatvfs, open};
use rustix::io::Errno as Raw;

use crate::host::probe::{Errno, Kind, Object};

pub(crate) fn object(path: &Path) -> Result<Object, Errno> {
    look(path).map_err(Errno::from)
}

fn look(path: &Path) -> Result<Object, Raw> {
    let handle = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let stat = fstat(&handle)?;
    let space = fstatvfs(&handle)?;
    Ok(Object {
        kind: kind(&stat),
        owner: stat.st_uid,
        mode: stat.st_mode & 0o7777,
        modified: stat.st_mtime,
        writable: access(by_handle(&handle), Access::WRITE_OK).is_ok(),
        free: space.f_bavail.saturating_mul(space.f_frsize),
    })
}

fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Kind::Directory,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// A name for what the handle holds, no matter what happens to the name it was opened by.
pub(crate) fn by_handle(handle: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())
}
