//! What an agent calls. Every tool goes through the guard of its name, takes JSON, and returns text for a model and data for a program.

mod error;
mod exec;
mod find;
mod grep;
mod listing;
mod ls;
mod process;
mod tool;
mod walk;

pub use error::{ErrorKind, ToolError};
pub use exec::{Exec, ExecParameters};
pub use find::{Find, FindParameters, Kind, Order};
pub use grep::{Case, Grep, GrepParameters, Mode};
pub use listing::Several;
pub use ls::{Ls, LsParameters};
pub use process::{Action, Process, ProcessParameters, StreamName};
pub use tool::{Call, Output, Tool, Typed};
