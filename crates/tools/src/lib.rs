//! The tools that an agent calls: `read`, `write`, `edit`, `apply_patch`, `grep`, `find`, `ls`, `exec`, `process`, `web_fetch`, and tools of the
//! caller.
//!
//! Every tool goes through the guard of its name, takes JSON, and returns text for a model and data for a program. [`Toolbox`] holds
//! the tools, [`Tool`] is the trait for one of your own.
//!
//! ```
//! use ringfence::guard::Abort;
//! use ringfence::{Preset, Sandbox};
//! use ringfence_tools::Toolbox;
//!
//! # let directory = std::env::temp_dir().join(format!("ringfence-doc-tools-{}", std::process::id()));
//! # std::fs::create_dir_all(directory.join("project"))?;
//! # let (workspace, state) = (directory.join("project"), directory.join("state"));
//! let sandbox = Sandbox::builder().preset(Preset::Workspace).workspace(workspace).state(state).build()?;
//! let session = sandbox.session("my-agent")?;
//! let toolbox = Toolbox::new();
//! let arguments = r#"{ "path": "notes.txt", "content": "hello" }"#;
//! toolbox.call_text(&session, "write", arguments, &Abort::new())?;
//! let read = toolbox.call_text(&session, "read", r#"{ "path": "notes.txt" }"#, &Abort::new())?;
//! assert!(read.text.contains("hello"));
//! # drop((session, sandbox));
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use listing::OneOrMany;
pub use ls::{Ls, LsParameters};
pub use patch::{ApplyPatch, PatchParameters};
pub use process::{Action, Process, ProcessParameters, StreamName};
pub use read::{Read, ReadParameters};
pub use reply::Reply;
pub use ringfence::audit::Impact;
pub use schema::SchemaForm;
pub use tool::{AdmittedCall, AnyTool, Call, Extent, Output, PreparedCall, Tool};
pub use toolbox::Toolbox;
pub use web_fetch::{WebFetch, WebFetchParameters};
pub use write::{Write, WriteParameters};

// Parts of the interface: parameters derive `JsonSchema`, and data is JSON.
pub use {schemars, serde_json};

/// The examples of the guide, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
struct LibraryGuide;

/// Every tool there is.
fn all() -> Vec<Box<dyn AnyTool>> {
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
