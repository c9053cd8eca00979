//! Exit codes: an interface, documented and never renumbered.

use std::process::ExitCode;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; for `check`: allowed.
    Ok = 0,
    /// The command could not do its work, or what it examined is not in order.
    Failed = 1,
    /// `check`: a person would be asked.
    Ask = 3,
    /// `check`: denied.
    Deny = 4,
    /// The command line was wrong. Not 2, which agents read as a deliberate deny.
    Usage = 64,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
