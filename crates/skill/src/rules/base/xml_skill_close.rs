//! The end of the frame that a skill is put into.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "XML_SKILL_CLOSE",
    category: Category::XmlBreakout,
    severity: Severity::Critical,
    title: "end of the frame around a skill",
    why: "What stands behind it looks to a model as if it came from whoever loads skills.",
    fix: "remove the tag, or write it with entities",
    places: ANYWHERE,
    anchors: words!["available_skills", "skill_invocation", "/skill", "/ skill"],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r"<\s*/\s*(?:available_skills|skill_invocation|skill)\s*>";
    OPENED = r"<\s*(?:available_skills|skill_invocation|skill)\b[^>\n]{0,200}>";
}

/// A tag that was opened in the same piece of code closes that one.
fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let is_code = matches!(unit.place, Place::Fence | Place::Script | Place::Inline);
    let first = OPENED.find(text).map(|found| found.start());
    FOUND
        .find_iter(text)
        .take(20)
        .map(|found| {
            let is_example = unit.is_in_code(found.start())
                || is_code
                    && (first.is_some_and(|first| first < found.start()) || unit.place == Place::Inline);
            Hit { severity: is_example.then_some(Severity::Note), ..Hit::at(found.range()) }
        })
        .collect()
}
