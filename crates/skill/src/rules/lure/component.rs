//! A component without a known publisher has to be installed first.

use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::links;
use crate::text::phrase::{Phrases, is_described, is_forbidden, section};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_COMPONENT",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "a component from a page of anybody has to be installed first",
    why: "A skill is text and scripts. One that does not work before something from a page of anybody was installed is the wrapping of that something.",
    fix: "ship what is needed with the skill, or name a package of a registry",
    places: PROSE,
    anchors: words![
        r"\bmust be installed",
        r"\brequired component",
        r"\brequires the",
        r"\bbefore using this skill",
        r"\bbefore you can use",
        r"\bwill not work without",
        r"\bwithout it nothing",
        r"\bneeds the",
        r"\bbefore using",
    ],
    check: Check::Phrases(&[&FORCED], hits),
};

static FORCED: Phrases = Phrases::new(words![
    r"\bmust be (?:installed|running|downloaded)(?: and <any>)? (?:before|first|for|to)\b",
    r"\b(?:requires|needs) the [\w`-]+ (?:utility|tool|agent|helper|component|driver|runtime|client|cli|service)\b",
    r"\b(?:before using this skill|before you can use)\b... (?:install|download|run|set up)\b",
]);

static FETCHED: Phrases = Phrases::new(words![r"\b(?:download|install|get it|grab)\b"]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let forced: Vec<_> = FORCED
        .ranges(text)
        .into_iter()
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .collect();
    if forced.is_empty() {
        return Vec::new();
    }
    let (_, after) = section(unit, 500);
    // A page in the same text, or one that the next lines say to fetch from.
    let here = [text, after].iter().any(|part| {
        FETCHED.is_in(part)
            && links(part).iter().any(|link| link.is_anybodys() || link.to.kind == Kind::FreeHosting)
    });
    if here { forced.into_iter().map(Hit::at).take(1).collect() } else { Vec::new() }
}
