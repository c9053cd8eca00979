//! The marks between the turns of a chat, as models are trained on them.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::quoted::{Use, use_of};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRAME_CHAT_TOKEN",
    category: Category::XmlBreakout,
    severity: Severity::Critical,
    title: "a mark that begins or ends a turn of a chat",
    why: "A model can take what stands behind such a mark for the words of the system or of its user.",
    fix: "remove the mark, or show it as code if the text is about it",
    places: ANYWHERE,
    anchors: words!["<|", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "_of_turn>"],
    check: Check::Unit(check),
};

static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let marks = r"<\|(?:im_start|im_end|im_sep|endoftext|endofprompt|system|user|assistant|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|end_of_text|channel|start|end|message|tool_call|tool_response|python_tag)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>";
    RegexBuilder::new(marks).case_insensitive(true).unicode(false).build().ok()
});

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let (text, Some(marks)) = (unit.text(), MARKS.as_ref()) else { return Vec::new() };
    let is_template = unit.place == Place::Value && (text.contains("{%") || text.contains("{{"));
    let found = marks.find_iter(text.as_bytes()).take(20).map(|mark| {
        let used = if is_template || is_of_tokenizer(unit) { Use::Shown } else { said(unit, mark.range()) };
        Hit { severity: used.severity(), ..Hit::at(mark.range()) }
    });
    found.collect()
}

/// Returns the use of a mark; one that is followed by a role or a text is used, also within a sentence.
fn said(unit: &Unit<'_>, mark: std::ops::Range<usize>) -> Use {
    let used = use_of(unit, mark.start);
    let rest = unit.text().get(mark.end..).unwrap_or_default().trim_start().to_ascii_lowercase();
    let role = ["system", "user", "assistant", "developer"].iter().any(|role| rest.starts_with(role));
    match used {
        Use::Named if role => Use::Used,
        Use::Used if !role && rest.split_ascii_whitespace().take(2).count() < 2 => Use::Named,
        used => used,
    }
}

/// Returns true if the file belongs to a model: such files list the marks.
fn is_of_tokenizer(unit: &Unit<'_>) -> bool {
    let name = unit.view.path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.contains("token") && unit.view.path.extension().is_some_and(|extension| extension == "json")
}
