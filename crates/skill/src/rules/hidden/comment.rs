//! Comments and titles that give instructions.

use super::spoken;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{Place, Places, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_INSTRUCTION",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "an instruction where nobody sees it",
    why: "A page does not show comments and titles. A model reads them like everything else.",
    fix: "say it in the text, or remove it",
    places: Places::of(&[Place::Comment, Place::Title]),
    anchors: words![
        "<!--",
        "[//]:",
        "ignore",
        "disregard",
        "override",
        "bypass",
        "forget",
        "curl",
        "wget",
        "base64",
        "/dev/tcp",
        "not tell",
        "silently",
        "secretly",
        "without telling",
        "without asking",
        "credential",
        "api key",
        "password",
        ".ssh",
        ".env",
        "system prompt",
    ],
    check: Check::Requiring(&[&NEAR, &spoken::SAID], check),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases =
    Phrases::new(words![r"<!--|\]:|\]\s?\((?:<[^>]*>|[^)])*?\s[\x22'(]|(?:```|~~~)[^\n`]*[ \t]\S"]);

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    match spoken::severity(text) {
        Some(severity) => vec![Hit { severity: Some(severity), ..Hit::at(0..text.len()) }],
        None => Vec::new(),
    }
}
