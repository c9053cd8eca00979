//! Pipes, sockets, devices.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_SPECIAL",
    category: Category::Tree,
    severity: Severity::Critical,
    title: "a pipe, a socket or a device",
    why: "Nothing that a skill says is kept in one; whoever opens it talks to somebody else.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let entries = skill.tree.entries.iter().enumerate();
    let special = entries.filter(|(_, found)| found.content == Content::Special);
    special.map(|(entry, _)| SkillHit { entry, span: 0..0, note: None, severity: None }).take(100).collect()
}
