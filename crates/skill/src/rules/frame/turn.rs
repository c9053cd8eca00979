//! A turn of a chat in the middle of a text, that changes the rules.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::PROSE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRAME_TURN",
    category: Category::XmlBreakout,
    severity: Severity::Critical,
    title: "a turn of a chat that changes the rules",
    why: "A model can take the line for one that its user or the system has written.",
    fix: "remove the line",
    places: PROSE,
    anchors: words![
        "human:",
        "system:",
        "assistant:",
        "user:",
        "developer:",
        "human**:",
        "system**:",
        "assistant**:",
        "user**:",
    ],
    check: Check::Pattern {
        finds: r"^[ \t>*#]{0,8}(?:human|system|assistant|user|developer)[ *]{0,3}:[ *]{0,3}(?:(?:please|now|from now on,?|ok,?|sure,?|hi,?)\s+)?(?:(?:ignore|disregard|forget|override)\s+(?:all|any|the|your|every|previous|prior)|you\s+are\s+now\s+(?:in\s+)?(?:an?\s+)?(?:unrestricted|developer|dan\b|jailbroken|root|admin|free)|i\s+(?:will|shall)\s+now\s+ignore|(?:all\s+)?(?:previous|prior|safety)\s+(?:instructions|rules|restrictions)\s+are\s+(?:void|lifted|disabled|revoked))",
        unless: &[],
    },
};
