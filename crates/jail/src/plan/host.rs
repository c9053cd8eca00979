//! Facts about the machine that a plan is built from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Facts about the machine that a plan is built from.
#[derive(Debug, Clone)]
pub struct Host {
    /// The caller's user and group.
    pub caller: Owner,
    /// The caller's name.
    pub user: String,
    /// True if the caller may run as another user and show files as another user's: root, with its capabilities.
    pub powerful: bool,
    /// Entries found at the paths that [`super::questions`] names. A path that is not here does not exist.
    pub entries: HashMap<PathBuf, Entry>,
    /// The texts of the files that [`super::copied`] names, as far as they can be read.
    pub texts: Vec<(PathBuf, Vec<u8>)>,
}

/// A user and a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

/// Type of the entry at a path. Links are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory, whose it is, and which one: device and inode.
    Directory(Owner, (u64, u64)),
    /// A file, whose it is, and which one.
    File(Owner, (u64, u64)),
    /// A symbolic link and where it leads.
    Link(PathBuf),
    /// A device, a socket or a FIFO, and which one.
    Other((u64, u64)),
}

impl Host {
    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.entries.contains_key(path)
    }
}

impl Entry {
    /// Which object it is.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        match self {
            Self::Directory(_, id) | Self::File(_, id) | Self::Other(id) => Some(*id),
            Self::Link(_) => None,
        }
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(..))
    }

    pub(crate) fn owner(&self) -> Option<Owner> {
        match self {
            Self::Directory(owner, _) | Self::File(owner, _) => Some(*owner),
            Self::Link(_) | Self::Other(_) => None,
        }
    }
}
