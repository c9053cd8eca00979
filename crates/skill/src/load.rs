//! A skill -> what the model may see of it.

use crate::rule::Severity;
use crate::suppress::Judged;

/// The judgement over all findings. The larger, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing to mind.
    Clean,
    /// Loaded, and told.
    Flagged,
    /// Not loaded.
    Blocked,
}

impl Verdict {
    /// Judges what counts.
    #[must_use]
    pub fn of(judged: &Judged, block_on_critical: bool) -> Self {
        match judged.worst() {
            Some(Severity::Critical) if block_on_critical => Self::Blocked,
            Some(Severity::Critical | Severity::Warning) => Self::Flagged,
            Some(Severity::Note) | None => Self::Clean,
        }
    }

    /// Its name, as it is written in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Flagged => "flagged",
            Self::Blocked => "blocked",
        }
    }
}
