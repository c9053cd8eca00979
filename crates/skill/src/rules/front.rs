//! What front matter must not ask for.

mod lookalike;
mod names;
mod official;
mod priority;
mod runs;
mod unreadable;
mod wildcard;

use crate::rule::Rule;
use crate::view::{Skill, View};

pub(super) const RULES: &[&Rule] =
    &[&wildcard::RULE, &unreadable::RULE, &runs::RULE, &lookalike::RULE, &official::RULE, &priority::RULE];

/// The files that are skills, as they came.
fn skill_files<'s, 'a>(skill: &'s Skill<'a>) -> impl Iterator<Item = &'s View<'a>> {
    skill.views.iter().filter(|view| {
        let is_skill = view.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        is_skill && view.via.is_empty() && view.maps.is_empty()
    })
}
