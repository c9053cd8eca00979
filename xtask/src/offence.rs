//! A violation, and its place.

use std::fmt;

/// One thing that is not in order, with the place to look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offence {
    place: String,
    text: String,
}

impl Offence {
    /// An offence on one line of a file.
    pub(crate) fn at(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { place: format!("{file}:{line}"), text: text.into() }
    }

    /// An offence of a whole file, crate or command.
    pub(crate) fn of(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: place.into(), text: text.into() }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}
