//! Exit codes: an interface, documented and never renumbered.

use std::process::ExitCode;

/// Exit of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; for `check`: allowed; for `skill`: nothing to mind.
    Ok,
    /// The command could not do its work, or what it examined is not in order; for `skill`: flagged.
    Failed,
    /// `skill`: blocked. Agents read 2 as a deliberate deny, and so it is.
    Blocked,
    /// `check`: a person would be asked. `skill load`: a person has to look, because it has changed since it was pinned.
    Ask,
    /// `check`: denied.
    Deny,
    /// The command line was wrong. Not 2, which agents read as a deliberate deny.
    Usage,
    /// `run`: no jail could be made, so nothing was started.
    NoJail,
    /// `run`: the policy refused the command, or the kernel could not execute it.
    Refused,
    /// `run`: there is no such command.
    NotFound,
    /// `run`: the exit code of the outcome: the command's own, 128 and the signal, or 124 for a limit.
    Own(u8),
}

impl Exit {
    /// The number that the caller sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Blocked => 2,
            Self::Ask => 3,
            Self::Deny => 4,
            Self::Usage => 64,
            Self::NoJail => 125,
            Self::Refused => 126,
            Self::NotFound => 127,
            Self::Own(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
