//! The tree of a jail as steps, in the order in which they are performed.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::plan::{Keeps, Kind, Mount, Skeleton};

/// The place of a mount that was made before among the descriptors that come with a script.
pub(crate) type Slot = usize;

/// Options of a private file system.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) size: CString,
    pub(crate) inodes: CString,
}

/// One step of building the tree. Paths are relative to the new root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Directory { path: CString, mode: u32 },
    Link { path: CString, to: CString },
    File { path: CString, text: Vec<u8>, mode: u32 },
    Bind { from: CString, path: CString, attributes: u64, id: (u64, u64) },
    Ready { mount: Slot, path: CString },
    Layer { lower: Source, changes: Changes, path: CString },
    Device { from: CString, path: CString },
    Scratch { path: CString },
    Fresh { path: CString },
    Empty { path: CString, of: CString },
    Content { path: CString, bytes: Arc<[u8]> },
    Processes { path: CString },
    Terminals { path: CString },
    Lock { path: CString },
}

/// A directory of the host, for a layer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// One that was mounted before.
    Ready(Slot),
    /// One that has to be this object still.
    Named { from: CString, id: (u64, u64) },
}

/// Destination of the changes of a layer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// To a directory of the host.
    Kept(Source),
    /// To a directory of this name in the jail's private space, where nothing leads to it; it has the mode of what is below.
    Private { name: CString, mode: u32 },
}

impl Step {
    pub(crate) fn path(&self) -> &CString {
        match self {
            Self::Directory { path, .. }
            | Self::Link { path, .. }
            | Self::File { path, .. }
            | Self::Bind { path, .. }
            | Self::Ready { path, .. }
            | Self::Layer { path, .. }
            | Self::Device { path, .. }
            | Self::Scratch { path }
            | Self::Fresh { path }
            | Self::Empty { path, .. }
            | Self::Content { path, .. }
            | Self::Processes { path }
            | Self::Terminals { path }
            | Self::Lock { path } => path,
        }
    }
}

/// By its path: there are few steps for one path, and the texts of files are long.
impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path().hash(state);
    }
}

/// An empty file and an empty directory that masks are made of; their names are gone before the command starts.
pub(crate) const BLANK: &CStr = c".blank";
pub(crate) const VOID: &CStr = c".void";
/// A file with given bytes, before it is mounted; its name is gone at once.
pub(crate) const CONTENT: &CStr = c".content";
/// The same as the first two, and they cannot be opened.
pub(crate) const MASK_FILE: &CStr = c".mask-file";
pub(crate) const MASK_DIRECTORY: &CStr = c".mask-directory";

/// Objects that were prepared outside for the steps of a tree.
#[derive(Default)]
pub(crate) struct Prepared<'a> {
    /// Mounts that were made before, with their paths.
    pub(crate) ready: Vec<(PathBuf, Slot)>,
    /// Directories in which the changes of layers stay.
    pub(crate) kept: &'a [Keeps],
    /// Bytes of the contents.
    pub(crate) contents: &'a [Arc<[u8]>],
}

/// The steps that make a tree.
pub(crate) fn steps(
    skeleton: &[(PathBuf, Skeleton)],
    mounts: &[Mount],
    prepared: &Prepared<'_>,
) -> Vec<Step> {
    let top = |name: &CStr| Path::new("/").join(OsStr::from_bytes(name.to_bytes()));
    let scaffold =
        [(top(BLANK), Skeleton::File(Vec::new())), (top(VOID), Skeleton::Directory(0o555))].into_iter();
    let mut steps: Vec<_> = scaffold.chain(skeleton.iter().cloned()).map(made).collect();
    if mounts.iter().any(|mount| matches!(mount.kind, Kind::Mask { .. })) {
        steps.push(Step::File { path: MASK_FILE.to_owned(), text: Vec::new(), mode: 0 });
        steps.push(Step::Directory { path: MASK_DIRECTORY.to_owned(), mode: 0 });
    }
    for mount in mounts {
        steps.extend(mount.makes.iter().cloned().map(made));
        steps.push(mounted(mount, mounts, prepared));
    }
    let hollow = mounts.iter().filter(|mount| match mount.kind {
        Kind::Parent => true,
        Kind::Void => holds_others(mount, mounts),
        _ => false,
    });
    steps.extend(hollow.map(|mount| Step::Lock { path: inside(&mount.path) }));
    steps
}

/// Returns what is left to do of `whole` when `done` is done; `None` when something was done that does not belong to it.
pub(crate) fn rest(whole: Vec<Step>, done: &[Step]) -> Option<Vec<Step>> {
    let mut done: HashSet<&Step> = done.iter().collect();
    let rest = whole.into_iter().filter(|step| !done.remove(step)).collect();
    done.is_empty().then_some(rest)
}

pub(crate) fn made((path, thing): (PathBuf, Skeleton)) -> Step {
    let path = inside(&path);
    match thing {
        Skeleton::Directory(mode) => Step::Directory { path, mode },
        Skeleton::Link(to) => Step::Link { path, to: text(to.as_os_str()) },
        Skeleton::File(text) => Step::File { path, text, mode: 0o644 },
    }
}

fn mounted(mount: &Mount, all: &[Mount], prepared: &Prepared<'_>) -> Step {
    let (path, from) = (inside(&mount.path), text(mount.path.as_os_str()));
    match mount.kind {
        Kind::Layered { id } => layered(mount, id, all, prepared),
        Kind::Bind { write, id, .. } => match prepared.slot(&mount.path) {
            Some(mount) => Step::Ready { mount, path },
            None => Step::Bind { from, path, attributes: attributes(write), id },
        },
        Kind::Device => Step::Device { from, path },
        // If the root has the directory, it is part of the one private file system and shares its size.
        Kind::Scratch if !mount.makes.is_empty() => Step::Scratch { path },
        Kind::Scratch => Step::Fresh { path },
        // It lies in private space, where everything is made.
        Kind::Parent => Step::Scratch { path },
        Kind::Void if holds_others(mount, all) => Step::Fresh { path },
        Kind::Void => Step::Empty { path, of: VOID.to_owned() },
        Kind::Blank => Step::Empty { path, of: BLANK.to_owned() },
        Kind::Content { number } => {
            let bytes = prepared.contents.get(number).cloned().unwrap_or_default();
            Step::Content { path, bytes }
        }
        Kind::Mask { directory } => {
            let of = if directory { MASK_DIRECTORY } else { MASK_FILE };
            Step::Empty { path, of: of.to_owned() }
        }
        Kind::Processes => Step::Processes { path },
        Kind::Terminals => Step::Terminals { path },
    }
}

fn layered(mount: &Mount, id: (u64, u64), all: &[Mount], prepared: &Prepared<'_>) -> Step {
    let kept = prepared.kept.iter().find(|kept| kept.path == mount.path);
    let number = all.iter().position(|other| other.path == mount.path).unwrap_or_default();
    let mode = rustix::fs::lstat(&mount.path).map_or(0o755, |found| found.st_mode);
    let private = || Changes::Private { name: text(number.to_string().as_ref()), mode };
    let changes = kept.map_or_else(private, |kept| Changes::Kept(prepared.source(&kept.directory, kept.id)));
    Step::Layer { lower: prepared.source(&mount.path, id), changes, path: inside(&mount.path) }
}

impl Prepared<'_> {
    fn slot(&self, path: &Path) -> Option<Slot> {
        self.ready.iter().find(|(ready, _)| ready == path).map(|(_, slot)| *slot)
    }

    fn source(&self, path: &Path, id: (u64, u64)) -> Source {
        let named = || Source::Named { from: text(path.as_os_str()), id };
        self.slot(path).map_or_else(named, Source::Ready)
    }
}

fn holds_others(mount: &Mount, all: &[Mount]) -> bool {
    all.iter().any(|other| other.path != mount.path && other.path.starts_with(&mount.path))
}

/// Attributes that limit the use of a view of the host, no matter what it is on the host.
pub(crate) fn attributes(write: bool) -> u64 {
    let read_only = if write { 0 } else { libc::MOUNT_ATTR_RDONLY };
    read_only | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV
}

/// An absolute path, relative to the root.
pub(crate) fn inside(path: &Path) -> CString {
    text(path.strip_prefix("/").unwrap_or(path).as_os_str())
}

/// A text for the kernel. A zero byte cannot be in a path or argument that was checked; if it is, the text ends there.
pub(crate) fn text(text: &OsStr) -> CString {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
