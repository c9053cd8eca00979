//! A program is to be fetched and started before the skill works.

use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::{Phrases, is_described, is_forbidden, section};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_PROGRAM",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "a program has to be fetched and started before the skill works",
    why: "A skill is text. A program that it cannot do without, from a place that nobody answers for, is the attack itself.",
    fix: "do not start it; use a skill that needs a program from a known maker",
    places: PROSE,
    anchors: words![
        "download",
        ".exe",
        ".zip",
        ".dmg",
        ".msi",
        ".pkg",
        ".rar",
        ".7z",
        "executable",
        "binary",
        "installer",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![r"\b(?:download\w*|get|grab|fetch|obtain|install)\b"]);

/// It is to be started.
static STARTED: Phrases = Phrases::new(words![
    r"\b(?:run|launch|execute|start|open|double[- ]click|install)(?:s|ing)? (?:<any> ){0,4}(?:it|executable|file|installer|binary|program|app|application|setup|agent|tool|utility|helper|as (?:an? )?(?:admin\w*|root)|\S+\.(?:exe|msi|dmg|pkg|bat|command|app))\b",
]);

/// Phrases that say that nothing works before.
static FORCED: Phrases = Phrases::new(words![
    r"\b(?:before (?:using|you|starting|proceeding|continuing|running|any)|will not (?:work|function|load|run)|won<'>t (?:work|function)|does not (?:work|function)|required? (?:<any> ){0,5}(?:to (?:function|work|run|operate|use)|before|for this skill)|requires (?:<any> ){0,5}(?:to (?:function|work|run|operate)|utility|agent|helper|component|driver|provider)|must (?:be (?:installed|running)|install|download|run)|without (?:it|this)|mandatory)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let (before, after) = section(unit, 500);
    let around = [before, text, after];
    let grave =
        around.iter().flat_map(|part| links(part)).filter(Link::is_program).map(|link| weight(&link)).max();
    let Some(weight) = grave else { return Vec::new() };
    let forced = around.iter().any(|part| FORCED.is_in(part));
    let started = around.iter().any(|part| STARTED.is_in(part));
    if weight < 2 && !(forced && started) || weight == 0 {
        return Vec::new();
    }
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .take(1)
        .collect()
}

/// Returns 2 if the link has no accountable owner, 1 if it might have one, 0 if it has one.
fn weight(link: &Link<'_>) -> u8 {
    let windows = [".exe", ".msi", ".scr", ".bat", ".rar", ".zip", ".7z", ".dmg", ".pkg"];
    match link.to.kind {
        _ if link.is_anybodys() => 2,
        Kind::Vendor | Kind::Private | Kind::Metadata => 0,
        _ if windows.iter().any(|end| link.text.to_ascii_lowercase().contains(end)) => 1,
        _ => 0,
    }
}
