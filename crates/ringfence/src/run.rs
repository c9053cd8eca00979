//! One run of a command: from a policy and options to an outcome.

mod error;
mod git;
mod host;
mod host_spec;
mod kept_home;
mod spec;

pub use error::{RunError, RunErrorKind};
pub use host::Host;
pub use host_spec::{HostSpec, Inside, filter_variables, spec_from_policy};
pub use kept_home::{KeptHome, needs_a_jail};
pub use spec::{VisiblePaths, build_spec};
