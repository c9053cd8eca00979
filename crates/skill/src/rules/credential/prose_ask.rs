//! The user is asked for secrets that no skill may ask for.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, is_forbidden};
use crate::text::unit::PROSE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRED_TOLD_ASK",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "asks the user for what nobody may ask for",
    why: "Seed phrases, one-time codes and card numbers are never needed by an agent.",
    fix: "let the user type it where it belongs",
    places: PROSE,
    anchors: words![
        r"\bseed phrase",
        r"\brecovery phrase",
        r"\bmnemonic",
        r"\bone-time",
        r"\botp",
        "2fa",
        r"\bmfa code",
        r"\bcvv",
        r"\bcard number",
        r"\bsocial security",
        r"\bpassword",
        r"\bprivate key",
        r"\bwallet key",
        r"\bsecret key",
    ],
    check: Check::Phrases(&[&PHRASES, &PASSED_ON], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:ask|asks|prompt|prompts|request|requests|instruct|instructs|tell|tells|have|get|urge)(?: <any>)? <user>... <own>\b",
    r"\b(?:ask|prompt) for (?:<any> ){0,3}<own>\b",
    r"\b(?:collect|collects|obtain|obtains|capture|captures|record|records) (?:<user>(?:<'>s)? |their )(?:<any>,? ){0,4}<own>\b",
    r"\b(?:ask|asks|prompt|prompts|request|tell|instruct) <user> (?:to|for)\b... (?:wallet key|secret key|login password|macos password|sudo password|system password|master password|(?:bank|banking|e-?mail|computer) password)\b",
    r"\byou need <user><'>s? (?:<any>,? ){0,4}passwords\b",
]);

/// A password that is passed on to a third party.
static PASSED_ON: Phrases = Phrases::new(words![
    r"\b(?:ask|prompt|request|instruct|tell)s?(?: <any>)? <user>... passwords?\b... (?:post|send|submit|forward|upload|pass|relay|transmit|share)\b",
]);

/// Work on forms and on sign-in itself.
static BUILT: Phrases = Phrases::new(words![
    r"\b(?:form|field|endpoint|component|implement|validat\w+|input|schema|test|tests|mask\w*|redact\w*|pii|detect\w*|library|checkout|login (?:page|flow)|enrol\w*|enable|path|file ?name)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let asked = if BUILT.is_in(text) { Vec::new() } else { PHRASES.ranges(text) };
    let ranges = asked.into_iter().chain(PASSED_ON.ranges(text));
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .collect()
}
