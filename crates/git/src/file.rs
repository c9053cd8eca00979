//! Opens what a repository consists of: by handle, name by name, through no link, and nothing but plain files and directories.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

pub(super) const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a directory by its name in another one.
pub(super) fn directory(above: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(above, single(name)?, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
}

/// Opens a directory by the names on the way to it.
pub(super) fn directory_below(above: &OwnedFd, names: &[&[u8]]) -> Result<OwnedFd, Errno> {
    let mut found = directory(above, b".")?;
    for name in names {
        found = directory(&found, name)?;
    }
    Ok(found)
}

/// Opens a plain file by its name in a directory, and says how long it is. Anything else is not waited for.
pub(super) fn plain_file(above: impl AsFd, name: &[u8]) -> Result<(File, u64), Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let file = rustix::fs::openat(above, single(name)?, flags, Mode::empty())?;
    let found = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    Ok((File::from(file), u64::try_from(found.st_size).map_err(|_| Errno::OVERFLOW)?))
}

/// Reads a plain file that is no longer than `longest`.
pub(super) fn text(above: impl AsFd, name: &[u8], longest: u64) -> Result<Vec<u8>, Errno> {
    let (file, length) = plain_file(above, name)?;
    if length > longest {
        return Err(Errno::FBIG);
    }
    let mut text = Vec::new();
    let read = file.take(longest).read_to_end(&mut text);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(text)
}

/// Lists at most `most` names in a directory, in the order of their bytes.
pub(super) fn names(directory: impl AsFd, most: usize) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") && names.len() < most {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Only one step is made at a time, and never upwards.
fn single(name: &[u8]) -> Result<&OsStr, Errno> {
    if name.is_empty() || name == b".." || name.contains(&b'/') {
        return Err(Errno::INVAL);
    }
    Ok(OsStr::from_bytes(name))
}
