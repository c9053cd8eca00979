//! `printenv`.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "ENV_PRINTENV",
    category: Category::EnvHarvesting,
    severity: Severity::Warning,
    title: "the environment is printed",
    why: "The environment holds tokens and keys of everything that was set up on the machine.",
    fix: "name the one variable that is needed",
    places: ANYWHERE,
    anchors: words!["printenv"],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r"\bprintenv\b(?:[ \t]+([A-Z_][A-Z0-9_]*)\b)?";
}

/// Finds `printenv`; a single variable by its name is only a note.
fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let found = FOUND.captures_iter(unit.text().as_bytes()).take(20);
    found
        .filter_map(|found| {
            let named = found.get(1).is_some_and(|name| name.as_bytes().iter().any(u8::is_ascii_uppercase));
            let severity = named.then_some(Severity::Note);
            Some(Hit { severity, ..Hit::at(found.get(0)?.range()) })
        })
        .collect()
}
