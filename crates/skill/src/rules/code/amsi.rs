//! The scanner of PowerShell is switched off.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_AMSI",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "the scanner of PowerShell is switched off",
    why: "Scripts are shown to the system's scanner before they run. Only what would be recognised switches it off.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: words!["amsi"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::Amsi)
}
