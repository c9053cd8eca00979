//! Tags by which models tell who speaks.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "XML_SYSTEM_TAG",
    category: Category::XmlBreakout,
    severity: Severity::Critical,
    title: "tag that only the system writes",
    why: "A model may take what stands in such a tag for the word of whoever runs it.",
    fix: "remove the tag, or write it with entities",
    places: ANYWHERE,
    anchors: words![
        "<system",
        "</system",
        "< system",
        "</ system",
        "< /system",
        "<tool_",
        "</tool_",
        "< tool_",
        "</ tool_",
        "<function_",
        "</function_",
        "< function_",
        "</ function_",
    ],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r"<\s*/?\s*(?:system(?:[-_](?:reminder|prompt|message|instructions?))?|tool_results?|function_(?:calls?|results?)|tool_(?:use|calls?))(?:\s[^<>\n]{0,200})?>";
}

/// Finds such tags; in code, and as a placeholder for a word (`the <system> shall`), a tag is an example.
fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let is_code = matches!(unit.place, Place::Fence | Place::Script | Place::Inline);
    FOUND
        .find_iter(text)
        .take(20)
        .map(|found| {
            let is_example = is_code
                || unit.is_in_code(found.start())
                || stands_for_a_word(text, found.range())
                || stands_alone(unit);
            Hit { severity: is_example.then_some(Severity::Note), ..Hit::at(found.range()) }
        })
        .collect()
}

/// Returns true for `<system>` between words of a sentence, without a closing tag.
fn stands_for_a_word(text: &[u8], range: std::ops::Range<usize>) -> bool {
    let tag = &text[range.clone()];
    let before = text[..range.start].last();
    let after = text.get(range.end);
    let closes = memchr::memmem::find(&text[range.end..], b"</").is_some();
    &*tag.to_ascii_lowercase() == b"<system>"
        && before == Some(&b' ')
        && after.is_none_or(|after| b" ,.".contains(after))
        && !closes
}

/// An opening tag within a line of text is a separate unit; its paragraph is examined as well.
fn stands_alone(unit: &Unit<'_>) -> bool {
    unit.place == Place::Html
        && !unit.text().contains('\n')
        && unit.text().len() < 60
        && unit.before(1) == " "
}
