//! Earlier findings: a file that keeps a scan quiet about them, and about nothing critical.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::finding::Finding;
use crate::rules::rule::Severity;

/// The version of the file.
const VERSION: u32 = 1;

/// Findings that were there before. A file may grow around them: what counts is the rule, the file and what was matched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeMap<Known, usize>,
}

/// One finding as the file names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    rule: String,
    path: String,
    print: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    findings: Vec<Known>,
}

/// Reason why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// Not JSON, or not of this shape.
    #[error("it is not a baseline")]
    Shape(#[from] serde_json::Error),
    /// Written by a later version.
    #[error("it is a baseline of version {0}, and this program reads version {VERSION}")]
    Version(u32),
}

impl Baseline {
    /// Reads a file.
    pub fn read(text: &str) -> Result<Self, BaselineError> {
        let written: Written = serde_json::from_str(text)?;
        if written.version != VERSION {
            return Err(BaselineError::Version(written.version));
        }
        let mut known = BTreeMap::new();
        for finding in written.findings {
            *known.entry(finding).or_default() += 1;
        }
        Ok(Self { known })
    }

    /// Adds a finding, unless it is critical: those stay in sight.
    pub fn add(&mut self, finding: &Finding, path: &Path) {
        if finding.severity < Severity::Critical {
            *self.known.entry(Known::of(finding, path)).or_default() += 1;
        }
    }

    /// Returns the number of findings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.values().sum()
    }

    /// Returns true if it has no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The file.
    pub fn write(&self) -> Result<String, BaselineError> {
        let each = self.known.iter().flat_map(|(known, &count)| std::iter::repeat_n(known, count));
        let written = Written { version: VERSION, findings: each.cloned().collect() };
        Ok(serde_json::to_string_pretty(&written)? + "\n")
    }

    /// Returns the entries, none of which the scan has met yet.
    pub(crate) fn start(&self) -> Rest {
        Rest { left: self.known.clone() }
    }
}

/// Remaining entries of a baseline while a scan goes on: each entry covers one finding.
pub(crate) struct Rest {
    left: BTreeMap<Known, usize>,
}

impl Rest {
    pub(crate) fn take(&mut self, finding: &Finding, path: &Path) -> bool {
        let left = self.left.get_mut(&Known::of(finding, path)).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    }
}

impl Known {
    fn of(finding: &Finding, path: &Path) -> Self {
        let path = policy::Shown::path(path).to_string();
        Self { rule: finding.rule.id.to_owned(), path, print: print(finding) }
    }
}

/// Returns the part that stays the same when a finding moves: sixteen hexadecimal digits of the hash of what was matched.
#[must_use]
pub fn print(finding: &Finding) -> String {
    let hash = Sha256::new().chain_update(finding.rule.id).chain_update([0]).chain_update(&finding.matched);
    let digits = hash.finalize();
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    digits.iter().take(8).flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    fn finding(matched: &str, severity: Severity) -> Finding {
        Finding {
            rule: rules::all()[0],
            severity,
            path: "SKILL.md".into(),
            span: 0..1,
            line: 1,
            column: 1,
            matched: matched.to_owned(),
            note: None,
            via: Vec::new(),
        }
    }

    #[test]
    fn a_baseline_is_read_as_it_was_written() {
        let mut baseline = Baseline::default();
        let path = Path::new("a/SKILL.md");
        for matched in ["x", "x", "y"] {
            baseline.add(&finding(matched, Severity::Warning), path);
        }
        baseline.add(&finding("z", Severity::Critical), path);
        assert_eq!(baseline.len(), 3);
        let read = Baseline::read(&baseline.write().unwrap()).unwrap();
        assert_eq!(read, baseline);
        let mut rest = read.start();
        let rows = [("x", true), ("x", true), ("x", false), ("y", true), ("z", false)];
        for (matched, expected) in rows {
            assert_eq!(rest.take(&finding(matched, Severity::Warning), path), expected, "{matched}");
        }
        assert!(!read.start().take(&finding("x", Severity::Warning), Path::new("b/SKILL.md")));
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        let rows = [
            ("", "it is not a baseline"),
            ("[]", "it is not a baseline"),
            (r#"{"version":1}"#, "it is not a baseline"),
            (r#"{"version":1,"findings":[],"more":1}"#, "it is not a baseline"),
            (
                r#"{"version":2,"findings":[]}"#,
                "it is a baseline of version 2, and this program reads version 1",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(Baseline::read(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
