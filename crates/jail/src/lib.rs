//! Kernel enforcement around a process tree: the only crate with `unsafe` code.
//!
//! A [`Spec`] (data) becomes a [`plan`] (pure) and then a process that is held, released and followed ([`hold`]). [`probe`] measures
//! the enforcement that this machine offers.
//!
//! | Directory | Contents |
//! |---|---|
//! | `plan`, `seccomp`, `resources` | a spec in kernel terms: mounts, filters, limits |
//! | `host` | knowledge of the host: probe, environment, toolchains |
//! | `git` | repositories, read without git |
//! | `terminal` | the filter between a jailed program and the caller's terminal |
//! | `broker_network` | the network whose only way out is the broker |
//! | `bridge` | declared ports between two loopbacks |
//! | `sys/linux/provider`, `setup`, `init` | makes the jail |
//! | `sys/linux/supervise`, `limits`, `notify`, `terminal` | follows it to its end |
//! | `sys/linux/host`, `mask_search` | reads the machine |
//! | `sys/linux/calls` | raw system calls |
//!
//! **Invariant.** Support is measured by doing, never read off a version: distributions carry features backwards,
//! containers and administrators take them away. Files ([`probe::HostFacts`]) explain a measurement and never replace one.
//!
//! **Invariant.** `sys` is the only module that names an operating system, and the only one with `unsafe`: raw calls. So is
//! `init/`, the program that becomes the first process of a jail.
//!
//! **Invariant.** Measuring creates nothing and changes nothing on the host: no file, no mount, no setting. A measurement that
//! changes its own process ([`probe::namespaces_here`]) runs in a process that ends with the answer.

pub mod bridge;
pub mod broker_network;
mod enforcement;
mod git;
mod host;
mod launch;
mod masks;
pub mod plan;
mod protected_names;
mod question;
mod resources;
pub mod seccomp;
mod spec;
mod sys;
mod terminal;
mod uses;

pub use crate::git::commit_record::CommitRecord;
pub use crate::git::repository::{Repository, Unclaimed, repository};
#[doc(hidden)]
pub use crate::git::state::read_as_git_index;
pub use crate::git::state::{GitStateSnapshot, RemovedInstruction};
pub use ::git::{ObjectId, ObjectIdError};
pub use enforcement::{Enforcement, Layer, Level, Reached, Require};
pub use host::{environment, probe, toolchain};
pub use launch::{
    Capture, Captured, Choice, Command, Denial, Early, End, Held, JailError, Outcome, ProtectedCommit,
    ProtectedWrite, Provider, Running, Stop, Stream, Streams, Tee, WriteResult, hold, is_typed,
    restore_terminal, sight,
};
pub use question::Questions;
pub use resources::{Amount, Limit, Overrun};
pub use spec::{Content, Kept, Mode, Network, Spec, View, mode_at};
#[doc(hidden)]
pub use terminal::filter_for_terminal;
pub use uses::{Use, Uses};
