//! The name of a program is put together out of pieces.

use crate::finding::Via;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::decode::{MADE, is_hidden_name};
use crate::text::unit::{ANYWHERE, Unit};
use crate::text::view::Skill;
use crate::tree::Content;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_ASSEMBLED",
    category: Category::Obfuscation,
    severity: Severity::Critical,
    title: "the name of a program is put together out of pieces",
    why: "A command is written in pieces so that nobody finds it by looking for it. Whoever wants it to be read writes it in one.",
    fix: "write the command itself",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(hits),
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    let made =
        skill.views.iter().enumerate().filter(|(_, view)| view.via.last() == Some(&Via::Decoded(MADE)));
    made.flat_map(|(number, _)| skill.units(number)).flat_map(|unit| in_unit(skill, unit)).take(20).collect()
}

fn in_unit(skill: &Skill<'_>, unit: &Unit<'_>) -> Vec<SkillHit> {
    let Some(Content::File { bytes, .. }) =
        skill.tree.entries.get(unit.view.entry).map(|entry| &entry.content)
    else {
        return Vec::new();
    };
    let mut hits = Vec::new();
    for step in unit.commands().steps() {
        let Some(word) = step.program.argv.words().first() else { continue };
        let name = step.name();
        let range = unit.range.start + word.span.start as usize..unit.range.start + word.span.end as usize;
        let span = unit.view.back(range);
        let written = bytes.get(span.clone()).unwrap_or_default();
        let is_written = memchr::memmem::find(written, name.as_bytes()).is_some();
        if is_hidden_name(&name) && !written.is_empty() && !is_written {
            let note = Some(format!("it is `{name}`"));
            hits.push(SkillHit { entry: unit.view.entry, span, note, severity: None });
        }
    }
    hits
}
