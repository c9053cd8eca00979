//! A key that may log in from elsewhere.

use crate::code::fact::Hold;
use crate::rules::privilege::{is_key, is_to_be_filled_in};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_LOGIN_KEYS",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a key is added that may log in",
    why: "Whoever holds the other half of the key can come back at any time.",
    fix: "let a person add keys themselves",
    places: CODE,
    anchors: words!["authorized_keys"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::holds(unit, &[Hold::Keys], severity)
}

fn severity(_: &str, text: &str) -> Severity {
    let removes =
        ["grep -v", "sed -i", "--in-place", "authorized_keys.bak"].iter().any(|sign| text.contains(sign));
    let own = text.contains(".pub") || text.contains('$');
    if is_key(text) {
        Severity::Critical
    } else if removes || own {
        Severity::Note
    } else if is_to_be_filled_in(text) {
        Severity::Warning
    } else {
        Severity::Critical
    }
}
