//! Directories and files by handle. No link below the directory that was opened is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use guard::EntryKind;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use skill::Content;

/// A directory that is held open.
#[derive(Debug)]
pub struct SkillDirectory(OwnedFd);

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl SkillDirectory {
    /// Opens a directory. Links in this path are followed: the caller chose them.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty()).map(Self)?)
    }

    /// Opens one of its directories.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(rustix::fs::openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map(Self)?)
    }

    /// Opens the directory at a relative path, one name after the other.
    pub fn descend(&self, path: &Path) -> io::Result<Self> {
        let mut here = Self(rustix::io::fcntl_dupfd_cloexec(&self.0, 0)?);
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL.into()) };
            here = here.enter(name)?;
        }
        Ok(here)
    }

    /// Lists its names, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
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

    /// Returns the kind of an entry, without following it.
    pub fn kind(&self, name: &OsStr) -> io::Result<EntryKind> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(kind(FileType::from_raw_mode(stat.st_mode)))
    }

    /// Reads the target of a link.
    pub fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    /// Reads a file of at most so many bytes. A name that has become another kind meanwhile is refused, and nothing blocks.
    pub fn read_file(&self, name: &OsStr, max_bytes: u64) -> io::Result<Content> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        read_opened(rustix::fs::openat(&self.0, name, flags, Mode::empty())?, max_bytes)
    }
}

/// Reads a file of at most so many bytes. Links in this path are followed: the caller chose them.
pub fn read_file(path: &Path, max_bytes: u64) -> io::Result<Content> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    read_opened(rustix::fs::openat(CWD, path, flags, Mode::empty())?, max_bytes)
}

/// Returns the kind of what a path leads to. Links in this path are followed: the caller chose them.
pub fn kind_of(path: &Path) -> io::Result<EntryKind> {
    Ok(kind(FileType::from_raw_mode(rustix::fs::stat(path)?.st_mode)))
}

fn kind(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::Directory => EntryKind::Directory,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    }
}

/// Reads a file that is open. One that grows meanwhile is too large, not cut.
fn read_opened(opened: OwnedFd, max_bytes: u64) -> io::Result<Content> {
    let stat = rustix::fs::fstat(&opened)?;
    if kind(FileType::from_raw_mode(stat.st_mode)) != EntryKind::File {
        return Err(io::Error::other("it is no file"));
    }
    let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if length > max_bytes {
        return Ok(Content::TooLarge { length });
    }
    let mut bytes = Vec::new();
    File::from(opened).take(max_bytes + 1).read_to_end(&mut bytes)?;
    let length = bytes.len() as u64;
    Ok(if length > max_bytes {
        Content::TooLarge { length }
    } else {
        Content::File { bytes, executable: stat.st_mode & 0o111 != 0 }
    })
}
