//! Every right is asked for, in words.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::{Phrases, is_described, is_forbidden};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIV_TOLD_EVERYTHING",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "every right is asked for",
    why: "A skill needs a few tools. One that wants all of them without a limit can do anything.",
    fix: "list the tools that are needed",
    places: PROSE,
    anchors: words![
        r"\bunrestricted access",
        r"\bno deny list",
        r"\bbash(*)",
        r"\bfull access to every",
        r"\ball permissions",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:grant|request|give|allow|enable)s? (?:<any> ){0,2}(?:unrestricted|unlimited|full) access to (?:every|all|any)(?: <any>){0,3} (?:commands?|files?|tools?|system)\b",
    r"\b(?:request|grant|add|allow)s? (?:\S+ ){0,6}with no deny ?list\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .collect()
}
