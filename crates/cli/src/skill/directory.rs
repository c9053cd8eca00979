//! Directories and files by handle. No link below the place that a person typed is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

/// A directory that is held.
#[derive(Debug)]
pub(crate) struct Directory(OwnedFd);

/// What a name leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// A file that was read.
#[derive(Debug)]
pub(crate) enum Taken {
    /// All of it, and whether somebody may run it.
    Whole(Vec<u8>, bool),
    /// More than is wanted.
    TooLarge(u64),
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Directory {
    /// Opens a place that a person typed: links on the way are theirs.
    pub(crate) fn typed(path: &Path) -> Result<Self, Errno> {
        rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty()).map(Self)
    }

    /// Goes into one of its directories.
    pub(crate) fn enter(&self, name: &OsStr) -> Result<Self, Errno> {
        rustix::fs::openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map(Self)
    }

    /// Goes along a relative path.
    pub(crate) fn along(&self, path: &Path) -> Result<Self, Errno> {
        let mut here = Self(rustix::io::fcntl_dupfd_cloexec(&self.0, 0)?);
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            here = here.enter(name)?;
        }
        Ok(here)
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, Errno> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    /// What a name is, without following it.
    pub(crate) fn kind(&self, name: &OsStr) -> Result<Kind, Errno> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind(FileType::from_raw_mode(stat.st_mode)))
    }

    /// What a link says.
    pub(crate) fn target(&self, name: &OsStr) -> Result<PathBuf, Errno> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    /// Reads a file. Whatever has become something else meanwhile is refused, and nothing waits.
    pub(crate) fn file(&self, name: &OsStr, most: u64) -> io::Result<Taken> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        take(rustix::fs::openat(&self.0, name, flags, Mode::empty())?, most)
    }
}

/// Reads a file that a person typed.
pub(crate) fn typed_file(path: &Path, most: u64) -> io::Result<Taken> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    take(rustix::fs::openat(CWD, path, flags, Mode::empty())?, most)
}

/// What a place is that a person typed.
pub(crate) fn typed_kind(path: &Path) -> Result<Kind, Errno> {
    Ok(kind(FileType::from_raw_mode(rustix::fs::stat(path)?.st_mode)))
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::Directory => Kind::Directory,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}

/// Reads a file that is open. One that grows meanwhile is too large, not cut.
fn take(opened: OwnedFd, most: u64) -> io::Result<Taken> {
    let stat = rustix::fs::fstat(&opened)?;
    if kind(FileType::from_raw_mode(stat.st_mode)) != Kind::File {
        return Err(io::Error::other("it is no file"));
    }
    let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if length > most {
        return Ok(Taken::TooLarge(length));
    }
    let mut bytes = Vec::new();
    File::from(opened).take(most + 1).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    Ok(if read > most { Taken::TooLarge(read) } else { Taken::Whole(bytes, stat.st_mode & 0o111 != 0) })
}
