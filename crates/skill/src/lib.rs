//! Hostile bytes -> a Skill or findings: clean, front matter, scan, verdict.
//!
//! A skill is a tree of files from a stranger. [`Scanner::scan`] looks at every file of it, as it is, as a model would read it,
//! and decoded, and says what it found.
//!
//! **Invariant.** Nothing here opens a file, reads the environment or starts anything: everything is passed in.
//! **Invariant.** Reading never fails and never panics. What cannot be read is a finding.
//! **Invariant.** Time and memory are linear in the bytes; every depth and number has a limit, and reaching one is a finding.
//! **Invariant.** Every finding has its place in the bytes of the file as it came.

pub mod archive;
mod baseline;
mod capability;
mod code;
mod finding;
mod load;
mod lock;
mod manifest;
mod profile;
mod rules;
mod scan;
mod suppress;
mod text;
mod tree;
mod words;

pub use baseline::{Baseline, BaselineError, print};
pub use capability::{Need, Needs, capabilities};
pub use finding::{Finding, Report, Via};
pub use load::{Loaded, Refused, Settings, Verdict, load, main_file};
pub use lock::{Changed, Lock, LockError, Mode, Pinned, manifests, server_name};
pub use manifest::{Manifest, ManifestError, Server, Tool};
pub use profile::Profile;
pub use rules::rule::{Category, Rule, Severity};
pub use rules::{all as all_rules, base as base_rules};
pub use scan::Scanner;
pub use suppress::{Accepted, Allow, Judged, Suppression};
pub use text::clean;
pub use text::front::{
    Field, Front, FrontError, Known, Level, MAX_FRONT, Permissions, Problem, Shape, Spot, Value,
    validate as validate_front,
};
pub use text::language::Language;
pub use text::map::Map;
pub use tree::{Content, Entry, Tree};
