//! `eval('…')`.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXEC_EVAL",
    category: Category::ExecInjection,
    severity: Severity::Critical,
    title: "text is evaluated as code",
    why: "What is evaluated is code that does not stand there as code, so that nobody reads it as such.",
    fix: "write the code itself",
    places: ANYWHERE,
    anchors: words!["eval(", "eval ("],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r#"(?:^|[^\w.])eval\s*\(\s*[ubrf]?["'`]"#;
    ACTS = r"[(\\]|import|require|fetch|http";
}

/// Finds `eval` of a quoted text: if that text only calculates, code in a fence is an example.
fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let found = FOUND.find_iter(text).take(50);
    let hit = |found: regex::bytes::Match<'_>| {
        let start = found.start()
            + usize::from(
                !text[found.start()..].starts_with(b"eval") && !text[found.start()..].starts_with(b"EVAL"),
            );
        let end = found.end();
        let rest = &text[end..text.len().min(end + 120)];
        let quoted = memchr::memchr(text[end - 1], rest).map_or(rest, |at| &rest[..at]);
        let is_example = unit.place == Place::Inline
            || unit.is_in_code(start)
            || matches!(unit.place, Place::Fence | Place::Script) && !ACTS.is_match(quoted);
        let severity = if is_example { Severity::Note } else { Severity::Critical };
        Hit { severity: Some(severity), ..Hit::at(start..end) }
    };
    found.map(hit).collect()
}
