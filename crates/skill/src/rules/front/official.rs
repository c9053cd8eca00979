//! A name that sounds as if a known publisher had published the skill.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::found_in_front;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::scan::compiled;
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRONT_OFFICIAL",
    category: Category::Front,
    severity: Severity::Note,
    title: "a name that sounds official",
    why: "Anybody can call a skill so; a name proves nothing about who wrote it.",
    fix: "look at who publishes the skill",
    places: ANYWHERE,
    anchors: words!["\nname:"],
    check: Check::Skill(hits),
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    found_in_front(skill, FINDS.as_ref())
}

static FINDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r#"^name:[ \t]*["']?(?:(?:anthropic|claude|openai|chatgpt|google|microsoft|github)-[a-z0-9-]+|[a-z0-9-]*-official\b|official-[a-z0-9-]+)"#,
    )
});
