//! Private space where there are no mounts: a directory among the host's temporary files, removed with the jail.

use std::ffi::CStr;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

/// A directory with a home and a place for temporary files in it. Removed when dropped.
pub(crate) struct Scratch {
    /// Directory that it lies in.
    base: OwnedFd,
    name: String,
    /// The directory itself, locked for as long as a process may use it: one that finds it unlocked may remove it.
    handle: OwnedFd,
    path: PathBuf,
}

impl Scratch {
    /// Makes one among the caller's temporary files, and removes those that are no longer in use.
    pub(crate) fn make() -> Result<Self, Errno> {
        let path = Some(std::env::temp_dir()).filter(|path| path.is_absolute());
        Self::make_in(&path.unwrap_or_else(|| PathBuf::from("/tmp")))
    }

    fn make_in(path: &Path) -> Result<Self, Errno> {
        let base = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
        nobody_else_renames(&rustix::fs::fstat(&base)?)?;
        remove_stale(&base);
        for _ in 0..ATTEMPTS {
            match Self::try_make(&base, path) {
                // Another process took it for a stale one, in the moment before it was locked.
                Err(Errno::NOENT | Errno::AGAIN | Errno::EXIST) => {}
                made => return made,
            }
        }
        Err(Errno::AGAIN)
    }

    fn try_make(base: &OwnedFd, path: &Path) -> Result<Self, Errno> {
        let name = format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish());
        rustix::fs::mkdirat(base, &name, PRIVATE)?;
        let handle = rustix::fs::openat(base, &name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
        let found = rustix::fs::fstat(&handle)?;
        if found.st_nlink == 0 || !is_ours(&found) {
            return Err(Errno::NOENT);
        }
        let made =
            Self { base: base.try_clone().map_err(|_| Errno::MFILE)?, path: path.join(&name), name, handle };
        rustix::fs::mkdirat(&made.handle, HOME, PRIVATE)?;
        rustix::fs::mkdirat(&made.handle, TMP, PRIVATE)?;
        Ok(made)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path.join(HOME)
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join(TMP)
    }

    /// Handles on both, by which rights are given.
    pub(crate) fn handles(&self) -> Result<[OwnedFd; 2], Errno> {
        let open = |name| rustix::fs::openat(&self.handle, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        Ok([open(HOME)?, open(TMP)?])
    }

    /// A process that has this open keeps the directory from being removed as stale.
    pub(crate) fn lock(&self) -> &OwnedFd {
        &self.handle
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that cannot be removed now is stale once the lock is gone, and the next start tries again.
        let _left = empty(&self.handle)
            .and_then(|()| rustix::fs::unlinkat(&self.base, self.name.as_str(), AtFlags::REMOVEDIR));
    }
}

const PREFIX: &str = "ringfence-";
const HOME: &str = "home";
const TMP: &str = "tmp";
const ATTEMPTS: u32 = 16;
const PRIVATE: Mode = Mode::RWXU;
/// All permissions of other users.
const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Fails if every user may rename everything in it: another directory could be put in the place of this one.
///
/// Its owner always could, and would gain nothing: rights are given by handle, and to this directory alone.
fn nobody_else_renames(base: &Stat) -> Result<(), Errno> {
    let (open, sticky) = (base.st_mode & 0o022 != 0, base.st_mode & 0o1000 != 0);
    if !open || sticky { Ok(()) } else { Err(Errno::PERM) }
}

fn is_ours(found: &Stat) -> bool {
    found.st_uid == rustix::process::geteuid().as_raw()
        && Mode::from_raw_mode(found.st_mode).intersection(OTHERS).is_empty()
}

/// Removes what launchers left that were killed. What cannot be removed stays for the next one.
fn remove_stale(base: &OwnedFd) {
    let Ok(entries) = Dir::read_from(base) else { return };
    for entry in entries.flatten().filter(|entry| is_scratch_name(entry.file_name().to_bytes())) {
        let _left = remove_unused(base, entry.file_name());
    }
}

/// Returns true for a name that [`Scratch`] makes. A directory of the user may begin with the same word.
fn is_scratch_name(name: &[u8]) -> bool {
    let number = name.strip_prefix(PREFIX.as_bytes());
    number.is_some_and(|number| number.len() == 16 && number.iter().all(u8::is_ascii_hexdigit))
}

fn remove_unused(base: &OwnedFd, name: &CStr) -> Result<(), Errno> {
    let handle = rustix::fs::openat(base, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
    if !is_ours(&rustix::fs::fstat(&handle)?) {
        return Err(Errno::PERM);
    }
    empty(&handle)?;
    rustix::fs::unlinkat(base, name, AtFlags::REMOVEDIR)
}

/// Removes everything in a directory, however deep: what lies deeper is moved up before it is emptied, so that two
/// handles are enough and no path is ever written. Links are removed, never followed.
fn empty(top: &OwnedFd) -> Result<(), Errno> {
    // An earlier attempt that came to nothing may have left such names.
    let mut moved = RandomState::new().build_hasher().finish() >> 1;
    loop {
        let names = names(top)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            if let Some(directory) = remove_or_open(top, &name)? {
                flatten(&directory, top, &mut moved)?;
                rustix::fs::unlinkat(top, name.as_c_str(), AtFlags::REMOVEDIR)?;
            }
        }
    }
}

/// Removes what is in a directory, and moves directories in it to the top.
fn flatten(directory: &OwnedFd, top: &OwnedFd, moved: &mut u64) -> Result<(), Errno> {
    loop {
        let names = names(directory)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            if remove_or_open(directory, &name)?.is_some() {
                *moved += 1;
                rustix::fs::renameat(directory, name.as_c_str(), top, format!("{MOVED}{moved}"))?;
            }
        }
    }
}

/// Names at the top are ours alone.
const MOVED: &str = "moved-";

/// Removes anything but a directory. That one is opened, with every right to it.
fn remove_or_open(parent: &OwnedFd, name: &CStr) -> Result<Option<OwnedFd>, Errno> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) => return Ok(None),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let found = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    rustix::fs::chmodat(CWD, itself.as_str(), PRIVATE, AtFlags::empty())?;
    rustix::fs::openat(parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map(Some)
}

fn names(directory: &OwnedFd) -> Result<Vec<std::ffi::CString>, Errno> {
    let entries = Dir::read_from(directory)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
    let names: Result<Vec<_>, _> = names.take(AT_ONCE).collect();
    Ok(names?.into_iter().filter(|name| !matches!(name.to_bytes(), b"." | b"..")).collect())
}

/// So many names are held in memory at a time; a directory can have any number.
const AT_ONCE: usize = 10_000;

#[cfg(test)]
mod tests;
