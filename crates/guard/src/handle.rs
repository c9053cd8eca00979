//! Handles on objects of the file system, and what the kernel calls them.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, Stat, Uid};
use rustix::io::Errno;
use rustix::path::DecInt;
use rustix::process::{Pid, getpid};

use crate::steps;
use crate::trouble::Trouble;

/// A handle that leads to an object without opening it: nothing blocks, nothing is created, no device notices.
pub(crate) const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// How things are opened: nothing waits, and no terminal becomes ours.
pub(crate) const QUIET: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// How often a lookup is tried again that a rename has disturbed.
const TRIES: usize = 128;

/// The longest name that the kernel tells.
const LONGEST: usize = 4096;

/// What the kernel appends to the name of an object that has none any more.
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
    pub(crate) fn ours(&self) -> Result<&OwnedFd, Trouble> {
        if getpid() == self.process { Ok(&self.ours) } else { Err(Trouble::Forked) }
    }

    /// Where the object is now.
    pub(crate) fn name(&self, handle: impl AsFd) -> Result<PathBuf, Trouble> {
        let mut buffer = [const { MaybeUninit::uninit() }; LONGEST];
        let number = DecInt::from_fd(handle.as_fd());
        let (name, _) = rustix::fs::readlinkat_raw(self.ours()?, number, &mut buffer)?;
        // What is not below our root has a name that means nothing here.
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
}

/// Whether a path, without any link in it, leads to this object.
fn leads_to(path: &Path, handle: impl AsFd) -> Result<bool, Trouble> {
    match straight(CWD, path) {
        Ok(other) => Ok(same(&rustix::fs::fstat(other)?, &rustix::fs::fstat(handle)?)),
        Err(_) => Ok(false),
    }
}

/// Looks a path of plain names up. A link on the way is an error, and one at the end is what was found.
pub(crate) fn straight(from: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    match look(&from, path, PATH | OFlags::NOFOLLOW, ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => steps::straight(from, path),
        other => other,
    }
}

/// Looks a path up, again when a rename somewhere has disturbed it.
pub(crate) fn look(
    from: impl AsFd,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let from = from.as_fd();
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(from, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
            // What filters say that are older than the call. If it is more than that, the steps will find out.
            Err(Errno::PERM) => return Err(Errno::NOSYS),
            other => return other,
        }
    }
}

/// Gives something new to whoever owns the directory it is in, if it is root who made it: whose workspace it is wants to change it, too.
pub(crate) fn give_to_owner(parent: impl AsFd, new: impl AsFd) -> Result<(), Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owner = rustix::fs::fstat(parent)?;
    let (user, group) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
    rustix::fs::chownat(new, "", Some(user), Some(group), AtFlags::EMPTY_PATH)
}

/// Whether two answers are about one object.
pub(crate) fn same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
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
