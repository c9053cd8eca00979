//! Content that was not read to its end.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_NOT_READ",
    category: Category::Tree,
    severity: Severity::Warning,
    title: "something was not read to its end",
    why: "Whatever is beyond a limit has not been looked at, and nothing can be said about it.",
    fix: "make the file smaller, or leave it out",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let hit = |entry, note| SkillHit { entry, span: 0..0, note: Some(note), severity: None };
    let large = skill.tree.entries.iter().enumerate().filter_map(|(entry, found)| match found.content {
        Content::TooLarge { length } => Some(hit(entry, format!("the file has {length} bytes"))),
        _ => None,
    });
    let limits = skill
        .limits
        .iter()
        .map(|limit| hit(limit.entry, format!("there are more {} than are read", limit.of)));
    large.chain(limits).take(100).collect()
}
