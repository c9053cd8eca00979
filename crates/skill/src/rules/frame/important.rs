//! A block that calls itself important and asks for secrets or silence.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::PROSE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRAME_IMPORTANT",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "a block that calls itself important and asks for secrets or silence",
    why: "Descriptions of tools are not shown to the user. A block like this in them is how tools are poisoned.",
    fix: "remove the block",
    places: PROSE,
    anchors: words![
        "important>",
        "critical>",
        "mandatory>",
        "<secret>",
        "<hidden>",
        "<instructions>",
        "override>",
        "system-note>",
    ],
    check: Check::Pattern {
        finds: r"<\s*(?:extremely[_-])?(?:important|critical|mandatory|secret|hidden|instructions|override|system-note|admin)\s*>[^<]{0,1200}?(?:~/\.|id_rsa|\.ssh/|\.aws/|\.env\b|/etc/passwd|mcp\.json|api[ _]?keys?\b|credentials?\b|(?:do\s+not|don't|never)\s+(?:tell|mention|inform|notify|reveal)|without\s+(?:telling|informing|asking|notifying)|(?:session|user|conversation|private)\s+data[^<]{0,80}(?:send|post|forward|upload|https?://)|(?:send|post|forward|upload)[^<]{0,120}https?://)",
        unless: &[],
    },
};
