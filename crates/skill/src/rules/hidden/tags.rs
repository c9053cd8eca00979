//! Tag characters: a second alphabet that nothing shows and every model reads.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::clean::is_tag;
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_TAGS",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "text in characters that nothing shows",
    why: "Tag characters spell out a text that no editor and no page shows, while a model reads it like any other.",
    fix: "remove the characters; only three flags need them",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

/// Maximum number of characters of the text that are shown.
const MAX_SHOWN: usize = 200;

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let mut hits = Vec::new();
    for hidden in skill.hidden() {
        let tags: Vec<(usize, char)> =
            hidden.characters.iter().filter(|(_, c)| is_tag(*c)).copied().collect();
        let (Some((first, _)), Some((last, _))) = (tags.first(), tags.last()) else { continue };
        let said: String = tags.iter().filter_map(|(_, tag)| plain(*tag)).take(MAX_SHOWN).collect();
        hits.push(SkillHit {
            entry: hidden.view.entry,
            span: hidden.view.back(*first..last + 4),
            note: Some(format!("it says: {}", policy::Shown::text(&said))),
            severity: None,
        });
    }
    hits
}

/// Returns the letter that a tag character encodes.
fn plain(tag: char) -> Option<char> {
    char::from_u32(u32::from(tag).checked_sub(0xe0000)?).filter(|c| !c.is_control())
}
