//! Tools for agents. Every tool goes through the guard of its name, takes JSON, and returns text for a model and data for a
//! program.

mod canonical;
mod content;
#[cfg(test)]
mod desk;
mod diff;
mod edit;
mod error;
mod exec;
mod find;
mod grep;
mod listing;
mod ls;
pub mod patch;
mod process;
mod read;
mod reply;
mod rows;
mod schema;
mod tool;
mod toolbox;
mod walk;
pub mod web;
mod web_fetch;
mod write;

pub use canonical::Variables;
pub use edit::{Edit, EditParameters, Replacement};
pub use error::{ErrorKind, ToolError};
pub use exec::{Exec, ExecParameters};
pub use find::{Find, FindParameters, Kind, Order};
pub use grep::{Case, Grep, GrepParameters, Mode};
pub use listing::Several;
pub use ls::{Ls, LsParameters};
pub use patch::{ApplyPatch, PatchParameters};
pub use process::{Action, Process, ProcessParameters, StreamName};
pub use read::{Read, ReadParameters};
pub use reply::Reply;
pub use schema::SchemaForm;
pub use tool::{Admitted, Call, Extent, Output, Prepared, Tool, Typed};
pub use toolbox::Toolbox;
pub use web_fetch::{WebFetch, WebFetchParameters};
pub use write::{Write, WriteParameters};

/// Every tool there is.
fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(Read),
        Box::new(Write),
        Box::new(Edit),
        Box::new(ApplyPatch),
        Box::new(Grep),
        Box::new(Find),
        Box::new(Ls),
        Box::new(Exec),
        Box::new(Process),
        Box::new(WebFetch::default()),
    ]
}
