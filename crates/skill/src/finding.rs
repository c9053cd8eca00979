//! Result of a scan.

use std::ops::Range;
use std::path::PathBuf;

use crate::rules::rule::{Rule, Severity};

/// Something found, with its place in the bytes of the file as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Severity in its context: never worse than the rule says.
    pub severity: Severity,
    /// The file, below the tree.
    pub path: PathBuf,
    /// Range in the bytes of the file.
    pub span: Range<usize>,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// Matched text, as it was read: at most a hundred characters, not escaped.
    pub matched: String,
    /// One sentence about this place, where the rule's title does not say it all.
    pub note: Option<String>,
    /// Steps that lead there: out of which encodings, from which other file.
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
    /// Findings.
    pub findings: Vec<Finding>,
    /// Number of bytes that were looked at.
    pub bytes: usize,
}

impl Report {
    /// The worst severity in it.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
