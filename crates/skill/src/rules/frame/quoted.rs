//! Tells whether a sign of a frame is shown or used.

use crate::rules::rule::Severity;
use crate::text::unit::{Place, Unit};

/// Role of a sign of a frame at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is in code, or between backticks: the text shows its form.
    Shown,
    /// A sentence is about it.
    Named,
    /// It has the form that it would have in a chat.
    Used,
}

impl Use {
    /// Returns the severity of a sign that is used like this.
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            Self::Shown => Some(Severity::Note),
            Self::Named => Some(Severity::Warning),
            Self::Used => None,
        }
    }
}

/// Returns the use of a sign at a position of a unit. `alone` if it begins a line or only other tags precede it.
pub(super) fn use_of(unit: &Unit<'_>, at: usize) -> Use {
    if matches!(unit.place, Place::Inline | Place::Fence | Place::Script | Place::Target) {
        return Use::Shown;
    }
    let text = unit.text();
    let before = if at == 0 { unit.before(200) } else { text.get(..at).unwrap_or_default() };
    // The sign is examined within its paragraph: code in it ends there too.
    let before = before.rfind("\n\n").map_or(before, |blank| &before[blank + 2..]);
    if before.bytes().filter(|byte| *byte == b'`').count() % 2 == 1 {
        return Use::Shown;
    }
    let line =
        before.rsplit('\n').next().unwrap_or_default().trim_matches([' ', '\t', '>', '*', '-', '"', '#']);
    if line.is_empty() || line.ends_with(['>', ']', '.', '!', ':']) { Use::Used } else { Use::Named }
}
