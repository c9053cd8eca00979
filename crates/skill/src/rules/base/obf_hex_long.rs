//! Many bytes in hexadecimal escapes.

use crate::rules::rule::{Category, Check, Rule, Severity, text};
use crate::text::unit::ANYWHERE;

pub(super) const RULE: Rule = Rule {
    id: "OBF_HEX_LONG",
    category: Category::Obfuscation,
    severity: Severity::Warning,
    title: "long text in hexadecimal escapes",
    why: "Nobody reads such a text, and programs do.",
    fix: "write the text itself",
    places: ANYWHERE,
    anchors: &["\\x"],
    check: Check::Pattern {
        finds: r"(?:\\{1,2}x[0-9a-f]{2}){20}(?:\\{1,2}x[0-9a-f]{2}){0,480}",
        unless: &[],
    },
    hits: &[text(r"\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41")],
    misses: &[
        text(r"\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41\x41"),
        text(r"\x1b[31m"),
    ],
};
