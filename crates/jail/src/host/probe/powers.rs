//! Results of the features that were tried on the kernel.

use std::path::PathBuf;

use super::{Errno, Unmeasured};

/// Answer of the kernel when asked for its Landlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landlock {
    /// Usable, with this version of its interface.
    Abi(u32),
    /// The call does not exist: not built in, too old, or another kernel's imitation.
    NotBuilt,
    /// Built in, but not among the active security modules.
    NotActive,
    /// The call exists and something forbids it to us, such as a container's seccomp filter.
    Blocked,
    /// Another answer.
    Failed(Errno),
    /// Not asked: not on this operating system.
    OtherSystem,
}

impl Landlock {
    /// The version of the interface; 0 where there is none.
    #[must_use]
    pub fn abi(self) -> u32 {
        match self {
            Self::Abi(abi) => abi,
            Self::NotBuilt | Self::NotActive | Self::Blocked | Self::Failed(_) | Self::OtherSystem => 0,
        }
    }
}

/// Which seccomp actions the kernel says it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actions {
    /// End the whole process.
    pub kill_process: Result<(), Errno>,
    /// Refuse the call with an error number.
    pub errno: Result<(), Errno>,
    /// Let a supervisor decide.
    pub notify: Result<(), Errno>,
}

impl Actions {
    /// Returns true if a filter can refuse and can kill.
    #[must_use]
    pub fn can_filter(&self) -> bool {
        self.kill_process.is_ok() && self.errno.is_ok()
    }
}

/// Which cgroups are mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hierarchy {
    /// None.
    None,
    /// Only the old ones, one tree per controller.
    V1,
    /// Both: controllers in the old trees, a unified tree beside them.
    Hybrid,
    /// Only the unified tree.
    V2,
}

/// Cgroup in which resource limits for a whole tree of processes could be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    /// Which trees are mounted.
    pub hierarchy: Hierarchy,
    /// Why a jail with the limits of the built-in policy has no cgroups of its own; `None` if it has. The function that
    /// makes them says so.
    pub missing: Option<String>,
}

/// The bubblewrap found at the few places where it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bwrap {
    /// Nowhere.
    Absent,
    /// There is one, and it was not started.
    Untrusted {
        /// Path of the program.
        path: PathBuf,
        /// Why not.
        why: Distrust,
    },
    /// It was started and did not introduce itself.
    Silent {
        /// Path of the program.
        path: PathBuf,
        /// Error that occurred instead.
        why: Unmeasured,
    },
    /// It introduced itself.
    Found {
        /// Path of the program.
        path: PathBuf,
        /// As it says.
        version: String,
        /// True if it runs with its owner's rights.
        setuid: bool,
        /// Ok if it made a small jail when asked to.
        works: Result<(), Unmeasured>,
    },
}

/// Why a program is not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// It is a link, a directory or a device.
    #[error("not a regular file")]
    NotAFile,
    /// A user other than root owns it or a directory above it.
    #[error("it, or a directory above it, belongs to user {0} and not to root")]
    Owner(u32),
    /// Others can replace or change it.
    #[error("others can write to it or to a directory above it")]
    Writable,
    /// It could not be looked at.
    #[error("cannot be looked at: {0}")]
    Unreadable(Errno),
}
