//! Location of a ledger: a directory held by handle, and a name in it.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::AuditError;

/// A directory that is ours alone, and the name of the ledger in it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) dir: OwnedFd,
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
    user: u32,
}

/// Which file a name or a handle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between systems"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}

impl Place {
    /// Opens the directory, making the missing part of it for us alone.
    pub(crate) fn open(path: &Path) -> Result<Self, AuditError> {
        let name = path.file_name().ok_or_else(|| unwritable(path, "name", Errno::ISDIR))?.to_owned();
        let parent = path.parent().unwrap_or(Path::new(""));
        let dir = open_directory(parent).map_err(|errno| unwritable(path, "open the directory of", errno))?;
        let user = rustix::process::geteuid().as_raw();
        let place = Self { dir, name, path: path.to_owned(), user };
        place.trust_directory()?;
        Ok(place)
    }

    /// Opens the file by its name, making an empty one for us alone if there is none.
    pub(crate) fn open_file(&self) -> Result<OwnedFd, AuditError> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | HARDENED;
        rustix::fs::openat(&self.dir, &self.name, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| match errno
        {
            Errno::LOOP | Errno::MLINK => self.untrusted("it is a symbolic link"),
            Errno::ISDIR => self.untrusted("it is not a regular file"),
            errno => self.unwritable("open", errno),
        })
    }

    /// Opens a complete file of the ledger, to read.
    pub(crate) fn open_segment(&self, name: &OsStr) -> Result<OwnedFd, AuditError> {
        rustix::fs::openat(&self.dir, name, OFlags::RDONLY | HARDENED, Mode::empty())
            .map_err(|errno| self.unwritable("open the last file of", errno))
    }

    /// Which file has the name now, if any.
    pub(crate) fn named(&self) -> Result<Option<Identity>, AuditError> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Identity::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.unwritable("look for", errno)),
        }
    }

    /// Refuses a file that another user could have written.
    pub(crate) fn trust_file(&self, stat: &Stat) -> Result<(), AuditError> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.untrusted("it is not a regular file"));
        }
        if stat.st_nlink > 1 {
            return Err(self.untrusted("it has a second name (hard link)"));
        }
        match self.foreign(stat) {
            Some(Foreign::Owner) => Err(self.untrusted("it belongs to somebody else")),
            Some(Foreign::Mode) => Err(self.untrusted("it can be written by others (chmod go-w)")),
            None => Ok(()),
        }
    }

    /// The path of a file beside the ledger.
    pub(crate) fn beside(&self, name: &OsStr) -> PathBuf {
        self.path.with_file_name(name)
    }

    pub(crate) fn unwritable(&self, step: &'static str, errno: impl Into<std::io::Error>) -> AuditError {
        unwritable(&self.path, step, errno)
    }

    pub(crate) fn untrusted(&self, why: &'static str) -> AuditError {
        AuditError::Untrusted { path: self.path.clone(), why }
    }

    fn foreign(&self, stat: &Stat) -> Option<Foreign> {
        let ours = stat.st_uid == 0 || stat.st_uid == self.user;
        let others = Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH);
        if ours { others.then_some(Foreign::Mode) } else { Some(Foreign::Owner) }
    }

    /// A user who can write the directory can put another file in the ledger's place.
    fn trust_directory(&self) -> Result<(), AuditError> {
        let stat = rustix::fs::fstat(&self.dir)
            .map_err(|errno| self.unwritable("look at the directory of", errno))?;
        let sticky = Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX);
        match self.foreign(&stat) {
            Some(Foreign::Owner) => Err(self.untrusted("its directory belongs to somebody else")),
            // In a sticky directory no other user can rename or remove our files.
            Some(Foreign::Mode) if !sticky => {
                Err(self.untrusted("its directory can be written by others (chmod go-w)"))
            }
            Some(Foreign::Mode) | None => Ok(()),
        }
    }
}

/// Never through a link, never a terminal, never waiting for the other end of a pipe.
pub(crate) const HARDENED: OFlags =
    OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);

/// Other users with write access.
enum Foreign {
    Owner,
    Mode,
}

/// Opens a directory, making what is missing. Links on the way are the user's own business; the last directory is
/// examined by its handle.
fn open_directory(path: &Path) -> Result<OwnedFd, Errno> {
    let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match rustix::fs::openat(CWD, here, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => {
            let name = path.file_name().ok_or(Errno::NOENT)?;
            make_directory(&open_directory(path.parent().unwrap_or(Path::new("")))?, name)
        }
        found => found,
    }
}

fn make_directory(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match rustix::fs::mkdirat(dir, name, Mode::RWXU) {
        // Another process was faster. Its file is examined like any other.
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::openat(dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
}

fn unwritable(path: &Path, step: &'static str, source: impl Into<std::io::Error>) -> AuditError {
    AuditError::Unwritable { step, path: path.to_owned(), source: source.into() }
}
