//! Many bytes in hexadecimal escapes.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "OBF_HEX_LONG",
    category: Category::Obfuscation,
    severity: Severity::Warning,
    title: "long text in hexadecimal escapes",
    why: "Nobody reads such a text, and programs do.",
    fix: "write the text itself",
    places: ANYWHERE,
    anchors: words!["\\x"],
    check: Check::Pattern {
        finds: r"(?:\\{1,2}x[0-9a-f]{2}){20}(?:\\{1,2}x[0-9a-f]{2}){0,480}",
        unless: &[],
    },
};
