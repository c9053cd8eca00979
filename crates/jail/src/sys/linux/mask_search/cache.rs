//! Results of the last look, for directories that have not changed since.
//!
//! A directory is the same if its device, its inode and the time of its last change are: every name that comes or goes changes that time,
//! and no program can set it. Times have a grain, so a directory that had changed shortly before it was listed is listed again.
//!
//! The files lie where no jail sees them. One that cannot be read, or was written for something else, is none.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use policy::floor::Forbidden;
use rustix::fs::{AtFlags, StatxFlags};

use super::{Directory, EntryKind, Listed};
use crate::spec::Spec;

/// The form of the files, and the rules of the look.
const VERSION: &[u8] = b"ringfence look 1\n";
/// A time of change this near to now, in seconds, may come again.
const GRAIN: i64 = 2;
/// Larger trees are not remembered.
const MOST_BYTES: usize = 64 << 20;
/// With more files than this, old ones are removed.
const MOST_FILES: usize = 256;
/// So many directories are worth another thread.
const MANY: usize = 512;

/// Identity of a directory, and the time of its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    seconds: i64,
    nanoseconds: u32,
}

const WANTED: StatxFlags = StatxFlags::INO.union(StatxFlags::CTIME);

impl Stamp {
    /// The stamp of an open directory.
    pub(super) fn of(directory: &OwnedFd) -> Option<Self> {
        Self::new(rustix::fs::statx(directory, c"", AtFlags::EMPTY_PATH, WANTED).ok()?)
    }

    /// The stamp of what is at a path.
    pub(super) fn at(top: &OwnedFd, below: &CStr) -> Option<Self> {
        Self::new(rustix::fs::statx(top, below, AtFlags::SYMLINK_NOFOLLOW, WANTED).ok()?)
    }

    fn new(found: rustix::fs::Statx) -> Option<Self> {
        let known = StatxFlags::from_bits_retain(found.stx_mask).contains(WANTED);
        let device = u64::from(found.stx_dev_major) << 32 | u64::from(found.stx_dev_minor);
        let (seconds, nanoseconds) = (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec);
        known.then_some(Self { device, inode: found.stx_ino, seconds, nanoseconds })
    }

    fn bytes(self) -> [u8; 28] {
        let mut bytes = [0; 28];
        bytes[..8].copy_from_slice(&self.device.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.inode.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.seconds.to_le_bytes());
        bytes[24..].copy_from_slice(&self.nanoseconds.to_le_bytes());
        bytes
    }
}

/// File that remembers the last look at a view.
pub(super) struct Cache {
    file: PathBuf,
    /// Bytes that the file has to begin with: everything that the result depends on but the directories.
    head: Vec<u8>,
}

impl Cache {
    pub(super) fn of(directory: &Path, spec: &Spec, forbidden: &Forbidden, top: &Path) -> Self {
        let mut head = VERSION.to_vec();
        let user = rustix::process::geteuid().as_raw().to_le_bytes();
        let views = spec.views.iter().map(|view| view.path.as_os_str().as_bytes());
        let parts =
            [&user[..], top.as_os_str().as_bytes(), spec.workspace.as_os_str().as_bytes(), forbidden.text()];
        for part in parts.into_iter().chain(views) {
            head.extend(part.len().to_le_bytes());
            head.extend(part);
        }
        head.extend(usize::MAX.to_le_bytes());
        let name = format!("{:016x}", hash(top.as_os_str().as_bytes()));
        Self { file: directory.join(name), head }
    }

    pub(super) fn read(&self) -> Known {
        let bytes = fs::read(&self.file).unwrap_or_default();
        let body = bytes.strip_prefix(&*self.head).map_or(bytes.len(), |body| bytes.len() - body.len());
        let mut known = Known { bytes, nodes: Vec::new(), same: Vec::new() };
        // A record that ends in the middle counts as nothing.
        known.nodes = known.parse(body).unwrap_or_default();
        known
    }

    pub(super) fn begin(&self) -> Written {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0));
        Written { bytes: self.head.clone(), trusted: now - GRAIN, directories: 1 }
    }

    pub(super) fn save(&self, written: &Written) -> std::io::Result<()> {
        let Some(directory) = self.file.parent().filter(|_| written.bytes.len() <= MOST_BYTES) else {
            return Ok(());
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        let files: Vec<_> = fs::read_dir(directory)?.filter_map(Result::ok).filter(is_file).collect();
        if files.len() > MOST_FILES {
            files.iter().try_for_each(|file| fs::remove_file(file.path()))?;
        }
        let new = self.file.with_extension(std::process::id().to_string());
        let written = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).and_then(
            |mut file| {
                file.write_all(&written.bytes)?;
                fs::rename(&new, &self.file)
            },
        );
        if written.is_err() {
            fs::remove_file(&new)?;
        }
        written
    }
}

/// A name for a path that is the same in every version.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Record that is written for the next look: directories with their stamps, those of one directory in a row.
pub(super) struct Written {
    bytes: Vec<u8>,
    /// The latest time of change that cannot come again.
    trusted: i64,
    /// Number of directories, with those that are still to come.
    directories: u32,
}

impl Written {
    pub(super) fn add(&mut self, below: &CStr, listed: &Listed) {
        let none = Stamp { device: 0, inode: 0, seconds: i64::MIN, nanoseconds: 0 };
        let stamp = listed.stamp.filter(|stamp| stamp.seconds < self.trusted).unwrap_or(none);
        self.bytes.extend(stamp.bytes());
        self.name(below);
        let children = u32::try_from(listed.children.len()).unwrap_or(u32::MAX);
        self.bytes.extend(self.directories.to_le_bytes());
        self.bytes.extend(children.to_le_bytes());
        self.directories = self.directories.saturating_add(children);
        let itself = listed.closed.then(|| (CString::default(), EntryKind::Directory));
        let found: Vec<_> = listed.found.iter().chain(&itself).collect();
        self.bytes.extend(u32::try_from(found.len()).unwrap_or(u32::MAX).to_le_bytes());
        for (name, kind) in found {
            self.bytes.push(match kind {
                EntryKind::File => 0,
                EntryKind::Directory => 1,
                EntryKind::Link => 2,
            });
            self.name(name);
        }
    }

    fn name(&mut self, name: &CStr) {
        self.bytes.extend(u32::try_from(name.count_bytes()).unwrap_or(u32::MAX).to_le_bytes());
        self.bytes.extend(name.to_bytes_with_nul());
    }
}

/// Record that is known from the last look.
#[derive(Default)]
pub(super) struct Known {
    bytes: Vec<u8>,
    nodes: Vec<Node>,
    /// True for each directory that has not changed.
    same: Vec<bool>,
}

/// A directory of the last look, by places in the bytes.
struct Node {
    stamp: [u8; 28],
    below: (usize, usize),
    children: (usize, usize),
    found: (usize, usize),
}

impl Known {
    fn parse(&self, mut at: usize) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        while at < self.bytes.len() {
            let stamp = self.bytes.get(at..at + 28)?.try_into().ok()?;
            let below = self.name(at + 28)?;
            let children = (self.number(below.1)?, self.number(below.1 + 4)?);
            let count = self.number(below.1 + 8)?;
            let first = below.1 + 12;
            at = first;
            for _ in 0..count {
                at = self.name(at + 1)?.1;
            }
            nodes.push(Node { stamp, below, children, found: (first, at) });
        }
        let length = nodes.len();
        let fits = |&(first, count): &(usize, usize)| count == 0 || first.saturating_add(count) <= length;
        let whole = nodes.iter().all(|node| fits(&node.children));
        (whole && !nodes.is_empty()).then_some(nodes)
    }

    fn number(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    }

    /// Returns the offset at which a name begins, and the one at which it ends behind its zero.
    fn name(&self, at: usize) -> Option<(usize, usize)> {
        let (first, last) = (at + 4, (at + 4).checked_add(self.number(at)?)?.checked_add(1)?);
        CStr::from_bytes_with_nul(self.bytes.get(first..last)?).ok()?;
        Some((first, last))
    }

    fn text(&self, (first, last): (usize, usize)) -> &CStr {
        self.bytes.get(first..last).and_then(|bytes| CStr::from_bytes_with_nul(bytes).ok()).unwrap_or(c"")
    }

    /// Compares with what is there.
    pub(super) fn checked(mut self, top: &OwnedFd) -> Self {
        let is_same = |node: &Node| {
            Stamp::at(top, self.text(node.below)).is_some_and(|stamp| stamp.bytes() == node.stamp)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let part =
            if self.nodes.len() < MANY { self.nodes.len() } else { self.nodes.len().div_ceil(threads) };
        let same = std::thread::scope(|scope| {
            let mut parts = self.nodes.chunks(part.max(1));
            let first = parts.next().unwrap_or_default();
            let look = |part: &[Node]| part.iter().map(is_same).collect::<Vec<_>>();
            let others: Vec<_> = parts.map(|part| (part.len(), scope.spawn(move || look(part)))).collect();
            let mut same = look(first);
            for (length, other) in others {
                same.extend(other.join().unwrap_or_else(|_| vec![false; length]));
            }
            same
        });
        self.same = same;
        self
    }

    /// Returns true if nothing has changed.
    pub(super) fn is_all(&self) -> bool {
        !self.same.is_empty() && self.same.iter().all(|same| *same)
    }

    pub(super) fn top(&self) -> Option<usize> {
        (!self.nodes.is_empty()).then_some(0)
    }

    /// The place of a directory in another.
    pub(super) fn child(&self, parent: usize, below: &CStr) -> Option<usize> {
        let (first, count) = self.nodes.get(parent)?.children;
        let range = first..first.checked_add(count)?;
        let nodes = self.nodes.get(range)?;
        nodes.iter().position(|node| self.text(node.below) == below).map(|place| first + place)
    }

    /// Returns what the last look found in a directory, if it has not changed.
    pub(super) fn listed(&self, place: usize) -> Option<Listed> {
        let node = self.nodes.get(place).filter(|_| self.same[place])?;
        let (first, count) = node.children;
        let children = (first..first.checked_add(count)?).map(|known| {
            let below = self.text(self.nodes.get(known)?.below).to_owned();
            Some(Directory { below, known: Some(known), through: true })
        });
        let children = children.collect::<Option<Vec<_>>>()?;
        let mut listed = Listed { stamp: Some(stamp(&node.stamp)), children, ..Listed::default() };
        self.found(node, |name, kind| {
            if name.is_empty() {
                listed.closed = true;
            } else {
                listed.found.push((name.to_owned(), kind));
            }
        });
        Some(listed)
    }

    /// Calls `hit` with everything that was found: the directory, the name in it and its kind.
    pub(super) fn each(&self, mut hit: impl FnMut(&CStr, &CStr, EntryKind)) {
        for node in &self.nodes {
            self.found(node, |name, kind| hit(self.text(node.below), name, kind));
        }
    }

    fn found(&self, node: &Node, mut hit: impl FnMut(&CStr, EntryKind)) {
        let (mut at, end) = node.found;
        while at < end {
            let Some(name) = self.name(at + 1) else { return };
            let kind = match self.bytes[at] {
                0 => EntryKind::File,
                1 => EntryKind::Directory,
                _ => EntryKind::Link,
            };
            hit(self.text(name), kind);
            at = name.1;
        }
    }
}

fn stamp(bytes: &[u8; 28]) -> Stamp {
    let part = |at: usize| {
        let mut part = [0; 8];
        part.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(part)
    };
    let nanoseconds = u32::from_le_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]);
    Stamp { device: part(0), inode: part(8), seconds: part(16).cast_signed(), nanoseconds }
}
