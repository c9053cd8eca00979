//! Archives that need a password: nobody looks into them on the way.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit, file, made};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Tree;

pub(super) const RULE: Rule = Rule {
    id: "TREE_SEALED_ARCHIVE",
    category: Category::Tree,
    severity: Severity::Critical,
    title: "an archive that needs a password",
    why: "The password is told to whoever is to open it, and keeps out everybody who would look into it before.",
    fix: "ship what is in it as files",
    places: ANYWHERE,
    anchors: &[],
    check: Check::Skill(check),
    hits: &[made(|| Tree::of_file("tool.zip", SEALED))],
    misses: &[
        file("a.md", "text"),
        made(|| Tree::of_file("empty.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")),
    ],
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

/// An archive with one file `a` of one byte, with the flag that it is encrypted.
const SEALED: &[u8] = b"PK\x03\x04\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0axPK\x01\x02\x14\0\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0aPK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x20\0\0\0\0\0";
