//! What a scan says.

use std::ops::Range;
use std::path::PathBuf;

use crate::rules::rule::{Rule, Severity};

/// Something found, with its place in the bytes of the file as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// How bad it is where it stands: never worse than the rule says.
    pub severity: Severity,
    /// The file, below the tree.
    pub path: PathBuf,
    /// Where it stands in the bytes of the file.
    pub span: Range<usize>,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// What was found, as it was read: at most a hundred characters, not escaped.
    pub matched: String,
    /// One sentence about this place, where the rule's title does not say it all.
    pub note: Option<String>,
    /// How one gets there: out of which encodings, from which other file.
    pub via: Vec<Via>,
}

/// A step on the way to a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// The text had to be made readable first; the word says how.
    Decoded(&'static str),
    /// A value of a document; the pointer says which.
    Value(String),
    /// Another file says to run or read this one.
    From {
        /// That file.
        path: PathBuf,
        /// The line in it, counted from one.
        line: usize,
    },
}

/// Everything a scan found, the worst first, then in the order of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many bytes were looked at.
    pub bytes: usize,
}

impl Report {
    /// The worst severity in it.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
