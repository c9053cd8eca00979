//! Kernel enforcement around a process tree. The only room with `unsafe` code.
//!
//! A [`Spec`] (data) becomes a [`plan`] (pure) and then a process that is held, released and followed ([`hold`]). [`probe`] says
//! what this machine can enforce.
//!
//! **Invariant.** Support is measured by doing, never read off a version: distributions carry features backwards,
//! containers and administrators take them away. What files say ([`probe::HostFacts`]) explains a measurement and
//! never replaces one.
//!
//! **Invariant.** `sys` is the only module that names an operating system, and the only one with `unsafe`: raw calls. So is
//! `init/`, the program that becomes the first process of a jail.
//!
//! **Invariant.** Measuring creates nothing and changes nothing on the host: no file, no mount, no setting. What has to
//! change its own process to find out ([`probe::namespaces_here`]) runs in a process that ends with the answer.

pub mod bridge;
mod enforcement;
mod git;
mod host;
mod launch;
mod masks;
pub mod plan;
mod protected_names;
mod resources;
pub mod seccomp;
mod spec;
mod sys;
mod terminal;
mod uses;

pub use enforcement::{Enforcement, Layer, Level, Reached, Require};
pub use git::commit_record::CommitRecord;
#[doc(hidden)]
pub use git::history::read_as_git_objects;
pub use git::history::{ObjectId, ObjectIdError};
pub use git::repository::{Repository, Unclaimed, repository};
#[doc(hidden)]
pub use git::state::read_as_git_index;
pub use git::state::{GitStateSnapshot, RemovedInstruction};
pub use host::{environment, probe, toolchain};
pub use launch::{
    Capture, Captured, Choice, Command, Denial, Early, End, Held, JailError, Outcome, ProtectedCommit,
    ProtectedWrite, Provider, Running, Stop, Stream, Streams, Tee, WriteResult, hold, is_typed,
    restore_terminal, sight,
};
pub use resources::{Amount, Limit, Overrun};
pub use spec::{Kept, Mode, Network, Spec, View, mode_at};
#[doc(hidden)]
pub use terminal::filter_for_terminal;
pub use uses::{Use, Uses};
