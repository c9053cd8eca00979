//! Programs that run when a user logs in.

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_LOGIN_START",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "something is made to run at every login",
    why: "It runs from now on, whether the skill is there or not.",
    fix: "start it by hand, or let a person install it",
    places: CODE,
    anchors: words!["startup", "currentversion", "autostart", "registerscheduledtask", "schtasks"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let mut hits = super::holds(unit, &[Hold::Login], severity);
    if !hits.is_empty() && super::keeps_fetched(unit) {
        for hit in &mut hits {
            hit.severity = None;
        }
    }
    hits
}

fn severity(what: &str, text: &str) -> Severity {
    if super::is_suspect(text) || super::is_suspect(what) { Severity::Critical } else { Severity::Warning }
}
