//! Directories by handle. Nothing here follows a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::file;

/// A directory that is held.
#[derive(Debug)]
pub struct Directory(OwnedFd);

/// A point in time, as file systems write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Since 1970.
    pub seconds: i64,
    /// And so many.
    pub nanoseconds: u32,
}

/// Metadata of an entry, read without opening it.
#[derive(Clone, Copy)]
pub struct Look(
    /// As the kernel tells it.
    pub Stat,
);

impl Directory {
    /// Opens one by its path. Links on the way are the caller's own; one at the end is an error.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        rustix::fs::openat(CWD, path, file::DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map(Self)
    }

    /// Opens one by its path. All links in it are the caller's own.
    pub fn follow(path: &Path) -> Result<Self, Errno> {
        rustix::fs::openat(CWD, path, file::DIRECTORY, Mode::empty()).map(Self)
    }

    /// Returns the creation time in nanoseconds, or zero if the file system does not record it.
    pub fn born(&self) -> Result<u128, Errno> {
        let own = File::from(rustix::io::fcntl_dupfd_cloexec(&self.0, 0)?);
        let look = own.metadata().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let born = look.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Ok(born.map_or(0, |born| born.as_nanos()))
    }

    /// Goes into one of its directories.
    pub fn enter(&self, name: &OsStr) -> Result<Self, Errno> {
        file::directory(&self.0, name.as_bytes()).map(Self)
    }

    /// Goes along a relative path.
    pub fn along(&self, path: &Path) -> Result<Self, Errno> {
        let mut here = Self(rustix::io::fcntl_dupfd_cloexec(&self.0, 0)?);
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            here = here.enter(name)?;
        }
        Ok(here)
    }

    /// The directory that a relative path ends in, and the name there.
    pub fn holding<'a>(&self, path: &'a Path) -> Result<(Self, &'a OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        Ok((self.along(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// The names in it, sorted.
    pub fn names(&self) -> Result<Vec<OsString>, Errno> {
        let names = file::names(&self.0, usize::MAX)?;
        Ok(names.into_iter().map(OsString::from_vec).collect())
    }

    /// Reads the metadata of a name, if it exists.
    pub fn look(&self, name: &OsStr) -> Result<Option<Look>, Errno> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Look(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Reads its own metadata.
    pub fn own(&self) -> Result<Look, Errno> {
        rustix::fs::fstat(&self.0).map(Look)
    }

    /// Reads the target of a link.
    pub fn target(&self, name: &OsStr) -> Result<PathBuf, Errno> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    /// Opens a file for reading. An entry that is no file any more is refused, and nothing waits.
    pub fn file(&self, name: &OsStr) -> Result<File, Errno> {
        file::plain_file(&self.0, name.as_bytes()).map(|(file, _)| file)
    }

    /// Makes a directory, and says whether it was not there.
    pub fn make(&self, name: &str, mode: u32) -> Result<bool, Errno> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(raw(mode))) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno),
        }
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_lossless,
    clippy::cast_sign_loss,
    reason = "types differ between systems"
)]
impl Look {
    /// Returns its type.
    #[must_use]
    pub fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.0.st_mode)
    }

    /// Returns true for a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.kind() == FileType::Directory
    }

    /// Returns the bits that are compared and applied: never set-user-ID and set-group-ID.
    #[must_use]
    pub fn mode(&self) -> u32 {
        (self.0.st_mode & 0o777) as u32
    }

    /// Returns true if it is the kernel's mark for a removed entry.
    #[must_use]
    pub fn is_whiteout(&self) -> bool {
        self.kind() == FileType::CharacterDevice && self.0.st_rdev as u64 == 0
    }

    /// Returns the numbers that tell it from everything else.
    #[must_use]
    pub fn id(&self) -> (u64, u64) {
        (self.0.st_dev as u64, self.0.st_ino as u64)
    }

    /// Returns its length in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or(0)
    }

    /// When it was last changed in any way, also in its mode or its name.
    #[must_use]
    pub fn touched(&self) -> Moment {
        Moment {
            seconds: self.0.st_ctime as i64,
            nanoseconds: u32::try_from(self.0.st_ctime_nsec).unwrap_or(0),
        }
    }

    /// When its content was last changed.
    #[must_use]
    pub fn modified(&self) -> Moment {
        Moment {
            seconds: self.0.st_mtime as i64,
            nanoseconds: u32::try_from(self.0.st_mtime_nsec).unwrap_or(0),
        }
    }

    /// Returns the number of its names.
    #[must_use]
    pub fn names(&self) -> u64 {
        self.0.st_nlink as u64
    }
}

/// A mode as this system writes it.
#[allow(clippy::unnecessary_cast, clippy::cast_possible_truncation, reason = "types differ between systems")]
#[must_use]
pub const fn raw(mode: u32) -> rustix::fs::RawMode {
    mode as rustix::fs::RawMode
}
