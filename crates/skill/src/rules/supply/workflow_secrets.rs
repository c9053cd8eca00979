//! All secrets of a repository as one text.

use super::SETTINGS;
use super::as_shown;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "WORKFLOW_SECRETS",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a workflow that takes all secrets at once",
    why: "A step gets the secrets that it needs by name. Whoever takes all of them as one text wants to keep them.",
    fix: "name each secret that a step needs",
    places: SETTINGS,
    anchors: words!["tojson(secrets", "tojson( secrets", "tojson (secrets"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let lower = unit.text().to_ascii_lowercase();
    let found = lower
        .match_indices("tojson")
        .filter(|(at, _)| lower[*at + 6..].trim_start_matches([' ', '(']).starts_with("secrets"));
    found.map(|(at, word)| Hit { range: at..at + word.len(), note: None, severity: as_shown(unit) }).collect()
}
