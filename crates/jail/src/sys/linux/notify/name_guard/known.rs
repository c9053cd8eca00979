//! Directories that are or were repositories, by what they are and not by what they are called.
//!
//! Removing is not supervised, so a command can take `refs` out of a repository or rename the directory. What was a repository
//! once keeps the protection of one until the jail ends.

use std::collections::{HashSet, VecDeque};
use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use policy::{Ground, Protected};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, StatxFlags};
use rustix::io::Errno;

use super::path::STRAIGHT;
use super::repository;

/// A file or directory: device, inode, and when it was made, because numbers of inodes are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub(super) device: (u32, u32),
    pub(super) inode: u64,
    /// Zeros where the file system does not know.
    pub(super) born: (i64, u32),
}

impl Identity {
    /// Of what a handle leads to.
    pub(super) fn of(handle: &OwnedFd) -> Result<Self, Errno> {
        Self::at(handle, c"", AtFlags::EMPTY_PATH)
    }

    /// Of a name in a directory, itself and not what it leads to.
    pub(super) fn named(directory: &OwnedFd, name: &CString) -> Result<Self, Errno> {
        Self::at(directory, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    fn at(directory: &OwnedFd, name: &std::ffi::CStr, flags: AtFlags) -> Result<Self, Errno> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = rustix::fs::statx(directory, name, flags | AtFlags::STATX_DONT_SYNC, wanted)?;
        let has_birth = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
        let born = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
        Ok(Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            born: if has_birth { born } else { (0, 0) },
        })
    }
}

/// The repositories of one jail.
#[derive(Default)]
pub(super) struct Repositories {
    known: Mutex<HashSet<Identity>>,
    /// Those that the command has made.
    made: Mutex<HashSet<Identity>>,
}

impl Repositories {
    /// Returns true if a directory was seen to be a repository.
    pub(super) fn was(&self, directory: Identity) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&directory)
    }

    /// Remembers a repository.
    pub(super) fn remember(&self, directory: Identity) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(directory);
    }

    /// Remembers a directory `.git` that the command has made.
    pub(super) fn remember_made(&self, directory: Identity) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(directory);
    }

    /// Returns true if the command has made a repository.
    pub(super) fn is_made(&self, directory: Identity) -> bool {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).contains(&directory)
    }

    /// Looks for repositories below a directory of the host before the command starts: the target of its `.git`, and bare
    /// ones near the top. A directory that cannot be read is left out.
    ///
    /// Returns the paths of all repositories that were seen, relative to the directory.
    pub(super) fn look_through(&self, top: &OwnedFd) -> Vec<PathBuf> {
        let mut seen = Vec::new();
        if let Some(target) = pointed(top) {
            self.remember(target);
        }
        let mut queue = VecDeque::from([(c".".to_owned(), 0)]);
        let mut left = MOST_DIRECTORIES;
        let mut buffer = Vec::with_capacity(8 << 10);
        // The queue holds paths and not handles: other threads need descriptors at the same time.
        while let Some((path, depth)) = queue.pop_front() {
            let Ok(directory) = open_directory(top, &path) else { continue };
            let mut listing = Listing::default();
            // One that cannot be listed to its end is judged by the names that were read.
            let _incomplete = listing.read(&directory, &mut buffer, depth < DEEPEST);
            let at = Path::new(OsStr::from_bytes(path.to_bytes()));
            if policy::is_repository(|name| listing.parts.contains(&name)) {
                self.known.lock().unwrap_or_else(PoisonError::into_inner).extend(Identity::of(&directory));
                seen.push(at.to_owned());
            }
            seen.extend(listing.has_repository.then(|| at.join(".git")));
            listing.directories.sort_by_key(|name| !is_likely(name.to_bytes()));
            for name in listing.directories.iter().take(left) {
                left -= 1;
                if depth + 1 == DEEPEST {
                    // Nothing below it is looked at: one lookup of `HEAD` is cheaper than a listing.
                    let below = at.join(OsStr::from_bytes(name.to_bytes()));
                    seen.extend(self.look_at(&directory, name).map(|own| below.join(own)));
                    continue;
                }
                let below = [path.to_bytes(), b"/", name.to_bytes()].concat();
                queue.extend(CString::new(below).ok().map(|below| (below, depth + 1)));
            }
        }
        seen
    }

    /// Returns where a directory has a repository: itself, or by the usual name.
    fn look_at(&self, directory: &OwnedFd, name: &CString) -> Option<&'static str> {
        let has = |part: &str| {
            let path = [name.to_bytes(), b"/", part.as_bytes()].concat();
            rustix::fs::statat(directory, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
        };
        if policy::is_repository(has) {
            let identity = Identity::named(directory, name);
            self.known.lock().unwrap_or_else(PoisonError::into_inner).extend(identity);
            return Some("");
        }
        has(".git").then_some(".git")
    }
}

/// Number of directories that are looked at below each top, the nearest first.
const MOST_DIRECTORIES: usize = 100;
/// Number of levels below the top; the look at what git has not finished goes as deep.
const DEEPEST: usize = policy::UNFINISHED_DEPTH;
/// Number of entries that are read of each directory.
const MOST_ENTRIES: usize = 2000;

/// The entries of a directory that matter.
#[derive(Default)]
struct Listing {
    /// The names of repositories among its own.
    parts: Vec<&'static str>,
    /// A directory `.git`.
    has_repository: bool,
    directories: Vec<CString>,
}

impl Listing {
    fn read(&mut self, directory: &OwnedFd, buffer: &mut Vec<u8>, deeper: bool) -> Result<(), Errno> {
        buffer.clear();
        let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
        for _ in 0..MOST_ENTRIES {
            let Some(entry) = entries.next() else { break };
            let entry = entry?;
            let name = entry.file_name();
            let part = ["HEAD", "objects", "refs", "commondir"].into_iter();
            self.parts.extend(part.filter(|part| part.as_bytes() == name.to_bytes()));
            self.has_repository |= name.to_bytes() == b".git" && entry.file_type() == FileType::Directory;
            if deeper && entry.file_type() == FileType::Directory && is_searched(name.to_bytes()) {
                self.directories.push(name.to_owned());
            }
        }
        Ok(())
    }
}

/// Directories called `.git` are protected by that name, and what package managers unpack is much.
fn is_searched(name: &[u8]) -> bool {
    !matches!(name, b"." | b"..") && !Protected::is_exempt(Ground::Tree, Path::new(OsStr::from_bytes(name)))
}

/// Repositories without a working tree are mostly called `x.git`, `.bare` or `bare`: these are looked at before others.
fn is_likely(name: &[u8]) -> bool {
    name.ends_with(b".git") || name.starts_with(b".") || name == b"bare"
}

/// Opens a directory below `top`, through no link.
fn open_directory(top: &OwnedFd, path: &CString) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = STRAIGHT | rustix::fs::ResolveFlags::BENEATH;
    rustix::fs::openat2(top, path.as_c_str(), flags, Mode::empty(), resolve)
}

/// The directory that a file called `.git` names, if it lies below.
fn pointed(top: &OwnedFd) -> Option<Identity> {
    let text = repository::text(top, b".git").ok()?;
    let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let path = path.strip_prefix(b"./").unwrap_or(path);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = STRAIGHT | rustix::fs::ResolveFlags::BENEATH;
    let found = rustix::fs::openat2(top, OsStr::from_bytes(path), flags, Mode::empty(), resolve).ok()?;
    Identity::of(&found).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd as _;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    fn open(path: &Path) -> OwnedFd {
        rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    fn make(top: &Path, names: &[&str]) {
        for name in names {
            fs::create_dir_all(top.join(name)).unwrap();
        }
    }

    #[test]
    fn repositories_near_the_top_are_found_and_stay_what_they_were() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path();
        for name in ["bare", "a/c.git", "vendor/x", "a/b/deep"] {
            make(&top.join(name), &["HEAD", "objects", "refs"]);
        }
        make(top, &["half/objects", "half/refs", "one/two/three/four/five"]);
        fs::write(top.join(".git"), "gitdir: ./one/two/three/four/five\n").unwrap();
        let repositories = Repositories::default();
        repositories.look_through(&open(top));
        let was = |name: &str| repositories.was(Identity::of(&open(&top.join(name))).unwrap());
        let rows = [
            ("bare", true),
            ("a/c.git", true),
            ("one/two/three/four/five", true),
            ("half", false),
            ("a", false),
            ("vendor/x", false),
            ("a/b/deep", false),
        ];
        for (name, expected) in rows {
            assert_eq!(was(name), expected, "{name}");
        }
        fs::remove_dir(top.join("bare/refs")).unwrap();
        fs::rename(top.join("bare"), top.join("half/moved")).unwrap();
        assert!(was("half/moved"));
    }

    #[test]
    fn a_look_at_many_directories_finds_likely_names_first() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path();
        let many: Vec<_> = (0..300).map(|at| format!("d{at}")).collect();
        make(top, &many.iter().map(String::as_str).collect::<Vec<_>>());
        for name in [".bare", "z.git", "bare"] {
            make(&top.join(name), &["HEAD", "objects", "refs"]);
        }
        let repositories = Repositories::default();
        repositories.look_through(&open(top));
        for name in [".bare", "z.git", "bare"] {
            assert!(repositories.was(Identity::of(&open(&top.join(name))).unwrap()), "{name}");
        }
    }

    /// Lowers a limit of the whole process, as a user with a low `ulimit -n` would have it.
    #[test]
    fn a_look_needs_few_descriptors() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path();
        make(
            top,
            &(0..30)
                .map(|at| format!("d{at}/e"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let bare: Vec<_> = (0..20).map(|at| format!("d{at}/bare.git")).collect();
        for name in &bare {
            make(&top.join(name), &["HEAD", "objects", "refs"]);
        }
        let repositories = Repositories::default();
        let opened = open(top);
        let before = getrlimit(Resource::Nofile);
        let free = u64::try_from(rustix::io::dup(&opened).unwrap().as_raw_fd()).unwrap();
        setrlimit(Resource::Nofile, Rlimit { current: Some(free + 3), maximum: before.maximum }).unwrap();
        repositories.look_through(&opened);
        setrlimit(Resource::Nofile, before).unwrap();
        for name in bare {
            assert!(repositories.was(Identity::of(&open(&top.join(&name))).unwrap()), "{name}");
        }
    }
}
