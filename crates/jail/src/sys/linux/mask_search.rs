//! Looks for forbidden names in what a jail would show of the host.
//!
//! Every directory is opened beneath the view that it lies in, without links on the way. What cannot be looked through is treated as if
//! its name were forbidden. Directories that have not changed since they were listed are not listed again, see [`cache`].

mod cache;
mod committed;
mod links;
mod merged;
mod remembered;

use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use policy::floor::Forbidden;
use policy::{Location, Siblings};
use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags};
use rustix::io::Errno;

use crate::plan::{Conflict, Mask};
use crate::spec::{Looked, Mode, Spec, View};
use cache::{Cache, Known, Stamp};
use merged::Layers;
use remembered::{Remembered, Target};

/// Directories that are not looked through unless their own name is forbidden, and why. What lies in them can be read. A repository, `.git`, is
/// never masked: git has to read its files, and names of branches are names of files.
const SKIPPED: &[(&str, &str)] = &[
    ("node_modules", "installed packages: large, public, and with certificates that programs need"),
    ("site-packages", "installed packages: large, public, and with certificates that programs need"),
];

/// More mounts than this make a jail slow to start, and are not intended.
const MOST_MASKS: usize = 2000;
/// A directory with a longer path is masked instead of looked through: what lies in it could not be mounted on.
const LONGEST: usize = 3800;

/// The files and directories with forbidden names that the spec would show. What was found is remembered in a directory that no jail
/// shows, if there is one.
pub(crate) fn look(spec: &Spec, cache: Option<&Path>) -> Result<Looked, Conflict> {
    let Some(forbidden) = &spec.forbidden else { return Ok(Looked::default()) };
    let mut look =
        Look { spec, forbidden, found: Vec::new(), links: Vec::new(), space: Vec::with_capacity(SPACE) };
    let is_repository = |view: &&View| spec.repositories.contains(&view.path);
    for view in spec.views.iter().filter(|view| view.mode.shows_host() && !is_repository(view)) {
        look.view(view, cache)?;
    }
    let remembered = cache.map(|cache| {
        let unread =
            |error: std::io::Error| Conflict::NotLookedThrough(cache.to_owned(), error_number(&error).into());
        Remembered::read(cache, &spec.workspace).map(|known| (known, unread)).map_err(unread)
    });
    let remembered = remembered.transpose()?;
    let mut targets = look.follow_links(remembered.as_ref().map_or(&[], |(known, _)| &known.targets));
    committed::leave_out(&mut look.found, spec);
    targets.retain(|target| look.found.iter().any(|mask| mask.path == target.path));
    links::add_second_names(&mut look)?;
    let Look { mut found, .. } = look;
    // A path that the spec hides is hidden as it says.
    found.retain(|mask| !spec.views.iter().any(|view| view.path == mask.path && !view.mode.shows_host()));
    found.sort_by(|one, other| one.path.cmp(&other.path));
    // A path in a masked directory is masked with it.
    found.dedup_by(|mask, before| mask.path.starts_with(&before.path));
    let mut shown = spec.views.iter().filter(|view| view.mode.shows_host());
    if let Some(view) = shown.find(|view| found.iter().any(|mask| view.path.starts_with(&mask.path))) {
        return Err(Conflict::Forbidden(view.path.clone()));
    }
    if found.len() > MOST_MASKS {
        return Err(too_many(&found));
    }
    if let Some((remembered, unread)) = remembered {
        // A run that cannot remember them would leave the next one without them.
        remembered.save(&targets).map_err(unread)?;
    }
    Ok(Looked { masks: found, links: targets.into_iter().filter_map(|target| link(target.link)).collect() })
}

/// A link as it is now, if there is one.
fn link(path: PathBuf) -> Option<Mask> {
    let found = path.symlink_metadata().ok().filter(std::fs::Metadata::is_symlink)?;
    Some(Mask { path, directory: false, id: Some((found.dev(), found.ino())) })
}

/// Room for what the kernel lists at once.
const SPACE: usize = 32 << 10;

/// Names the directory with most of them.
fn too_many(found: &[Mask]) -> Conflict {
    let mut directories = std::collections::HashMap::<_, usize>::new();
    for parent in found.iter().filter_map(|mask| mask.path.parent()) {
        *directories.entry(parent).or_default() += 1;
    }
    let most = directories.into_iter().max_by_key(|(path, count)| (*count, std::cmp::Reverse(*path)));
    let (directory, here) = most.map_or((PathBuf::new(), 0), |(path, count)| (path.to_owned(), count));
    Conflict::TooManyForbidden { count: found.len(), most: MOST_MASKS, directory, here }
}

struct Look<'a> {
    spec: &'a Spec,
    forbidden: &'a Forbidden,
    found: Vec<Mask>,
    /// Links with forbidden names.
    links: Vec<PathBuf>,
    /// Buffer in which the kernel lists names.
    space: Vec<u8>,
}

/// Kind of an entry of a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Directory,
    Link,
    /// A file, a socket, a device.
    File,
}

/// A directory that is still to be looked through.
struct Directory {
    /// Its path below the view; `.` is the view itself.
    below: CString,
    /// Its place in what is known from before.
    known: Option<usize>,
    /// True if it is seen through a layer.
    through: bool,
}

/// Entries that were found in a directory.
#[derive(Default)]
struct Listed {
    stamp: Option<Stamp>,
    /// Forbidden names.
    found: Vec<(CString, EntryKind)>,
    /// Directories to go on with.
    children: Vec<Directory>,
    /// True if the directory itself is masked, because it cannot be looked through.
    closed: bool,
}

impl Look<'_> {
    fn view(&mut self, view: &View, cache: Option<&Path>) -> Result<(), Conflict> {
        let top = &view.path;
        if *top != self.spec.workspace && self.forbidden.holds(&self.location(top)?) {
            return Err(Conflict::Forbidden(top.clone()));
        }
        let layers = match Layers::of(self.spec, top) {
            // A view of a file; what cannot be a view is refused later, with a reason.
            Err(Errno::NOTDIR | Errno::NOENT | Errno::LOOP) => return Ok(()),
            layers => layers.map_err(|errno| failed(top, errno))?,
        };
        let cache = cache
            .filter(|_| !layers.are_two())
            .map(|directory| Cache::of(directory, self.spec, self.forbidden, top));
        let known = cache.as_ref().map(Cache::read).unwrap_or_default();
        let known = known.checked(&layers.lower);
        if known.is_all() {
            known.each(|below, name, kind| self.add(top, below, name, kind));
            return Ok(());
        }
        let mut written = cache.as_ref().map(Cache::begin);
        let mut pending =
            VecDeque::from([Directory { below: c".".to_owned(), known: known.top(), through: true }]);
        while let Some(directory) = pending.pop_front() {
            let listed = match directory.known.and_then(|known_at| known.listed(known_at)) {
                Some(listed) => listed,
                None => self
                    .list(top, &layers, &known, &directory)
                    .map_err(|errno| failed(&joined(top, &directory.below), errno))?,
            };
            if listed.closed {
                self.found.push(Mask { path: joined(top, &directory.below), directory: true, id: None });
            }
            for (name, kind) in &listed.found {
                self.add(top, &directory.below, name, *kind);
            }
            if let Some(written) = &mut written {
                written.add(&directory.below, &listed);
            }
            pending.extend(listed.children);
        }
        // Without it the next look takes longer.
        let _unsaved = written.zip(cache).map(|(written, cache)| cache.save(&written));
        Ok(())
    }

    fn location(&self, path: &Path) -> Result<Location, Conflict> {
        Location::new(&self.spec.workspace, path).map_err(|_| Conflict::NotAbsolute(path.to_owned()))
    }

    fn add(&mut self, top: &Path, below: &std::ffi::CStr, name: &std::ffi::CStr, kind: EntryKind) {
        // An empty name is the directory itself.
        let directory = joined(top, below);
        let path =
            if name.is_empty() { directory } else { directory.join(OsStr::from_bytes(name.to_bytes())) };
        match kind {
            EntryKind::Link => self.links.push(path),
            _ => self.found.push(Mask { path, directory: kind == EntryKind::Directory, id: None }),
        }
    }

    fn list(
        &mut self,
        top: &Path,
        layers: &Layers,
        known: &Known,
        directory: &Directory,
    ) -> Result<Listed, Errno> {
        let path = joined(top, &directory.below);
        let closed = |stamp| Listed { stamp, closed: true, ..Listed::default() };
        if path.as_os_str().len() > LONGEST {
            return Ok(closed(None));
        }
        let opened = match layers.open(&directory.below, directory.through) {
            // It has gone since it was listed.
            Err(Errno::NOTDIR | Errno::NOENT | Errno::LOOP) => return Ok(Listed::default()),
            // Its owner can open it up later.
            Err(Errno::ACCESS) => return Ok(closed(Stamp::at(&layers.lower, &directory.below))),
            opened => opened?,
        };
        let mut listed = Listed { stamp: opened.stamp(), ..Listed::default() };
        let location = Location::new(&self.spec.workspace, &path).map_err(|_| Errno::INVAL)?;
        let (mut siblings, mut space) = (Siblings::of(&location), std::mem::take(&mut self.space));
        let done = opened.list(&mut space, |name, kind| {
            let bytes = name.to_bytes();
            let Ok(location) = siblings.named(&self.spec.workspace, OsStr::from_bytes(bytes)) else { return };
            if bytes == b".git" {
                return;
            }
            if self.forbidden.holds(location) {
                listed.found.push((name.to_owned(), kind));
            } else if kind == EntryKind::Directory
                && SKIPPED.iter().all(|(skipped, _)| skipped.as_bytes() != bytes)
                // A view of its own is looked through on its own, or hidden.
                && self.spec.views.iter().all(|view| view.path != location.path())
            {
                let below = child(&directory.below, name);
                let known = directory.known.and_then(|parent| known.child(parent, &below));
                listed.children.push(Directory { below, known, through: opened.goes_through() });
            }
        });
        self.space = space;
        done.map(|()| listed)
    }

    /// A link cannot be mounted on: what it leads to is masked, if the jail shows it and it is not what the spec asks for.
    /// So is what links have led to that would be forbidden if they were still there.
    fn follow_links(&mut self, remembered: &[Target]) -> Vec<Target> {
        let mut targets: Vec<_> =
            std::mem::take(&mut self.links).into_iter().filter_map(Target::of).collect();
        let forbidden = |target: &&Target| {
            self.location(&target.link).is_ok_and(|location| self.forbidden.holds(&location))
        };
        let others: Vec<_> = remembered.iter().filter(forbidden).cloned().collect();
        targets.extend(others);
        targets.retain(|Target { path, .. }| {
            let asked = self.spec.views.iter().any(|view| view.path.starts_with(path));
            !asked && self.spec.mode_at(path).is_some_and(Mode::shows_host)
        });
        self.found.extend(targets.iter().map(|Target { path, .. }| Mask {
            path: path.clone(),
            directory: path.is_dir(),
            id: None,
        }));
        targets
    }
}

fn joined(top: &Path, below: &std::ffi::CStr) -> PathBuf {
    if below == c"." { top.to_owned() } else { top.join(OsStr::from_bytes(below.to_bytes())) }
}

fn child(directory: &std::ffi::CStr, name: &std::ffi::CStr) -> CString {
    if directory == c"." {
        return name.to_owned();
    }
    CString::new([directory.to_bytes(), b"/", name.to_bytes()].concat()).unwrap_or_default()
}

fn error_number(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn failed(path: &Path, errno: Errno) -> Conflict {
    Conflict::NotLookedThrough(path.to_owned(), errno.into())
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a directory beneath another, without links on the way.
fn open_beneath(top: &OwnedFd, below: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(top, below, DIRECTORY, Bits::empty(), resolve) {
        // Filters of containers, and our own, do not have the call.
        Err(Errno::NOSYS | Errno::PERM) => open_step_by_step(top, below),
        opened => opened,
    }
}

fn open_step_by_step(top: &OwnedFd, below: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    let mut opened = rustix::fs::openat(top, c".", DIRECTORY, Bits::empty())?;
    for part in below.to_bytes().split(|byte| *byte == b'/') {
        opened = rustix::fs::openat(&opened, part, DIRECTORY, Bits::empty())?;
    }
    Ok(opened)
}

/// Returns the kind of an entry, asked for where the file system does not say it in its list.
fn kind(directory: &OwnedFd, name: &std::ffi::CStr, listed: FileType) -> EntryKind {
    let known = match listed {
        FileType::Unknown => rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::RegularFile, |found| FileType::from_raw_mode(found.st_mode)),
        known => known,
    };
    match known {
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::File,
    }
}
