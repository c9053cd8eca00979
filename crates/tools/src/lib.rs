//! What an agent calls. Every tool goes through the guard of its name, takes JSON, and returns text for a model and data for a program.

mod error;
mod exec;
mod process;
mod tool;
mod toolbox;
pub mod web;
mod web_fetch;

pub use error::{ErrorKind, ToolError};
pub use exec::{Exec, ExecParameters};
pub use process::{Action, Process, ProcessParameters, StreamName};
pub use tool::{Call, Output, Tool, Typed};
pub use toolbox::Toolbox;
pub use web_fetch::{WebFetch, WebFetchParameters};

/// Every tool there is.
fn all() -> Vec<Box<dyn Tool>> {
    vec![Box::new(Exec), Box::new(Process), Box::new(WebFetch::default())]
}
