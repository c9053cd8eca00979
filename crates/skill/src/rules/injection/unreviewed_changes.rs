//! Changes of particular authors pass without review.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::signs::{COVERT, NO_CONSENT};
use crate::text::phrase::{Phrases, is_described, is_forbidden, section};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_WAVED_THROUGH",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "some changes are to pass, and what is wrong with them is not to be said",
    why: "A review that keeps quiet about somebody's changes is the way in for whatever that somebody adds.",
    fix: "review every change in the same way, and say what was found",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\btick the",
        r"\btick all",
        r"\btick every",
        r"\bapprov",
        r"\bmerge",
        r"\blgtm",
        r"\bwave through",
        r"\bwaved through",
        r"\bsign off",
        r"\bskip the review",
        r"\bskip review",
        r"\bexempt",
        r"\bmark them as safe",
        r"\bmark it as safe",
        r"\brate it as safe",
        r"\brate them as safe",
    ],
    check: Check::Requiring(&[&UNSEEN, &PASSED], hits),
};

static PASSED: Phrases = Phrases::new(words![
    r"\b(?:approve|approved|merge|merged|lgtm|wave through|waved through|sign off|skip (?:the )?review|exempt(?:ed)? from|(?:mark|rate) (?:it|them) as safe|tick|with an approval)\b",
]);

/// Phrases that suppress remarks about the changes.
static UNSAID: Phrases = Phrases::new(words![
    r"\b(?:findings?|remarks?|warnings?|comments?|alerts?|concerns?|reports?|hints?)\b... (?:are|is|be)(?: to be)?(?: <any>){0,3} (?:suppressed|dropped|ignored|left out|omitted|withheld|skipped|closed|discarded|hidden|dismissed)\b",
    r"\b(?:mark|set|close) (?:<any> ){0,3}(?:complaints?|findings?|alerts?|warnings?|threads?|reports?)(?: <any>){0,2} (?:resolved|fixed|done|false|accepted)\b",
    r"\b(?:suppress|drop|ignore|omit|withhold|skip|discard|hide|dismiss)(?: <any>){0,2} (?:findings?|remarks?|warnings?|comments?|alerts?|concerns?)\b",
]);

/// Subjects that a review exists for.
static GRAVE: Phrases = Phrases::new(words![
    r"\b(?:credentials?|secrets?|passwords?|keys|scanners?|network|destinations?|hosts|vulnerabilit\w+|malware|backdoors?|injections?|disabled checks|permissions|security)\b",
]);

/// Phrases that skip the review of the changes.
static UNSEEN: Phrases = Phrases::new(words![
    r"\b(?:without (?:a |any |further )?(?:review|opening|looking|reading|checks?|inspection|comment)|(?:administrator|admin) rights|bypass\w*|needs? no (?:reading|review|reviewing|check|checking|look|inspection)|unseen|unread|straight away|at once|immediately|no matter what|regardless of|(?:examined|reviewed|checked|vetted) elsewhere)\b",
]);

/// Phrases that name the author of the changes, and say that they are not opened.
static CHOSEN: Phrases = Phrases::new(words![
    r"\b(?:by|from|of|for|below|under) [`'\x22]+[\w./@*-]+[`'\x22]+... (?:without (?:opening|reading|looking)|needs? no (?:reading|review|reviewing|look))\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let passed: Vec<_> = PASSED
        .ranges(text)
        .into_iter()
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .collect();
    if passed.is_empty() {
        return Vec::new();
    }
    let (before, after) = section(unit, 300);
    let said = |sign: &Phrases| [before, text, after].iter().any(|part| sign.is_in(part));
    let unsaid = said(&UNSAID) && said(&GRAVE);
    let hushed = COVERT.is_in(text) || NO_CONSENT.is_in(text) && unsaid;
    let chosen = CHOSEN.is_in(text) && GRAVE.is_in(text);
    if (unsaid || hushed || chosen) && UNSEEN.is_in(text) {
        passed.into_iter().map(Hit::at).take(1).collect()
    } else {
        Vec::new()
    }
}
