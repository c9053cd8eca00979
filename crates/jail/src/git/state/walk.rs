//! Finds the repositories below a directory, one open directory for each level.
//!
//! The tree was written by a command in a jail, so its depth, its number of directories and the time that reading it takes are limited.
//! A [`Walk`] says what it has not read.

use std::ffi::{OsStr, OsString};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use policy::{Ground, Protected, UNFINISHED_DEPTH};
use rustix::fs::{AtFlags, Dir, FileType, Mode as Bits, OFlags};
use rustix::io::Errno;

/// Work that is left before the inspection stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Directories to open.
    pub(super) directories: usize,
    /// Directory entries to read.
    pub(super) entries: usize,
    /// Bytes of state files to read.
    pub(super) bytes: u64,
    /// Time after which no directory is opened.
    pub(super) end: Instant,
}

impl Budget {
    pub(super) fn new() -> Self {
        let end = Instant::now() + Duration::from_secs(10);
        Self { directories: 100_000, entries: 2_000_000, bytes: 64 << 20, end }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.directories == 0 || self.entries == 0 || Instant::now() > self.end
    }
}

/// Directories below `modules` that lie deeper than this are not opened.
pub(super) const MODULE_DEPTH: usize = 32;

/// Called for each directory of a repository, before anything below it is opened.
pub(super) type Visit<'a> = dyn FnMut(&OwnedFd, &Path, &mut Budget) + 'a;

/// A directory that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unread {
    pub(super) path: PathBuf,
    /// The directory belongs to another user, so the command could not change its permissions either.
    pub(super) foreign: bool,
}

/// One pass over the repositories of a tree.
pub(super) struct Walk<'a> {
    visit: &'a mut Visit<'a>,
    budget: Budget,
    stack: Vec<Level>,
    gaps: Gaps,
}

/// Parts of a tree that a walk has not read.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Directories that could not be opened or listed, up to [`Gaps::MOST`].
    pub(super) unread: Vec<Unread>,
    /// Number of further ones.
    pub(super) more: usize,
    /// First directory below `modules` that is too deep.
    pub(super) deep: Option<PathBuf>,
    /// Directory in which the budget was spent.
    pub(super) cut: Option<PathBuf>,
}

impl Gaps {
    const MOST: usize = 4096;

    fn add(&mut self, path: PathBuf, foreign: bool) {
        if self.unread.len() < Self::MOST {
            self.unread.push(Unread { path, foreign });
        } else {
            self.more += 1;
        }
    }
}

/// A directory whose entries are being read.
struct Level {
    handle: OwnedFd,
    entries: Dir,
    path: PathBuf,
    area: Area,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    /// Directories of a working tree, so far below the top.
    Tree(usize),
    /// `worktrees` of a repository.
    Worktrees,
    /// A directory below `modules`, and whether it is a repository itself.
    Modules { depth: usize, repository: bool },
}

impl<'a> Walk<'a> {
    /// Visits the repositories of a tree, or a repository, and those that belong to them. The nearest to the top come first.
    pub(super) fn run(top: &Path, ground: Ground, budget: &mut Budget, visit: &'a mut Visit<'a>) -> Gaps {
        let mut walk = Self { visit, budget: *budget, stack: Vec::new(), gaps: Gaps::default() };
        let found = directory(rustix::fs::CWD, top.as_os_str());
        let foreign = is_foreign(rustix::fs::CWD, top.as_os_str(), &found);
        if let Some(handle) = walk.opened(found, top, foreign) {
            match ground {
                Ground::Repository => walk.repository(&handle, top),
                Ground::Tree => walk.tree(handle, top.to_owned(), 0),
            }
            walk.descend();
        }
        *budget = walk.budget;
        walk.gaps
    }

    fn descend(&mut self) {
        while let Some(level) = self.stack.last_mut() {
            if self.budget.is_spent() {
                self.gaps.cut = Some(level.path.clone());
                return;
            }
            let name = match next(&mut level.entries, &mut self.budget) {
                Ok(Some(name)) => name,
                Ok(None) if self.budget.entries == 0 => continue,
                end => {
                    let level = self.stack.pop();
                    level
                        .filter(|_| end.is_err())
                        .into_iter()
                        .for_each(|level| self.gaps.add(level.path, false));
                    continue;
                }
            };
            let area = level.area;
            if area.skips(&name) {
                continue;
            }
            let path = level.path.join(&name);
            let found = directory(&level.handle, &name);
            let foreign = is_foreign(&level.handle, &name, &found);
            let Some(below) = self.opened(found, &path, foreign) else { continue };
            match area {
                Area::Tree(depth) => self.tree(below, path, depth + 1),
                Area::Worktrees => {
                    (self.visit)(&below, &path, &mut self.budget);
                    self.modules_of(&below, &path);
                }
                Area::Modules { depth, .. } => self.module(below, path, depth + 1),
            }
        }
    }

    /// A directory of a working tree: its repository is read before the directories below.
    fn tree(&mut self, tree: OwnedFd, path: PathBuf, depth: usize) {
        let repository = self.inside(&tree, &path, ".git");
        let inner = path.join(".git");
        if depth < UNFINISHED_DEPTH {
            self.push(tree, path, Area::Tree(depth));
        }
        if let Some(repository) = repository {
            self.repository(&repository, &inner);
        }
    }

    fn repository(&mut self, repository: &OwnedFd, path: &Path) {
        (self.visit)(repository, path, &mut self.budget);
        self.modules_of(repository, path);
        if let Some(trees) = self.inside(repository, path, "worktrees") {
            self.push(trees, path.join("worktrees"), Area::Worktrees);
        }
    }

    fn modules_of(&mut self, repository: &OwnedFd, path: &Path) {
        if let Some(modules) = self.inside(repository, path, "modules") {
            self.module(modules, path.join("modules"), 0);
        }
    }

    /// Repositories of submodules have names of several parts, so every directory could be one.
    fn module(&mut self, module: OwnedFd, path: PathBuf, depth: usize) {
        if depth > MODULE_DEPTH {
            self.gaps.deep.get_or_insert(path);
            return;
        }
        (self.visit)(&module, &path, &mut self.budget);
        let repository = rustix::fs::statat(&module, "HEAD", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        self.push(module, path, Area::Modules { depth, repository });
    }

    fn push(&mut self, handle: OwnedFd, path: PathBuf, area: Area) {
        match listed(&handle) {
            Ok(entries) => self.stack.push(Level { handle, entries, path, area }),
            Err(_) => self.gaps.add(path, false),
        }
    }

    /// Opens a directory by its name, if there is one.
    fn inside(&mut self, above: &OwnedFd, path: &Path, name: &str) -> Option<OwnedFd> {
        let found = directory(above, OsStr::new(name));
        let foreign = is_foreign(above, OsStr::new(name), &found);
        self.opened(found, &path.join(name), foreign)
    }

    fn opened(&mut self, found: Result<OwnedFd, Errno>, path: &Path, foreign: bool) -> Option<OwnedFd> {
        self.budget.directories = self.budget.directories.saturating_sub(1);
        if found.as_ref().is_err_and(|errno| !is_no_directory(*errno)) {
            self.gaps.add(path.to_owned(), foreign);
        }
        found.ok()
    }
}

impl Area {
    fn skips(self, name: &OsStr) -> bool {
        match self {
            Self::Tree(_) => Protected::is_exempt(Ground::Tree, Path::new(name)),
            Self::Worktrees => false,
            Self::Modules { repository, .. } => {
                repository && ["objects", "refs", "logs", "lfs"].iter().any(|inner| name == *inner)
            }
        }
    }
}

/// Opens a directory without following a link. One of the user that can be searched and not listed is opened all the same: git does
/// not list it either.
pub(super) fn directory(at: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(at.as_fd(), name, flags, Bits::empty()) {
        Err(Errno::ACCESS) => unlisted(at.as_fd(), name),
        opened => opened,
    }
}

/// Opens a directory that its owner may not list, by giving the permission for as long as that takes.
#[cfg(target_os = "linux")]
fn unlisted(at: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let handle = rustix::fs::openat(at, name, ON_THE_WAY, Bits::empty())?;
    let found = rustix::fs::fstat(&handle)?;
    let mode = Bits::from_raw_mode(found.st_mode);
    if found.st_uid != rustix::process::geteuid().as_raw() || !mode.contains(Bits::XUSR) {
        return Err(Errno::ACCESS);
    }
    // A handle that is only a path takes no `fchmod`.
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(&path, mode | Bits::RUSR)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(&handle, c".", flags, Bits::empty());
    rustix::fs::chmod(&path, mode)?;
    opened
}

#[cfg(not(target_os = "linux"))]
fn unlisted(_: BorrowedFd<'_>, _: &OsStr) -> Result<OwnedFd, Errno> {
    Err(Errno::ACCESS)
}

/// Lists an open directory from its beginning. Its permissions do not count any more.
pub(super) fn listed(handle: &OwnedFd) -> Result<Dir, Errno> {
    let mut entries = Dir::new(rustix::io::fcntl_dupfd_cloexec(handle, 0)?)?;
    entries.rewind();
    Ok(entries)
}

/// Opens a directory below another one, without following a link on the way. Those on the way need not be listed.
pub(super) fn directory_below(top: &Path, path: &Path) -> Result<OwnedFd, Errno> {
    let below = path.strip_prefix(top).map_err(|_| Errno::NOENT)?;
    let (Some(above), Some(last)) = (below.parent(), below.file_name()) else {
        return directory(rustix::fs::CWD, top.as_os_str());
    };
    let mut handle = rustix::fs::openat(rustix::fs::CWD, top, ON_THE_WAY, Bits::empty())?;
    for part in above.components() {
        let Component::Normal(name) = part else { return Err(Errno::NOENT) };
        handle = rustix::fs::openat(&handle, name, ON_THE_WAY, Bits::empty())?;
    }
    directory(&handle, last)
}

#[cfg(target_os = "linux")]
const ON_THE_WAY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const ON_THE_WAY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The name is absent, or is not the name of a directory.
pub(super) fn is_no_directory(errno: Errno) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].contains(&errno)
}

fn is_foreign(above: impl AsFd, name: &OsStr, found: &Result<OwnedFd, Errno>) -> bool {
    found.as_ref().is_err_and(|errno| *errno == Errno::ACCESS)
        && rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| found.st_uid != rustix::process::geteuid().as_raw())
}

/// Returns the name of the next directory.
fn next(entries: &mut Dir, budget: &mut Budget) -> Result<Option<OsString>, Errno> {
    while budget.entries > 0 {
        let Some(entry) = entries.next().transpose()? else { return Ok(None) };
        budget.entries -= 1;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let kind = [FileType::Directory, FileType::Unknown].contains(&entry.file_type());
        if kind && name != "." && name != ".." {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}
