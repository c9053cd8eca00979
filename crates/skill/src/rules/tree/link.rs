//! Links that lead out of the skill.

use std::path::{Component, Path};

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_LINK_OUT",
    category: Category::Tree,
    severity: Severity::Critical,
    title: "a link that leads out of the skill",
    why: "Whoever reads or writes the file in the skill reads or writes another one.",
    fix: "put the file itself into the skill",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let links = skill.tree.entries.iter().enumerate().filter_map(|(entry, found)| {
        let Content::Link { target } = &found.content else { return None };
        let note = Some(format!("{} -> {}", policy::Shown::path(&found.path), policy::Shown::path(target)));
        leads_out(&found.path, target).then_some(SkillHit { entry, span: 0..0, note, severity: None })
    });
    links.take(100).collect()
}

fn leads_out(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    for part in target.components() {
        match part {
            Component::Normal(name) if name == "~" => return true,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}
