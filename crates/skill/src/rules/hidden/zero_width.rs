//! Words that are cut by zero-width characters.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::clean::is_zero_width;
use crate::text::unit::ANYWHERE;
use crate::text::view::{Hidden, Skill};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_ZERO_WIDTH",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "words cut by characters that show nothing",
    why: "A word that is cut looks whole, is whole to a model, and is not found by anybody who searches for it.",
    fix: "remove the characters",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

/// Number of cuts on one line that is no accident.
const MANY: usize = 3;

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    skill.hidden().iter().flat_map(lines).collect()
}

/// One hit for each line on which plain words are cut.
fn lines(hidden: &Hidden<'_>) -> Vec<SkillHit> {
    let view = hidden.view;
    let bytes = view.text.as_bytes();
    let cuts = hidden.characters.iter().filter(|(at, c)| {
        (is_zero_width(*c) || *c == '\u{2800}') && is_between_letters(bytes, *at, c.len_utf8())
    });
    let mut hits: Vec<(usize, usize, usize)> = Vec::new();
    for (at, c) in cuts {
        let end = at + c.len_utf8();
        match hits.last_mut() {
            Some((_, last, count)) if memchr::memchr(b'\n', &bytes[*last..*at]).is_none() => {
                (*last, *count) = (end, *count + 1);
            }
            _ => hits.push((*at, end, 1)),
        }
    }
    let found = hits.into_iter().take(20).map(|(start, end, count)| SkillHit {
        entry: view.entry,
        span: view.back(start..end),
        note: Some(format!("{count} on this line")),
        severity: (count < MANY).then_some(Severity::Note),
    });
    found.collect()
}

/// Returns true if plain letters are on both sides, or further such characters and then one.
fn is_between_letters(bytes: &[u8], at: usize, length: usize) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    at > 0 && letter(bytes.get(at - 1)) && letter(bytes.get(at + length))
}
