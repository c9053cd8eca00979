//! One difference between a directory and what a command made of it.

use std::path::{Path, PathBuf};

use policy::ProtectedName;
use rustix::fs::FileType;

use git::Look;

/// One difference. A directory and each thing in it are differences of their own.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which of the overlay's views it is in.
    pub view: usize,
    /// Path in it. Empty for the directory itself.
    pub path: PathBuf,
    /// Entry outside.
    pub before: Option<Node>,
    /// Entry in the overlay.
    pub after: Option<Node>,
    /// True if the content differs, and not only the mode.
    pub content: bool,
    /// The protected name that it is or lies in.
    pub protected: Option<&'static ProtectedName>,
    /// True if it was changed outside too, since the command began.
    pub outside: bool,
    /// Why it can be looked at and not be applied.
    pub cannot: Option<&'static str>,
    /// Which object stands there outside, to know it again.
    pub(crate) seen: Option<Seen>,
}

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Kind of entry.
    pub kind: Kind,
    /// Permission bits, nine of them.
    pub mode: u32,
    /// Length in bytes.
    pub size: u64,
}

/// Kind of a directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link, and what it says.
    Link(PathBuf),
    /// A pipe, a socket or a device.
    Special,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link(_) => "link",
            Self::Special => "special",
        }
    }
}

/// Operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It was not there before.
    Added,
    /// It is different.
    Changed,
    /// It is not there any more.
    Removed,
}

impl Verb {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl Change {
    /// Returns the operation.
    #[must_use]
    pub const fn verb(&self) -> Verb {
        match (&self.before, &self.after) {
            (None, _) => Verb::Added,
            (Some(_), None) => Verb::Removed,
            (Some(_), Some(_)) => Verb::Changed,
        }
    }

    /// Returns true if it is at a path or beneath it.
    #[must_use]
    pub fn is_beneath(&self, path: &Path) -> bool {
        self.path.starts_with(path)
    }

    /// Returns true if it belongs to an unfinished git operation: a rebase, a series of picks, patches to
    /// apply.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        let name = self.protected.and_then(|row| row.name.strip_prefix(".git/"));
        name.is_some_and(|name| policy::UNFINISHED.contains(&name))
    }

    /// Returns true if what is beneath it cannot be there without it: a directory where there was none.
    #[must_use]
    pub fn carries(&self) -> bool {
        let directory = |node: &Option<Node>| node.as_ref().is_some_and(|node| node.kind == Kind::Directory);
        directory(&self.after) && !directory(&self.before)
    }
}

/// Which object stood at a name, and in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    id: (u64, u64),
    kind: FileType,
    size: u64,
    modified: crate::manifest::Moment,
}

impl Seen {
    /// A directory changes with what is in it, and stays the same.
    pub(crate) fn of(look: &Look) -> Self {
        let directory = look.kind() == FileType::Directory;
        let modified = crate::manifest::Moment { seconds: 0, nanoseconds: 0 };
        Self {
            id: look.id(),
            kind: look.kind(),
            size: if directory { 0 } else { look.size() },
            modified: if directory { modified } else { look.modified() },
        }
    }
}
