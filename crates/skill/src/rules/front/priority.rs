//! A description that wants to come first.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::found_in_front;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::scan::compiled;
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRONT_PRIORITY",
    category: Category::Front,
    severity: Severity::Warning,
    title: "a description that wants to come before everything else",
    why: "Descriptions are put before the model at every start. One that asks to be first, or to count more than others, takes over.",
    fix: "say when the skill is useful, and leave the choice to the model",
    places: ANYWHERE,
    anchors: words!["\ndescription:"],
    check: Check::Skill(hits),
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    found_in_front(skill, FINDS.as_ref())
}

static FINDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:always|must)\s+(?:be\s+)?(?:use|used|call|called|load|loaded|invoke|invoked|run|activate|activated)\s+(?:this|it|the)?\s*(?:skill|tool)?\s*(?:first\b|before\s+(?:anything|everything|any\s+other|all\s+other)|instead\s+of\s+(?:any|all|other))|\b(?:takes|has|with)\s+(?:the\s+)?(?:highest|absolute|top|maximum)\s+priority\b|\b(?:overrides?|supersedes?|replaces?)\s+(?:all\s+|any\s+)?(?:other|previous|existing)\s+(?:skills?|instructions?|rules|guidelines)",
    )
});
