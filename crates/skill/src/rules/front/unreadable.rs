//! Front matter that cannot be read.

use super::skill_files;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::front::Front;
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRONT_UNREADABLE",
    category: Category::Front,
    severity: Severity::Warning,
    title: "front matter that cannot be read",
    why: "What a reader refuses, another may understand in its own way: tools, hooks and a description that nobody has seen.",
    fix: "repair the front matter; put texts with colons in quotes",
    places: ANYWHERE,
    anchors: words!["\ndescription:", "\nallowed-tools:", "\nhooks:", "\nname:"],
    check: Check::Skill(hits),
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    let errors = skill_files(skill).filter_map(|view| Some((view, Front::read(&view.text).err()?)));
    errors
        .map(|(view, error)| {
            let at = error.spot().byte;
            // A superfluous colon is a common mistake; other errors can hide content.
            let common = matches!(error, crate::text::front::FrontError::Syntax { ref message, .. } if message.contains("mapping values"));
            let severity = common.then_some(Severity::Note);
            SkillHit { entry: view.entry, span: at..at, note: Some(error.to_string()), severity }
        })
        .collect()
}
