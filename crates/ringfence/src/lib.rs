//! The facade: a sandbox, and the sessions of agents in it. What an embedder uses.
//!
//! ```no_run
//! use std::path::Path;
//! use ringfence::{Parts, in_sandbox};
//!
//! let parts = Parts::for_workspace(Path::new("."), Path::new("/var/lib/my-agent"), std::env::vars_os())?;
//! let ran = in_sandbox(parts, "my-agent", |session| session.run("cargo test"))??;
//! println!("{} (exit code {})", ran.output, ran.code);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything is passed in ([`Parts`]); nothing is read from the environment and nothing is global.
//!
//! **Invariant.** Whether and where are separate: the chain says whether something happens, the spec where. No answer of the
//! chain changes the spec.
//! **Invariant.** Nothing outlives its session.

mod approved;
mod command;
mod declared;
pub mod job;
mod preset;
mod sandbox;
mod session;
pub mod skill_files;
mod skills;
mod sys;

pub use {audit, guard, jail, policy, shell, skill, source};

pub use command::{AdmittedTask, NotStarted, Ran, Task};
pub use preset::PresetError;
pub use sandbox::{Parts, Sandbox, SandboxError, in_sandbox};
pub use session::Session;
pub use skills::SkillRefused;
