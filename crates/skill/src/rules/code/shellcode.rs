//! Code is written into memory and called.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_SHELLCODE",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "code is written into memory and called",
    why: "Bytes that are copied into memory and called are read by nobody, and belong to no file.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: words!["virtualalloc", "rtlmovememory", "createthread", "writeprocessmemory"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::Shellcode)
}
