//! What an agent calls. Every tool goes through the guard of its name, takes JSON, and returns text for a model and data for a program.

mod error;
mod exec;
mod process;
mod tool;
pub mod web;

pub use error::{ErrorKind, ToolError};
pub use exec::{Exec, ExecParameters};
pub use process::{Action, Process, ProcessParameters, StreamName};
pub use tool::{Call, Output, Tool, Typed};
