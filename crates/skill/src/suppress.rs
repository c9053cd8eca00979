//! Findings that were reviewed and accepted.
//!
//! The author of a skill may be the attacker, so nothing in the skill itself accepts anything unless the caller says so, and
//! even then nothing critical. A policy accepts by rule, path and reason. A baseline accepts what was there before, nothing
//! critical.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use policy::{PathPattern, Reach};

use crate::baseline::Baseline;
use crate::finding::{Finding, Report};
use crate::rules::rule::Severity;
use crate::tree::{Content, Tree};

/// Acceptance of findings by a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    /// The rule, by its name.
    pub rule: String,
    /// The files, from the workspace or from the root of the file system.
    pub path: PathPattern,
    /// Reviewer, and the reason why it is fine.
    pub reason: String,
}

/// Reason why a finding does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suppression {
    /// The policy accepts it, for this reason.
    Policy(String),
    /// A comment in the file does, for this reason.
    Inline(String),
    /// It was there before.
    Baseline,
}

impl Suppression {
    /// Returns the source of the acceptance, as a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Policy(_) => "policy",
            Self::Inline(_) => "inline",
            Self::Baseline => "baseline",
        }
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Policy(reason) | Self::Inline(reason) => reason,
            Self::Baseline => "it was there when the baseline was written",
        }
    }
}

/// Sources that may accept findings.
#[derive(Debug, Clone, Default)]
pub struct Accepted {
    /// Findings that the policy accepts.
    pub allow: Vec<Allow>,
    /// True if comments in the files count, for what is not critical.
    pub inline: bool,
    /// Earlier findings.
    pub baseline: Option<Baseline>,
}

/// A report, divided into what counts and what does not.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Findings that count, in the order of the report.
    pub open: Vec<Finding>,
    /// Findings that do not count, and the reason.
    pub suppressed: Vec<(Finding, Suppression)>,
}

impl Judged {
    /// The worst that counts.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.open.iter().map(|finding| finding.severity).max()
    }

    /// The rules that found something that counts, each once, in the order of their names.
    #[must_use]
    pub fn rules(&self) -> Vec<&'static str> {
        let rules: BTreeSet<_> = self.open.iter().map(|finding| finding.rule.id).collect();
        rules.into_iter().collect()
    }

    /// Returns the number of accepted critical findings.
    #[must_use]
    pub fn excused(&self) -> usize {
        self.suppressed.iter().filter(|(finding, _)| finding.severity == Severity::Critical).count()
    }

    /// Returns the number of findings of a severity that count.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.open.iter().filter(|finding| finding.severity == severity).count()
    }
}

impl Accepted {
    /// Divides a report. `root` is where the tree is as a policy names it: from the workspace, or else from the root of the file
    /// system; `None` where it is nowhere, as on standard input, so that no path fits.
    #[must_use]
    pub fn judge(&self, tree: &Tree, root: Option<&Path>, report: Report) -> Judged {
        let mut judged = Judged::default();
        let mut baseline = self.baseline.as_ref().map(Baseline::start);
        for finding in report.findings {
            let place = root.map(|root| place(root, &finding.path));
            let known = || {
                let baseline = baseline.as_mut()?;
                let path = place.as_deref().unwrap_or(&finding.path);
                let taken = finding.severity < Severity::Critical && baseline.take(&finding, path);
                taken.then_some(Suppression::Baseline)
            };
            let suppression = place
                .as_deref()
                .and_then(|place| self.by_policy(&finding, place))
                .or_else(|| self.by_comment(&finding, tree))
                .or_else(known);
            match suppression {
                Some(suppression) => judged.suppressed.push((finding, suppression)),
                None => judged.open.push(finding),
            }
        }
        judged
    }

    fn by_policy(&self, finding: &Finding, place: &Path) -> Option<Suppression> {
        let name = place.as_os_str().as_encoded_bytes();
        let fits = |allow: &&Allow| allow.rule == finding.rule.id && allow.path.matches(name, Reach::Narrow);
        self.allow.iter().find(fits).map(|allow| Suppression::Policy(allow.reason.clone()))
    }

    fn by_comment(&self, finding: &Finding, tree: &Tree) -> Option<Suppression> {
        if !self.inline || finding.severity == Severity::Critical {
            return None;
        }
        let entry = tree.entries.iter().find(|entry| entry.path == finding.path)?;
        let Content::File { bytes, .. } = &entry.content else { return None };
        reason_near(bytes, finding.span.start, finding.rule.id).map(Suppression::Inline)
    }
}

/// Returns the path of a file of a tree. A tree of one file is that file.
fn place(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) }
}

/// The longest line that is looked at for a comment.
const MAX_LINE: usize = 2000;

/// The reason that a comment gives on the line of a place, or on the line before it.
fn reason_near(bytes: &[u8], at: usize, rule: &str) -> Option<String> {
    let at = at.min(bytes.len());
    let start_of = |at: usize| memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let start = start_of(at);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    let before = start.checked_sub(1).map(|end| start_of(end)..end);
    let lines = std::iter::once(start..end).chain(before);
    lines.filter(|line| line.len() <= MAX_LINE).find_map(|line| reason(&bytes[line], rule))
}

/// `<!-- ringfence: allow RULE because WORDS -->`, or the same behind `#` or `//`.
fn reason(line: &[u8], rule: &str) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let (before, after) = line.split_once("ringfence: allow ")?;
    let opening = ["<!--", "#", "//"].into_iter().find(|opening| before.trim_end().ends_with(opening))?;
    let after = if opening == "<!--" { after.split_once("-->")?.0 } else { after };
    let (named, reason) = after.split_once(" because ")?;
    let reason = reason.trim();
    (named.trim() == rule && !reason.is_empty()).then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;
    use crate::scan::Scanner;

    fn allow(rule: &str, path: &str) -> Allow {
        let path = PathPattern::parse(path).unwrap();
        Allow { rule: rule.to_owned(), path, reason: "reviewed".to_owned() }
    }

    fn judged(accepted: &Accepted, root: Option<&str>, text: &str) -> Judged {
        let tree = Tree::of_file("SKILL.md", text);
        let report = Scanner::new(&rules::all()).scan(&tree);
        accepted.judge(&tree, root.map(Path::new), report)
    }

    const CRITICAL: &str = "Use stratum+tcp://pool.example:3333\n";

    #[test]
    fn a_policy_accepts_by_rule_and_path() {
        let rows = [
            ("CRYPTO_STRATUM", "skills/a/**", Some("skills/a"), true),
            ("CRYPTO_STRATUM", "skills/a/SKILL.md", Some("skills/a"), true),
            ("CRYPTO_STRATUM", "skills/b/**", Some("skills/a"), false),
            ("ENV_PRINTENV", "skills/a/**", Some("skills/a"), false),
            ("CRYPTO_STRATUM", "/opt/skills/**", Some("/opt/skills/a"), true),
            // A path in the workspace does not reach outside it, and standard input has no path.
            ("CRYPTO_STRATUM", "**", Some("/opt/skills/a"), false),
            ("CRYPTO_STRATUM", "**", None, false),
        ];
        for (rule, path, root, expected) in rows {
            let accepted = Accepted { allow: vec![allow(rule, path)], ..Accepted::default() };
            let judged = judged(&accepted, root, CRITICAL);
            assert_eq!(judged.suppressed.len() == 1, expected, "{rule} {path} {root:?}");
            assert_eq!(judged.open.is_empty(), expected, "{rule} {path} {root:?}");
        }
    }

    #[test]
    fn a_comment_gives_a_reason_for_one_rule_near_it() {
        let rows = [
            ("<!-- ringfence: allow A because b c -->\nx", Some("b c")),
            ("# ringfence: allow A because b\nx", Some("b")),
            ("// ringfence: allow A because b\nx", Some("b")),
            ("\nx # ringfence: allow A because b", Some("b")),
            ("# ringfence: allow A\nx", None),
            ("# ringfence: allow A because \nx", None),
            ("# ringfence: allow B because b\nx", None),
            ("# ringfence: allow A because b\n\nx", None),
            ("ringfence: allow A because b\nx", None),
            ("<!-- ringfence: allow A because b\nx", None),
        ];
        for (text, expected) in rows {
            let at = text.rfind('\n').unwrap() + 1;
            assert_eq!(reason_near(text.as_bytes(), at, "A").as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn no_comment_and_no_baseline_accepts_anything_critical() {
        let text = format!("<!-- ringfence: allow CRYPTO_STRATUM because trust me -->\n{CRITICAL}");
        let report = Scanner::new(&rules::all()).scan(&Tree::of_file("SKILL.md", text.as_str()));
        let stratum =
            |findings: &[Finding]| findings.iter().filter(|f| f.rule.id == "CRYPTO_STRATUM").count();
        assert_eq!(stratum(&report.findings), 1);
        let mut baseline = Baseline::default();
        for finding in &report.findings {
            baseline.add(finding, Path::new("SKILL.md"));
        }
        let accepted = Accepted { inline: true, baseline: Some(baseline), ..Accepted::default() };
        let judged = judged(&accepted, Some(""), &text);
        assert_eq!(stratum(&judged.open), 1, "{judged:?}");
    }
}
