//! Built-in functions by computed names.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_HIDDEN_CALL",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "a built-in function is called by a hidden name",
    why: "A name is computed so that nobody finds it by looking for it.",
    fix: "write the call as what it is",
    places: ANYWHERE,
    anchors: words!["getattr", "__getattribute__", "__builtins__", "__dict__", "vars("],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::HiddenCall)
}
