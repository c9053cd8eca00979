//! Archives that write where they should not, or that cannot be inspected.

use crate::archive::ArchiveError;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_ARCHIVE",
    category: Category::Tree,
    severity: Severity::Critical,
    title: "an archive that cannot be trusted",
    why: "Names that lead upwards write over other files where the archive is unpacked; one that grows without end fills the disk.",
    fix: "ship what is in it as files",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let hit = |entry, note, severity| SkillHit { entry, span: 0..0, note: Some(note), severity };
    let read = skill.archives.iter().filter_map(|archive| match &archive.inside {
        Ok(inside) => {
            let out = inside.iter().find(|one| one.leads_out).map(|one| (one, "leads out of it", None));
            let unread = inside
                .iter()
                .find(|one| one.unread)
                .map(|one| (one, "cannot be read", Some(Severity::Warning)));
            let (one, what, severity) = out.or(unread)?;
            Some(hit(archive.entry, format!("{} {what}", policy::Shown::text(&one.name)), severity))
        }
        Err(error @ (ArchiveError::Damaged(_) | ArchiveError::TooDeep)) => Some(hit(
            archive.entry,
            policy::Shown::text(&error.to_string()).to_string(),
            Some(Severity::Warning),
        )),
        Err(error) => Some(hit(archive.entry, error.to_string(), None)),
    });
    let entries = skill.tree.entries.iter().enumerate();
    let closed = entries.filter_map(|(entry, found)| {
        let Content::File { bytes, .. } = &found.content else { return None };
        let closed = bytes.starts_with(b"Rar!\x1a\x07") || bytes.starts_with(b"7z\xbc\xaf\x27\x1c");
        closed
            .then(|| hit(entry, String::from("archives of this kind are not read"), Some(Severity::Warning)))
    });
    read.chain(closed).take(100).collect()
}
