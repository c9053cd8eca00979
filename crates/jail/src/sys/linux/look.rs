//! Looks for forbidden names in what a jail would show of the host.
//!
//! Every directory is opened from the one that it was found in, and no link is followed on the way. What cannot be looked through is
//! treated as if its name were forbidden.

mod links;
mod merged;

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::floor::Forbidden;
use policy::{Location, Siblings};
use rustix::fs::{AtFlags, CWD, FileType, Mode as Bits, OFlags};
use rustix::io::Errno;

use crate::plan::{Conflict, Mask};
use crate::spec::{Mode, Spec};
use merged::Layers;

/// Directories that are not looked through unless their own name is forbidden, and why. What lies in them can be read. A repository, `.git`, is
/// never masked: git has to read its files, and names of branches are names of files.
const SKIPPED: &[(&str, &str)] = &[
    ("node_modules", "installed packages: large, public, and with certificates that programs need"),
    ("site-packages", "installed packages: large, public, and with certificates that programs need"),
];

/// More mounts than this make a jail slow to start, and nobody has meant them.
const MOST_MASKS: usize = 2000;
/// Below this, and in longer paths, a directory is masked instead of looked through.
const DEEPEST: usize = 128;
const LONGEST: usize = 3800;

/// The files and directories with forbidden names that the spec would show.
pub(crate) fn masks(spec: &Spec) -> Result<Vec<Mask>, Conflict> {
    let Some(forbidden) = &spec.forbidden else { return Ok(Vec::new()) };
    let mut look = Look { spec, forbidden, found: Vec::new(), links: Vec::new(), space: vec![0; 32 << 10] };
    for view in spec.views.iter().filter(|view| view.mode.shows_host()) {
        look.view(&view.path)?;
    }
    look.follow_links();
    links::add_second_names(&mut look)?;
    let Look { mut found, .. } = look;
    // What somebody hides is hidden as they say.
    found.retain(|mask| !spec.views.iter().any(|view| view.path == mask.path && !view.mode.shows_host()));
    found.sort_by(|one, other| one.path.cmp(&other.path));
    // What lies in a masked directory is masked with it.
    found.dedup_by(|mask, before| mask.path.starts_with(&before.path));
    if let Some(view) = spec
        .views
        .iter()
        .find(|view| view.mode.shows_host() && found.iter().any(|mask| view.path.starts_with(&mask.path)))
    {
        return Err(Conflict::Forbidden(view.path.clone()));
    }
    if found.len() > MOST_MASKS { Err(too_many(&found)) } else { Ok(found) }
}

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
    /// Where the kernel lists names.
    space: Vec<u8>,
}

/// A directory that is still to be looked through.
struct Directory {
    /// Where it is opened from.
    parents: Layers<Arc<OwnedFd>>,
    name: CString,
    path: PathBuf,
    depth: usize,
}

/// What a directory has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Directory,
    Link,
    /// A file, a socket, a device.
    File,
}

impl Look<'_> {
    fn view(&mut self, path: &Path) -> Result<(), Conflict> {
        let location = self.location(path)?;
        if path != self.spec.workspace && self.forbidden.holds(&location) {
            return Err(Conflict::Forbidden(path.to_owned()));
        }
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(path, Errno::INVAL))?;
        let upper = merged::upper(self.spec, path).map_err(|errno| failed(path, errno))?;
        let parents = Layers { lower: None, upper: upper.map(Arc::new) };
        let mut pending = vec![Directory { parents, name, path: path.to_owned(), depth: 0 }];
        while let Some(directory) = pending.pop() {
            self.directory(directory, &mut pending)?;
        }
        Ok(())
    }

    fn location(&self, path: &Path) -> Result<Location, Conflict> {
        Location::new(&self.spec.workspace, path).map_err(|_| Conflict::NotAbsolute(path.to_owned()))
    }

    fn directory(&mut self, directory: Directory, pending: &mut Vec<Directory>) -> Result<(), Conflict> {
        let Directory { parents, name, path, depth } = directory;
        if depth > DEEPEST || path.as_os_str().len() > LONGEST {
            self.found.push(Mask { path, directory: true, id: None });
            return Ok(());
        }
        let opened = if depth == 0 {
            open(None, &name).map(|lower| Layers { lower: Some(lower), upper: parents.upper.clone() })
        } else {
            parents.open(&name)
        };
        let layers = match opened {
            Ok(layers) => layers,
            // A view that is a file; or it has gone since it was listed.
            Err(Errno::NOTDIR | Errno::NOENT | Errno::LOOP) => return Ok(()),
            // Whoever owns it can open it up later.
            Err(Errno::ACCESS) => {
                self.found.push(Mask { path, directory: true, id: None });
                return Ok(());
            }
            Err(errno) => return Err(failed(&path, errno)),
        };
        let mut siblings = Siblings::of(&self.location(&path)?);
        let mut space = std::mem::take(&mut self.space);
        let listed = layers.list(&mut space, |entry, kind| {
            if entry.to_bytes() == b".git" {
                return;
            }
            let Ok(location) = siblings.named(&self.spec.workspace, OsStr::from_bytes(entry.to_bytes()))
            else {
                return;
            };
            if self.forbidden.holds(location) {
                let path = location.path().to_owned();
                match kind {
                    EntryKind::Link => self.links.push(path),
                    EntryKind::File | EntryKind::Directory => {
                        self.found.push(Mask { path, directory: kind == EntryKind::Directory, id: None });
                    }
                }
            } else if kind == EntryKind::Directory && !is_skipped(entry.to_bytes()) {
                let path = location.path().to_owned();
                // A view of its own is looked through on its own, or hidden.
                if self.spec.views.iter().all(|view| view.path != path) {
                    pending.push(Directory {
                        parents: layers.clone(),
                        name: entry.to_owned(),
                        path,
                        depth: depth + 1,
                    });
                }
            }
        });
        self.space = space;
        listed.map_err(|errno| failed(&path, errno))
    }

    /// A link cannot be mounted on: what it leads to is masked, if the jail shows it and it is not what somebody asked for.
    fn follow_links(&mut self) {
        for link in std::mem::take(&mut self.links) {
            let Ok(real) = std::fs::canonicalize(&link) else { continue };
            let asked = self.spec.views.iter().any(|view| view.path.starts_with(&real));
            if !asked && self.spec.mode_at(&real).is_some_and(Mode::shows_host) {
                let directory = real.is_dir();
                self.found.push(Mask { path: real, directory, id: None });
            }
        }
    }
}

fn is_skipped(name: &[u8]) -> bool {
    SKIPPED.iter().any(|(skipped, _)| skipped.as_bytes() == name)
}

fn failed(path: &Path, errno: Errno) -> Conflict {
    Conflict::NotLookedThrough(path.to_owned(), errno.into())
}

fn open(parent: Option<&OwnedFd>, name: &std::ffi::CStr) -> Result<Arc<OwnedFd>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match parent {
        Some(parent) => rustix::fs::openat(parent, name, flags, Bits::empty()),
        None => rustix::fs::openat(CWD, name, flags, Bits::empty()),
    };
    opened.map(Arc::new)
}

/// What an entry is, asked for where the file system does not say it in its list.
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
