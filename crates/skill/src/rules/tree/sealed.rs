//! Archives that need a password: they cannot be inspected in transit.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_SEALED_ARCHIVE",
    category: Category::Tree,
    severity: Severity::Critical,
    title: "an archive that needs a password",
    why: "The password is told to whoever is to open it, and keeps out everybody who would look into it before.",
    fix: "ship what is in it as files",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let sealed = skill.archives.iter().filter_map(|archive| {
        let inside = archive.inside.as_ref().ok()?;
        let first = inside.iter().find(|one| one.encrypted)?;
        let note = Some(format!("in it: {}", policy::Shown::text(&first.name)));
        Some(SkillHit { entry: archive.entry, span: 0..0, note, severity: None })
    });
    sealed.take(100).collect()
}
