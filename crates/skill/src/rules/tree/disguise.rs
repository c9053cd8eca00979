//! Files whose type differs from their names.

use std::path::Path;

use super::executable::{is_in_archive, kind_of};
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TREE_DISGUISE",
    category: Category::Tree,
    severity: Severity::Critical,
    title: "a file that is something else than its name says",
    why: "A program that is called a picture or a document, or is packed away, is meant to be opened by somebody who does not know.",
    fix: "remove the file",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let disguised = skill.tree.entries.iter().enumerate().filter_map(|(entry, found)| {
        let bytes: &[u8] = if let Content::File { bytes, .. } = &found.content { bytes } else { &[] };
        let what = disguise(&found.path, bytes)?;
        let note = Some(format!("{}: {what}", policy::Shown::path(&found.path)));
        Some(SkillHit { entry, span: 0..bytes.len().min(16), note, severity: None })
    });
    disguised.take(100).collect()
}

fn disguise(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let mut parts = name.rsplit('.');
    let (last, before) = (parts.next()?, parts.next());
    if name.chars().any(crate::text::clean::is_bidi) {
        return Some("its name turns the direction of what is shown");
    }
    if STARTS.contains(&last) {
        return Some("it starts something when it is opened");
    }
    if before.is_some_and(|before| OPENED.contains(&before.trim())) && RUN.contains(&last) {
        return Some("its name has the ending of a document before its own");
    }
    let kind = kind_of(bytes)?;
    if OPENED.contains(&last) || matches!(last, "md" | "json" | "yaml" | "yml" | "csv" | "html") {
        return Some(kind);
    }
    is_in_archive(path).then_some(kind)
}

/// Extensions of files that are opened to be viewed.
const OPENED: &[&str] = &[
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt", "rtf", "jpg", "jpeg", "png", "gif", "svg",
    "webp", "mp3", "mp4", "mov",
];

/// Extensions of files that are run when they are opened.
const RUN: &[&str] = &[
    "exe", "scr", "com", "bat", "cmd", "pif", "js", "jse", "vbs", "vbe", "wsf", "ps1", "msi", "jar", "app",
    "command",
];

/// Extensions of files that are never benign in a skill.
const STARTS: &[&str] = &[
    "lnk",
    "scr",
    "pif",
    "hta",
    "jse",
    "vbe",
    "wsf",
    "desktop",
    "url",
    "scf",
    "library-ms",
    "settingcontent-ms",
];
