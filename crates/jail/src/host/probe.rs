//! Features that this machine can enforce, measured by doing.
//!
//! [`Machine::measure`] asks everything. It reads files beneath a root that the caller names, so that recorded machines
//! can be examined like this one, and starts one process that tries namespaces for real ([`namespaces_here`]).

mod errno;
mod facts;
mod namespaces;
mod object;
mod powers;

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::sys;

pub use errno::Errno;
pub use facts::{AppArmor, Confined, ContainerKind, DetectedContainer, HostFacts, Selinux};
pub use namespaces::{Malformed, Namespaces, Outcome, Step};
pub use object::{Kind, Object};
pub use powers::{Actions, Bwrap, Cgroup, Distrust, Hierarchy, Landlock};

/// Everything measured about one machine, as one user, at one moment.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The effective user the measurements hold for.
    pub uid: u32,
    /// Facts read from files.
    pub facts: HostFacts,
    /// Which Landlock the kernel offers to us.
    pub landlock: Landlock,
    /// Extent to which namespaces work.
    pub namespaces: Result<Namespaces, Unmeasured>,
    /// Which seccomp actions the kernel offers to us.
    pub actions: Actions,
    /// Cgroup in which resource limits for a whole tree could be set.
    pub cgroup: Cgroup,
    /// The bubblewrap that could be used.
    pub bwrap: Bwrap,
}

impl Machine {
    /// Measures the machine whose files lie beneath `root`.
    ///
    /// `probe` starts a fresh process that prints [`namespaces_here`] and nothing else.
    #[must_use]
    pub fn measure(root: &Path, probe: Command) -> Self {
        Self {
            uid: sys::uid(),
            facts: sys::host_facts(root),
            landlock: sys::landlock(),
            namespaces: namespaces(probe, LIMIT),
            actions: sys::actions(),
            cgroup: sys::cgroup(root),
            bwrap: sys::bubblewrap(root, LIMIT),
        }
    }
}

/// Reason why something was not measured. Decisions read it as "not there".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmeasured {
    /// There is no probe for this operating system.
    #[error("not measured on this operating system")]
    OtherSystem,
    /// The process could not be started.
    #[error("the probe could not be started: {0}")]
    NotStarted(Errno),
    /// The process could not be listened to, or not ended.
    #[error("the probe could not be followed: {0}")]
    NotFollowed(Errno),
    /// The process took too long and was killed.
    #[error("the probe gave no answer in time")]
    TimedOut,
    /// The process ended badly.
    #[error("the probe ended with {0}")]
    Ended(ExitStatus),
    /// The process said more than an answer.
    #[error("the probe wrote too much output")]
    TooMuch,
    /// The answer was not one of ours.
    #[error("the probe's output has an unknown format")]
    Malformed,
    /// Namespaces were to be tried in a process that other threads share.
    #[error("the probe needs a process of its own, this one has {0} threads")]
    NotAlone(usize),
}

/// Tries namespaces in the calling process, which cannot be used for anything else afterwards.
///
/// **Irreversible.** On success the process sits in new namespaces, mapped to one user, with a fresh `tmpfs` over its
/// root. Call it in a process started for this, with one thread, that prints the answer and ends. A process with more
/// threads is left as it is: [`Unmeasured::NotAlone`].
pub fn namespaces_here() -> Result<Namespaces, Unmeasured> {
    sys::namespaces_here()
}

/// Starts `probe`, waits for its answer no longer than `limit`, and leaves no process behind.
///
/// The answer is one line as [`Namespaces`] displays itself. Anything else counts as no answer.
pub fn namespaces(probe: Command, limit: Duration) -> Result<Namespaces, Unmeasured> {
    let answer = sys::run_bounded(probe, limit)?;
    let line = str::from_utf8(&answer).map_err(|_| Unmeasured::Malformed)?;
    line.parse().map_err(|Malformed| Unmeasured::Malformed)
}

/// Returns the object at `path`, looked at through a handle; a link is not followed.
pub fn object(path: &Path) -> Result<Object, Errno> {
    sys::object(path)
}

/// Maximum time of a probe. An idle machine answers in milliseconds.
const LIMIT: Duration = Duration::from_secs(5);
