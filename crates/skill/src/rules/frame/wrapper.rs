//! The tags that agents put around skills, results of tools and reminders.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::quoted::{Use, use_of};
use crate::finding::Via;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRAME_WRAPPER_TAG",
    category: Category::XmlBreakout,
    severity: Severity::Critical,
    title: "a tag of the frame that skills are put into",
    why: "Behind it a model can take the rest for words of the system, of its user or of a tool.",
    fix: "remove the tag, or show it as code if the text is about it",
    places: ANYWHERE,
    anchors: words![
        "/skill",
        "/ skill",
        "/agent_skill",
        "/agent-skill",
        "system-reminder",
        "system_reminder",
        "system_prompt",
        "system-prompt",
        "system_instruction",
        "system-instruction",
        "system_message",
        "system-message",
        "function_calls",
        "function_results",
        "tool_results",
        "tool_response",
        "tool_call",
        "tool_use",
        "assistant>",
        "human>",
        "user_query",
        "user_message",
        "developer_message",
        "invoke",
        "antml:",
    ],
    check: Check::Unit(check),
};

static TAGS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let tags = r"<\s*/\s*(?:agent[_-])?skills?(?:[_-](?:content|body|instructions))?\s*>|<\s*/?\s*(?:system[_-](?:reminder|prompt|instructions?|message)|function_(?:calls|results)|tool_(?:results|response|call|use)|assistant|human|user_(?:query|message)|developer_message|antml:[a-z_]+)(?:\s[^<>]{0,100})?>|<\s*/?\s*invoke(?:\s+name\s*=[^<>]{0,100})?\s*>";
    RegexBuilder::new(tags).case_insensitive(true).unicode(false).build().ok()
});

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let (text, Some(tags)) = (unit.text(), TAGS.as_ref()) else { return Vec::new() };
    let found = tags.find_iter(text.as_bytes()).take(20).map(|tag| {
        let severity = severity(unit, tag.range());
        Hit { severity, ..Hit::at(tag.range()) }
    });
    found.collect()
}

fn severity(unit: &Unit<'_>, tag: std::ops::Range<usize>) -> Option<Severity> {
    let text = unit.text();
    let name: String =
        text[tag.clone()].chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    let used = use_of(unit, tag.start);
    // A text that opens the tag itself closes only its own tag.
    let own = text[tag.clone()].contains('/')
        && name.to_ascii_lowercase().starts_with("skill")
        && is_opened(unit, &name);
    // Written with entities, it is shown on every page; only a reader that decodes it can be misled.
    let decoded = unit.view.via.contains(&Via::Decoded("entities"));
    match used {
        Use::Used if own => Some(Severity::Note),
        Use::Used if decoded => Some(Severity::Warning),
        used => used.severity(),
    }
}

/// Number of bytes before a closing tag that are searched for its opening.
const MAX_BEFORE: usize = 8 << 10;

/// Returns true if the same tag is opened within [`MAX_BEFORE`] bytes before.
fn is_opened(unit: &Unit<'_>, name: &str) -> bool {
    let before = &unit.view.text.as_bytes()[unit.range.end.saturating_sub(MAX_BEFORE)..unit.range.end];
    memchr::memmem::find(before, format!("<{name}").as_bytes()).is_some()
}
