//! The outcome of a run, as data.

use std::time::Duration;

use audit::Head;
use jail::End;

use super::error::RunError;
use super::summary::Summary;

/// Describes a command that has ended. Everything in it is recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// End of the command.
    pub end: End,
    /// Time from start to end.
    pub duration: Duration,
    /// Summary of refusals, changes and losses; none without a jail.
    pub summary: Option<Summary>,
    /// Newest record of the ledger.
    pub ledger_head: Head,
    /// Overlay that holds the changes, if there is one.
    pub overlay: Option<OverlayOutcome>,
    /// True if a part of the output did not arrive.
    pub(crate) lost_output: bool,
}

/// The overlay of a run that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct OverlayOutcome {
    /// Id of the overlay.
    pub id: String,
    /// True if it holds changes; one without changes is removed.
    pub changed: bool,
    /// Error at its end, if there was one.
    pub error: Option<RunError>,
}

impl Outcome {
    /// Returns the exit code: the command's own, 128 and the signal, 124 for a limit, 130 for a stop that was asked for, and 1
    /// where the command ended with success and could not know that its output was lost.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.end {
            End::Exited(0) if self.lost_output => 1,
            end => end.code(),
        }
    }
}
