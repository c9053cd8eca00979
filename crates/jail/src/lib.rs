//! Kernel enforcement around a process tree. The only room with `unsafe` code.
//!
//! A [`Spec`] (data) becomes a [`plan`] (pure) and then a process that is held, released and followed ([`hold`]). [`probe`] says
//! what this machine can enforce.
//!
//! **Invariant.** Support is measured by doing, never read off a version: distributions carry features backwards,
//! containers and administrators take them away. What files say ([`probe::Signs`]) explains a measurement and
//! never replaces one.
//!
//! **Invariant.** `sys` is the only module that names an operating system, and the only one with `unsafe`: raw calls. So is
//! `init/`, the program that becomes the first process of a jail.
//!
//! **Invariant.** Measuring creates nothing and changes nothing on the host: no file, no mount, no setting. What has to
//! change its own process to find out ([`probe::namespaces_here`]) runs in a process that ends with the answer.

pub mod bridge;
mod commit_record;
mod enforcement;
pub mod environment;
mod git_history;
mod git_state;
mod kept;
mod launch;
mod masked;
pub mod plan;
pub mod probe;
mod relay;
mod repository;
mod resources;
pub mod seccomp;
mod spec;
mod sys;
pub mod toolchain;
mod uses;

pub use commit_record::CommitRecord;
pub use enforcement::{Enforcement, Layer, Level, Reached, Require};
#[doc(hidden)]
pub use git_history::read_as_git_objects;
#[doc(hidden)]
pub use git_state::read_as_git_index;
#[doc(hidden)]
pub use relay::filter_for_terminal;
pub use git_history::{ObjectId, ObjectIdError};
pub use git_state::{GitStateSnapshot, RemovedInstruction};
pub use launch::{
    Capture, Captured, Choice, Command, Denial, Early, End, Held, JailError, Outcome, ProtectedCommit,
    ProtectedWrite, Provider, Running, Stop, Stream, Streams, Tee, WriteResult, hold, is_typed,
    restore_terminal, sight,
};
pub use repository::{Repository, Unclaimed, repository};
pub use resources::{Amount, Limit, Overrun};
pub use spec::{Kept, Mode, Network, Spec, View, mode_at};
pub use uses::{Use, Uses};
