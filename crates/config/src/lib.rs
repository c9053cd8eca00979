//! The policy file: layers, places, schema.
//!
//! A file is read by handle, checked against one table of keys, put on top of the wider layers, and compiled into the
//! chain that decides. Everything that is wrong is said at once, with file, line and caret.
//!
//! **Invariant.** Nothing runs with a broken policy: [`load`] returns settings or problems, never both.
//! **Invariant.** What the agent can write can only narrow: every key has a law that says how.

mod agent;
mod check;
mod compile;
mod cover;
mod diff;
pub mod edit;
mod example;
mod file;
mod host_entry;
mod jailing;
mod line;
mod lint;
mod merge;
mod network;
mod place;
mod problem;
mod profile;
mod rule_string;
mod sample;
pub mod schema;
mod settings;
mod show;
mod skills;
mod source;
mod toolset;
mod tree;
mod unbuilt;
mod units;

pub use diff::{Change, diff};
pub use example::{Example, Outcome};
pub use file::{MAX_FILE, project_file, read, read_named};
pub use jailing::{JailSettings, Jailing, Wish};
pub use lint::{Remark, lint, programs_in_reach, subject_words};
pub use place::Places;
pub use problem::{Place, Problem, Problems};
pub use sample::Sample;
pub use settings::{
    BUILT_IN, Files, MANAGED_FILE, Settings, from_sources, from_sources_for, load, load_for, load_for_run,
};
pub use show::{Row, rows};
pub use skills::{Oversize, ScanAllow, ScanSettings};
pub use source::{Scope, Source, Span};
pub use tree::{Entry, Node, Table, Value};
pub use unbuilt::{Unbuilt, unbuilt};
