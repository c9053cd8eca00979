//! Data of a machine about its owner is published.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::signs::{COVERT, NO_CONSENT, QUIET, UNABRIDGED};
use crate::text::phrase::{Phrases, is_described, is_forbidden};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_TOLD_PUBLISHED",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "what a machine knows about its owner is to be published",
    why: "The environment and the histories of a machine are full of keys. Whoever wants them whole, in a place that everybody reads, wants the keys.",
    fix: "name the few values that matter, and let the user look at them first",
    places: PROSE,
    anchors: words![
        r"\boutput of",
        r"\benv |",
        r"\bprintenv",
        r"\bshell history",
        r"\bcommand history",
        "bash_history",
        "zsh_history",
        r"\benvironment variables",
        r"\bgit config -l",
        ".ssh",
        ".env",
        ".aws",
        ".netrc",
    ],
    check: Check::Requiring(&[&MACHINE, &PUBLISHED], hits),
};

/// Phrases that make data public.
static PUBLISHED: Phrases = Phrases::new(words![
    r"\b(?:open|create|file|post|add|publish|start|leave|raise|submit)s? (?:<any> ){0,3}(?:issues?|gists?|discussions?|tickets?|pastes?|comments?|posts?)\b",
    r"\b(?:post|publish|paste|put) (?:<any> ){1,4}(?:to|in|on|into) (?:<any> ){0,2}(?:tracker|forum|gist|paste|discussion|issue)\b",
]);

/// Data of a machine about its owner.
static MACHINE: Phrases = Phrases::new(words![
    r"\boutput of `?(?:env|printenv|set|git config)\b|\benv \||\bprintenv\b|\b(?:shell|command|bash|zsh)[ _]history\b|\benvironment variables\b|\bgit config -l\b|<secretfile>",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let signs = [&COVERT, &NO_CONSENT, &QUIET, &UNABRIDGED];
    if !MACHINE.is_in(text) || !signs.iter().any(|sign| sign.is_in(text)) {
        return Vec::new();
    }
    let said = |at: usize| !is_forbidden(text, at) && !is_described(text, at);
    PUBLISHED.ranges(text).into_iter().filter(|range| said(range.start)).map(Hit::at).take(1).collect()
}
