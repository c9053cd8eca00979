//! Secrets are stolen, in words that name it.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::{Phrases, is_described, is_forbidden};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_TOLD_STEAL",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "secrets are to be taken out",
    why: "No work needs secrets to leave the machine.",
    fix: "remove the sentence",
    places: PROSE,
    anchors: words![
        r"\bexfiltrat",
        r"\bcredential",
        r"\bsecret",
        "nslookup",
        r"\bsmtp",
        ".npmrc",
        ".ssh",
        ".netrc",
        ".aws",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:and|then|to) exfiltrate (?:it|them|these|those|all|any|the)\b",
    r"^[\s>*-]*exfiltrate (?:it|them|these|all|any|the)\b",
    r"\b(?:upload|transfer|send|copy|transmit|email|forward)s? (?:the |all |any |your |these |stolen )?(?:<any> )?(?:credentials|secrets)(?: files?)? (?:via|to|with|through|over) (?:<any> )?(?:smtp|ftp|aws s3|s3|scp|rsync|https?|dns|email|telegram|discord)\b",
    r"(?:~/|\$HOME/)?\.(?:npmrc|git-credentials|ssh|aws|netrc|pypirc|kube|config/gh)\S*\b... (?:send|upload|forward|post|ship)(?: it| them| these)? to\b",
    r"\b(?:read|take|get|grab)\b... (?:\.env|tokens?|secrets?|credentials?|keys?)\b... (?:nslookup|dig|ping) ",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .collect()
}
