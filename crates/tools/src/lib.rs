//! What an agent calls. Every tool goes through the guard of its name, takes JSON, and returns text for a model and data for a program.

mod content;
#[cfg(test)]
mod desk;
mod diff;
mod edit;
mod error;
pub mod patch;
mod read;
mod rows;
mod tool;
mod write;

pub use edit::{Edit, EditParameters, Replacement};
pub use error::{ErrorKind, ToolError};
pub use patch::{ApplyPatch, PatchParameters};
pub use read::{Read, ReadParameters};
pub use tool::{Call, Output, Tool, Typed};
pub use write::{Write, WriteParameters};
