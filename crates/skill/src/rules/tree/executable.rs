//! Binary programs: a reader cannot see what they do.

use std::path::Path;

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_EXECUTABLE",
    category: Category::Tree,
    severity: Severity::Warning,
    title: "a program that nobody can read",
    why: "A skill is text, and its scripts are too. What is compiled can do anything, and nothing here looks into it.",
    fix: "ship the source, or say where the program is published and signed",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let programs = skill.tree.entries.iter().enumerate().filter_map(|(entry, found)| {
        let Content::File { bytes, .. } = &found.content else { return None };
        let kind = kind_of(bytes)?;
        let note = Some(format!("{}: {kind}", policy::Shown::path(&found.path)));
        Some(SkillHit { entry, span: 0..bytes.len().min(16), note, severity: None })
    });
    programs.take(100).collect()
}

/// Returns the kind of program that a file is, by its first bytes.
pub(super) fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] => Some("a program for Linux"),
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] => {
            Some("a program for macOS")
        }
        // Java's classes have the same first bytes, and a larger number behind them.
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0..=30, ..] => Some("a program for macOS"),
        [b'M', b'Z', rest @ ..] if rest.iter().take(64).any(|byte| *byte == 0) => {
            Some("a program for Windows")
        }
        _ => None,
    }
}

/// Returns true if a path leads into an archive that is no package of a language.
pub(super) fn is_in_archive(path: &Path) -> bool {
    let above = path.parent().into_iter().flat_map(Path::ancestors);
    above
        .filter_map(|part| part.extension()?.to_str())
        .any(|extension| matches!(extension, "zip" | "tar" | "tgz" | "gz" | "7z"))
}
