//! Commands that run when a skill is loaded.

use super::super::supply::deed;
use crate::finding::Via;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRONT_RUNS",
    category: Category::Front,
    severity: Severity::Critical,
    title: "a command that runs when the skill is loaded, and does more than look",
    why: "Agents run hooks in front matter, and commands behind an exclamation mark, by themselves when they load the skill.",
    fix: "remove the command, or write it down as a step that the agent is asked for",
    places: ANYWHERE,
    anchors: words!["!`", "```!", "hooks:"],
    check: Check::Skill(hits),
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    let on_load = |via: &Via| matches!(via, Via::Value(value) if value == "run on load" || value == "hooks");
    let views = skill.views.iter().filter(|view| view.via.last().is_some_and(on_load));
    views
        .filter_map(|view| {
            let note = deed(&view.text)?.to_owned();
            Some(SkillHit {
                entry: view.entry,
                span: view.back(0..view.text.len()),
                note: Some(note),
                severity: None,
            })
        })
        .collect()
}
