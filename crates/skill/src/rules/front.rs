//! Requests that front matter must not make.

mod lookalike;
mod names;
mod official;
mod priority;
mod runs;
mod unreadable;
mod wildcard;

use std::ops::Range;

use regex::bytes::Regex;

use crate::rules::rule::{Rule, SkillHit};
use crate::text::markdown::front_matter;
use crate::text::view::{Skill, View};

pub(super) const RULES: &[&Rule] =
    &[&wildcard::RULE, &unreadable::RULE, &runs::RULE, &lookalike::RULE, &official::RULE, &priority::RULE];

/// Returns the files that are skills, undecoded.
fn skill_files<'s, 'a>(skill: &'s Skill<'a>) -> impl Iterator<Item = &'s View<'a>> {
    skill.views.iter().filter(|view| {
        let is_skill = view.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        is_skill && view.via.is_empty() && view.maps.is_empty()
    })
}

/// Returns the range of the name of a skill, read line by line: much cheaper than YAML, and enough for a name.
fn name_in(text: &str) -> Option<Range<usize>> {
    let front = front_matter(text)?;
    let mut at = front.start;
    for line in text[front].split_inclusive('\n') {
        if let Some(value) = line.strip_prefix("name:") {
            let name = value.trim().trim_matches(['"', '\'']);
            let start = at + line.len() - value.len() + value.find(name).unwrap_or(0);
            return Some(start..start + name.len());
        }
        at += line.len();
    }
    None
}

/// Returns the matches of an expression in front matter.
fn found_in_front(skill: &Skill<'_>, pattern: Option<&Regex>) -> Vec<SkillHit> {
    let Some(pattern) = pattern else { return Vec::new() };
    skill_files(skill)
        .filter_map(|view| {
            let front = front_matter(&view.text)?;
            let found = pattern.find(view.text[front.clone()].as_bytes())?;
            let span = front.start + found.start()..front.start + found.end();
            Some(SkillHit { entry: view.entry, span, note: None, severity: None })
        })
        .collect()
}
