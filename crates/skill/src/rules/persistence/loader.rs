//! Libraries and modules that every program loads.

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_LOADER",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "something that every program loads",
    why: "A library or module that every program loads sees everything that any of them does.",
    fix: "remove it",
    places: CODE,
    anchors: words!["ld.so.preload", "sitecustomize", "usercustomize"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::holds(unit, &[Hold::Loader], severity)
}

fn severity(path: &str, _: &str) -> Severity {
    if path.contains("preload") { Severity::Critical } else { Severity::Warning }
}
