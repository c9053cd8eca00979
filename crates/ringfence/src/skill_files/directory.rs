//! Directories and files by handle. No link below the directory that was opened is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use git::Directory;
use guard::EntryKind;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use skill::Content;

/// A directory that is held open.
#[derive(Debug)]
pub struct SkillDirectory(Directory);

impl SkillDirectory {
    /// Opens a directory. Links in this path are followed: the caller chose them.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Directory::follow(path).map(Self)?)
    }

    /// Opens one of its directories.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(self.0.enter(name).map(Self)?)
    }

    /// Opens the directory at a relative path, one name after the other.
    pub fn descend(&self, path: &Path) -> io::Result<Self> {
        Ok(self.0.along(path).map(Self)?)
    }

    /// Lists its names, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        Ok(self.0.names()?)
    }

    /// Returns the kind of an entry, without following it.
    pub fn kind(&self, name: &OsStr) -> io::Result<EntryKind> {
        Ok(kind(self.0.look(name)?.ok_or(Errno::NOENT)?.kind()))
    }

    /// Reads the target of a link.
    pub fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        Ok(self.0.target(name)?)
    }

    /// Reads a file of at most so many bytes. A name that has become another kind meanwhile is refused, and nothing blocks.
    pub fn read_file(&self, name: &OsStr, max_bytes: u64) -> io::Result<Content> {
        read_opened(&self.0.file(name)?, max_bytes)
    }
}

/// Reads a file of at most so many bytes. Links in this path are followed: the caller chose them.
pub fn read_file(path: &Path, max_bytes: u64) -> io::Result<Content> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    read_opened(&File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?), max_bytes)
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
fn read_opened(opened: &File, max_bytes: u64) -> io::Result<Content> {
    let stat = rustix::fs::fstat(opened)?;
    if kind(FileType::from_raw_mode(stat.st_mode)) != EntryKind::File {
        return Err(io::Error::other("it is no file"));
    }
    let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if length > max_bytes {
        return Ok(Content::TooLarge { length });
    }
    let mut bytes = Vec::new();
    opened.take(max_bytes + 1).read_to_end(&mut bytes)?;
    let length = bytes.len() as u64;
    Ok(if length > max_bytes {
        Content::TooLarge { length }
    } else {
        Content::File { bytes, executable: stat.st_mode & 0o111 != 0 }
    })
}
