//! A sandbox for AI agents: one policy, kernel enforcement, a record of every decision.
//!
//! ```no_run
//! use ringfence::{Preset, Sandbox};
//!
//! let sandbox = Sandbox::builder()
//!     .preset(Preset::Workspace)
//!     .workspace(".")
//!     .state("/var/lib/my-agent")
//!     .environment(std::env::vars_os())
//!     .build()?;
//! let ran = sandbox.session("my-agent")?.run("cargo test")?;
//! println!("{} (exit code {})", ran.output, ran.code);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Sandbox::builder`] takes everything that a sandbox needs; nothing is read from the environment and nothing is global. The tools
//! that a model calls are in the crate `ringfence-tools`.
//!
//! | Feature | Brings |
//! |---|---|
//! | `git-history` | git may bring back at a protected name what was committed there before the command started. On by default |
//! | `policy-file` | [`SandboxBuilder::policy_file`], the crate [`config`], and [`run`] |
//! | `skill` | [`Session::load_skill`] and the crate [`skill`] |
//! | `html` | `source::readable`: readable text of pages |
//! | `tokio` | `ringfence::future`: commands as futures, streams of output, approvers that await |
//!
//! Without features it needs 42 packages and no TLS: `ringfence = { version = "0.1", default-features = false }`.
//!
//! **Invariant.** The chain decides if a request is allowed, the spec confines it. No answer of the chain changes the spec.
//! **Invariant.** Nothing outlives its session.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod approved;
mod builder;
mod command;
mod declared;
mod denied;
#[cfg(feature = "policy-file")]
mod egress;
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub mod future;
mod jailed;
pub mod job;
pub mod journal;
#[cfg(feature = "policy-file")]
#[cfg_attr(docsrs, doc(cfg(feature = "policy-file")))]
pub mod learn;
#[cfg(feature = "policy-file")]
mod policy_file;
mod preset;
#[cfg(feature = "policy-file")]
#[cfg_attr(docsrs, doc(cfg(feature = "policy-file")))]
pub mod run;
mod sandbox;
mod session;
#[cfg(feature = "skill")]
pub mod skill_files;
#[cfg(feature = "skill")]
mod skills;
mod sys;

#[cfg(feature = "policy-file")]
pub use config;
pub use guard::{Abort, Answer, Approver, Question};
#[cfg(feature = "skill")]
pub use skill;
pub use {audit, guard, jail, policy, shell, source};

pub use builder::{BuildError, Preset, SandboxBuilder};
pub use command::{AdmittedTask, CommandResult, NotStarted, Task};
pub use sandbox::{Sandbox, SessionError};
pub use session::Session;
#[cfg(feature = "skill")]
pub use skills::SkillRefused;
