//! Files that a command left in its private home, counted before they are gone.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

/// Counts the files with content in the home of a jail's private file system, as far as a short look shows them. What programs keep
/// for themselves (caches, histories) does not count.
///
/// Only to be called when no process of the jail is left. The tree is the command's choice: nothing is followed, and nothing but the private
/// file system is read, although other mounts may still hang below it.
pub(crate) fn count_files(root: BorrowedFd<'_>, home: &Path) -> u64 {
    let Ok(top) = fstat(root) else { return 0 };
    let Ok(home) = home.strip_prefix("/").map_err(|_| Errno::NOENT).and_then(|home| open(root, home)) else {
        return 0;
    };
    let mut count = Count { device: top.st_dev, entries: 0, files: 0, waiting: Vec::new() };
    count.directory(&home, true);
    while let Some(directory) = count.waiting.pop() {
        count.directory(&directory, false);
    }
    count.files
}

struct Count {
    device: u64,
    /// Entries that were looked at.
    entries: usize,
    files: u64,
    waiting: Vec<OwnedFd>,
}

impl Count {
    fn directory(&mut self, directory: &OwnedFd, is_home: bool) {
        if !fstat(directory).is_ok_and(|found| found.st_dev == self.device) {
            return;
        }
        let Ok(entries) = Dir::read_from(directory) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if self.entries >= MOST_ENTRIES {
                return;
            }
            self.entries += 1;
            if matches!(name.to_bytes(), b"." | b"..") || is_home && is_of_programs(name.to_bytes()) {
                continue;
            }
            if let Ok(found) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                self.entry(directory, OsStr::from_bytes(name.to_bytes()), &found);
            }
        }
    }

    fn entry(&mut self, directory: &OwnedFd, name: &OsStr, found: &Stat) {
        match FileType::from_raw_mode(found.st_mode) {
            _ if found.st_dev != self.device => {}
            // Empty ones are where something was mounted.
            FileType::RegularFile if found.st_size > 0 => self.files += 1,
            FileType::Directory if self.waiting.len() < MOST_WAITING => {
                self.waiting.extend(open(directory.as_fd(), Path::new(name)).ok());
            }
            _ => {}
        }
    }
}

fn open(at: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

/// Returns true for names in a home that programs use for themselves, and that are not missed.
fn is_of_programs(name: &[u8]) -> bool {
    name.ends_with(b"_history") || [&b".cache"[..], b".lesshst", b".viminfo", b".wget-hsts"].contains(&name)
}

const MOST_ENTRIES: usize = 5_000;
const MOST_WAITING: usize = 64;
