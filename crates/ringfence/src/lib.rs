//! The facade: a sandbox, and the sessions of agents in it. What an embedder uses.
//!
//! Everything is passed in ([`Parts`]); nothing is read from the environment and nothing is global.

mod command;
pub mod job;
mod sandbox;
mod session;

pub use {audit, guard, jail, policy, shell, source};

pub use command::{NotStarted, Task};
pub use sandbox::{Parts, Sandbox, SandboxError};
pub use session::Session;
