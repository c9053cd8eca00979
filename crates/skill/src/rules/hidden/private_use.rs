//! Private-use characters, whose meaning depends on the font.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::{Skill, View};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_PRIVATE_USE",
    category: Category::HiddenText,
    severity: Severity::Warning,
    title: "a run of characters that no standard gives a meaning",
    why: "Nobody can say what such characters mean to whoever reads them; a few are symbols of a font, a run of them is a text.",
    fix: "write the text in letters",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

/// Number of such characters in a row that count as a text.
const MANY: usize = 8;

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let came = skill.views.iter().filter(|view| view.is_as_it_came() && !view.text.is_ascii());
    came.filter_map(first).collect()
}

fn first(view: &View<'_>) -> Option<SkillHit> {
    let (mut start, mut count) = (0, 0);
    // All of them begin with one of these bytes.
    let from = memchr::memchr3(0xee, 0xef, 0xf3, view.text.as_bytes())
        .or_else(|| memchr::memchr(0xf4, view.text.as_bytes()))?;
    for (at, c) in view.text.get(from..)?.char_indices() {
        if !matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}') {
            count = 0;
            continue;
        }
        if count == 0 {
            start = from + at;
        }
        count += 1;
        if count == MANY {
            let span = view.back(start..from + at + c.len_utf8());
            return Some(SkillHit { entry: view.entry, span, note: None, severity: None });
        }
    }
    None
}
