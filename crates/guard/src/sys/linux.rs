//! Linux: handles that open nothing, look-ups in one call, and `/proc` for the names of handles.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, IFlags, Mode, OFlags, PROC_SUPER_MAGIC, RawDir, ResolveFlags, Stat, Uid,
};
use rustix::io::Errno;
use rustix::path::DecInt;
use rustix::process::{Pid, getpid};

use super::{Along, Letters};
use crate::change::taken;
use crate::handle::{QUIET, kind, same, straight};
use crate::resolve::Here;
use crate::trouble::Trouble;

/// A handle that leads to an object without opening it: nothing blocks, nothing is created, no device notices.
pub(crate) const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Number of retries of a lookup that a rename has disturbed.
const TRIES: usize = 128;

/// The longest name that the kernel tells.
const LONGEST: usize = 4096;

/// Suffix that the kernel appends to the name of an object that has none any more.
const DELETED: &[u8] = b" (deleted)";

/// The place where the kernel tells of our handles.
#[derive(Debug)]
pub(crate) struct Handles {
    /// `/proc/self/fd`
    ours: OwnedFd,
    /// The process that `self` was.
    process: Pid,
}

impl Handles {
    /// Finds the place, and makes sure that it is the kernel's own.
    pub(crate) fn find() -> Result<Self, Errno> {
        let ours = rustix::fs::open("/proc/self/fd", PATH | OFlags::DIRECTORY, Mode::empty())?;
        let system = rustix::fs::fstatfs(&ours)?;
        if system.f_type == PROC_SUPER_MAGIC {
            Ok(Self { ours, process: getpid() })
        } else {
            Err(Errno::NOSYS)
        }
    }

    /// The place itself. In a process that was forked from ours, it still tells of our handles, and a number means another file.
    fn ours(&self) -> Result<&OwnedFd, Trouble> {
        if getpid() == self.process { Ok(&self.ours) } else { Err(Trouble::Forked) }
    }

    /// Returns the present path of the object.
    pub(crate) fn name(&self, handle: impl AsFd) -> Result<PathBuf, Trouble> {
        let mut buffer = [const { MaybeUninit::uninit() }; LONGEST];
        let number = DecInt::from_fd(handle.as_fd());
        let (name, _) = rustix::fs::readlinkat_raw(self.ours()?, number, &mut buffer)?;
        // An object outside our root has a name that means nothing here.
        if !name.starts_with(b"/") {
            return Err(Trouble::Gone);
        }
        // A full buffer may have been cut.
        if name.len() == LONGEST {
            return Err(Trouble::TooLong);
        }
        let name = PathBuf::from(OsStr::from_bytes(name));
        // A file may really be called that.
        if name.as_os_str().as_bytes().ends_with(DELETED) && !leads_to(&name, handle.as_fd())? {
            return Err(Trouble::Gone);
        }
        Ok(name)
    }

    /// Opens the object that a handle leads to. The name plays no part.
    pub(crate) fn open(&self, handle: impl AsFd, flags: OFlags) -> Result<OwnedFd, Trouble> {
        let number = DecInt::from_fd(handle.as_fd());
        let file = rustix::fs::openat(self.ours()?, number, flags | QUIET, Mode::empty())?;
        // Threads may have handles of their own, too.
        if same(&rustix::fs::fstat(&file)?, &rustix::fs::fstat(handle)?) {
            Ok(file)
        } else {
            Err(Trouble::Gone)
        }
    }

    /// Gives a file that has no name a name.
    pub(crate) fn link(&self, file: impl AsFd, parent: &OwnedFd, name: &OsStr) -> Result<(), Trouble> {
        let number = DecInt::from_fd(file.as_fd());
        let ours = self.ours()?;
        rustix::fs::linkat(ours, number, parent, name, AtFlags::SYMLINK_FOLLOW).map_err(taken)
    }
}

/// Returns true if a path, without any link in it, leads to this object.
fn leads_to(path: &Path, handle: impl AsFd) -> Result<bool, Trouble> {
    match straight(CWD, path) {
        Ok(other) => Ok(same(&rustix::fs::fstat(other)?, &rustix::fs::fstat(handle)?)),
        Err(_) => Ok(false),
    }
}

/// Looks a path up, again when a rename somewhere has disturbed it.
pub(crate) fn look(from: impl AsFd, path: &Path, flags: OFlags, along: Along) -> Result<OwnedFd, Errno> {
    let (from, resolve) = (from.as_fd(), along.flags());
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(from, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
            // Filters older than the call say this. If there is another cause, the steps will find it.
            Err(Errno::PERM) => return Err(Errno::NOSYS),
            other => return other,
        }
    }
}

impl Along {
    const fn flags(self) -> ResolveFlags {
        const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
        match self {
            Self::Names => ResolveFlags::NO_SYMLINKS,
            Self::NamesBeneath => BENEATH.union(ResolveFlags::NO_SYMLINKS),
            Self::LinksBeneath => BENEATH,
            Self::Links => ResolveFlags::NO_MAGICLINKS,
            Self::Anything => ResolveFlags::empty(),
        }
    }
}

/// Object that a name in a directory leads to, without following it.
pub(crate) struct Seen {
    here: Here,
}

impl Seen {
    pub(crate) fn of(at: &OwnedFd, name: &OsStr) -> Result<Self, Trouble> {
        let handle = enter(at, name)?;
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Self { here: Here { handle, stat } })
    }

    pub(crate) fn kind(&self) -> FileType {
        kind(&self.here.stat)
    }

    /// Reads the target of a link.
    pub(crate) fn target(&self) -> Result<Vec<u8>, Trouble> {
        // Magic links jump instead of leading somewhere. There are few others, and none that is needed.
        if rustix::fs::fstatfs(&self.here.handle)?.f_type == PROC_SUPER_MAGIC {
            return Err(Trouble::MagicLink);
        }
        Ok(rustix::fs::readlinkat(&self.here.handle, "", Vec::new())?.into_bytes())
    }

    #[expect(clippy::unnecessary_wraps, reason = "other systems have to open it")]
    pub(crate) fn here(self) -> Result<Here, Trouble> {
        Ok(self.here)
    }
}

/// A handle on what a name in a directory leads to, without following it.
pub(crate) fn enter(at: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Trouble> {
    Ok(rustix::fs::openat(at, name, PATH | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Opens an entry of a directory. The caller checks its kind.
pub(crate) fn open_listed(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Trouble> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | QUIET;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
}

/// A file without a name, where the file system knows such.
pub(crate) fn unnamed(parent: &OwnedFd, flags: OFlags, mode: Mode) -> Result<Option<OwnedFd>, Errno> {
    match rustix::fs::openat(parent, ".", flags | OFlags::TMPFILE, mode) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Gives something to the owner of something else.
pub(crate) fn give(new: impl AsFd, owner: &Stat) -> Result<(), Errno> {
    let (user, group) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
    rustix::fs::chownat(new, "", Some(user), Some(group), AtFlags::EMPTY_PATH)
}

/// Returns true if a rename that spares what is there is unknown here.
pub(crate) fn is_unknown(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Room for what the kernel tells at once: some hundred names.
const BUFFER: usize = 16 << 10;

/// Position in a directory: its handle keeps it.
pub(crate) struct Reading;

impl Reading {
    pub(crate) fn new() -> Self {
        Self
    }

    /// Reads what the kernel tells at once, and says whether there may be more.
    #[inline]
    #[expect(clippy::unused_self, reason = "other systems have to remember")]
    pub(crate) fn told(
        &mut self,
        directory: &OwnedFd,
        mut each: impl FnMut(&[u8], FileType),
    ) -> Result<bool, Errno> {
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER];
        let mut told = RawDir::new(directory, &mut buffer);
        loop {
            let Some(entry) = told.next() else { return Ok(false) };
            let entry = entry?;
            each(entry.file_name().to_bytes(), entry.file_type());
            if told.is_buffer_empty() {
                return Ok(true);
            }
        }
    }
}

/// File systems on which names that differ in case alone are one name.
const FOLDING: &[i64] = &[
    0x4d44,      // FAT
    0x2011_bab0, // exFAT
    0x5346_544e, // NTFS
    0x7366_746e, // NTFS, the newer driver
    0x482b,      // HFS+
    0x4244,      // HFS
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB 2
    0x517b,      // SMB
];

/// File systems that tell letters apart, except in directories that are marked.
const TELLING: &[i64] = &[
    0xef53,      // ext2, ext3, ext4
    0x9123_683e, // btrfs
    0x5846_5342, // XFS
    0xf2f5_2010, // F2FS
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlay
    0x7371_7368, // squashfs
    0xe0f5_e1e2, // EROFS
    0x9fa0,      // proc
    0x6265_6572, // sysfs
];

/// The mark of a directory in which they are not told apart.
const CASEFOLD: IFlags = IFlags::from_bits_retain(0x4000_0000);

/// Returns the case sensitivity of the file system of a directory.
pub(crate) fn letters(directory: &OwnedFd) -> Result<Letters, Errno> {
    let system = rustix::fs::fstatfs(directory)?.f_type;
    Ok(if TELLING.contains(&system) {
        Letters::Told
    } else if FOLDING.contains(&system) {
        Letters::Folded
    } else {
        Letters::Unknown
    })
}

/// Returns true if a directory is marked. It has to be open.
pub(crate) fn folds_by_mark(directory: &OwnedFd) -> bool {
    rustix::fs::ioctl_getflags(directory).is_ok_and(|flags| flags.contains(CASEFOLD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_another_process_are_not_ours() {
        let other = tempfile::NamedTempFile::new().unwrap();
        let mut sleep = std::process::Command::new("sleep");
        let mut child = sleep.arg("60").stdin(other.reopen().unwrap()).spawn().unwrap();
        let theirs = format!("/proc/{}/fd", child.id());
        let ours = || rustix::fs::open(&*theirs, PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        // As it is after a fork: the place is that of the process before it.
        let forked = Handles { ours: ours(), process: Pid::from_child(&child) };
        assert_eq!(forked.name(std::io::stdin()), Err(Trouble::Forked));
        assert_eq!(forked.open(std::io::stdin(), OFlags::RDONLY).map(drop), Err(Trouble::Forked));
        assert_eq!(forked.ours().map(drop), Err(Trouble::Forked));
        // As it is if both processes have the same number, in namespaces of their own.
        let alike = Handles { ours: ours(), process: getpid() };
        assert_eq!(alike.open(std::io::stdin(), OFlags::RDONLY).map(drop), Err(Trouble::Gone));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
