//! The agent is told to collect secrets.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, is_forbidden, sentence_after, sentence_before};
use crate::text::unit::PROSE_OR_FENCE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRED_TOLD_COLLECT",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "tells the agent to collect secrets",
    why: "No task needs every key on a machine. A list of them is what a thief wants.",
    fix: "name the one that is needed",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bpasswords",
        r"\bpassword,",
        r"\bcredentials",
        r"\bcredential,",
        r"\bsecrets",
        r"\bsecret,",
        r"\btokens",
        r"\btoken,",
        r"\bapi key",
        r"\bcookies",
        r"\bprivate key",
        r"\bssh key",
        r"\bseed phrase",
        r"\brecovery phrase",
        r"\benvironment variable",
        r"\benv vars",
        r"\bwallet file",
        r"\bevery credential",
        r"\beach credential",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:<gather>|(?:build|create|produce|prepare|make|assemble|generate) (?:<any> ){0,3}(?:inventory|lists?|catalog(?:ue)?|report|summary|table|dump))\b... (?:every|all|any|each|available|stored|saved|user<'>?s?)... <secrets>",
]);

/// Phrases of an audit of the user's own code.
static AUDIT: Phrases = Phrases::new(words![
    r"\b(?:hardcoded|hard-coded|leaked|exposed|committed|codebase|repositor(?:y|ies)|source code|git history|rotat\w+|required|needs?|missing|placeholders?|kubernetes|github actions|vault|used by|referenced|lexer|design)\b",
]);

/// Kinds of secrets.
static KINDS: Phrases = Phrases::new(words![
    r"\b(?:tokens?|keys?|secrets?|credentials?|passwords?|cookies|seed phrases?|environment variables)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| {
            let after = sentence_after(text, range.end, 160);
            let found = text.get(range.clone()).unwrap_or_default();
            let kinds = KINDS.ranges(found).len() + KINDS.ranges(after).len();
            let around = [sentence_before(text, range.start, 100), found, after];
            kinds >= 2
                && !around.iter().any(|part| AUDIT.is_in(part))
                && !is_forbidden(text, range.start)
                && !is_described(text, range.start)
        })
        .map(Hit::at)
        .collect()
}
