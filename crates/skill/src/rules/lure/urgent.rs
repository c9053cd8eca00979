//! A person is hurried, or told that an authority has approved.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::PROSE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_URGENT",
    category: Category::Lure,
    severity: Severity::Warning,
    title: "a person is hurried into installing something",
    why: "Urgency and borrowed authority are there so that nobody looks closely.",
    fix: "look at what is to be installed as if nothing were urgent",
    places: PROSE,
    anchors: words![
        r"\bimmediately",
        r"\burgent",
        r"\bcritical security",
        r"\bendorsed",
        r"\bverified skill",
        r"\bofficially approved",
    ],
    check: Check::Phrases(&[&PHRASES], |unit| PHRASES.hits_not_described(unit.text())),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:you must|must|please) (?:<any> )?(?:install|update|upgrade|run|apply)(?: <any>){0,2} (?:immediately|right now|at once|urgently)\b",
    r"\b(?:official|officially)(?: <any>){0,3} (?:verified|approved|endorsed|certified)(?: <any>){0,2} (?:by|endorsed)\b",
]);
