//! Limits on resources: cgroups where they can be made, a watchdog where not, and the limits of single processes.
//!
//! `crate::resources` turns the limits of a policy into these, and what was measured into a verdict.

pub(crate) mod cgroups;
pub(crate) mod process_limits;
pub(crate) mod sweeper;
pub(crate) mod watchdog;
