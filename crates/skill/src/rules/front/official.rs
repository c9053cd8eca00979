//! A name that sounds as if somebody known had published the skill.

use crate::rule::{Category, Check, Rule, Severity, text};
use crate::unit::{Place, Places};

pub(super) const RULE: Rule = Rule {
    id: "FRONT_OFFICIAL",
    category: Category::Front,
    severity: Severity::Note,
    title: "a name that sounds official",
    why: "Anybody can call a skill so; a name proves nothing about who wrote it.",
    fix: "look at who publishes the skill",
    places: Places::of(&[Place::Front]),
    anchors: &["anthropic", "claude", "openai", "official"],
    check: Check::Pattern {
        finds: r#"^name:[ \t]*["']?(?:(?:anthropic|claude|openai|chatgpt|google|microsoft|github)-[a-z0-9-]+|[a-z0-9-]*-official\b|official-[a-z0-9-]+)"#,
        unless: &[],
    },
    hits: &[
        text("---\nname: anthropic-update\ndescription: b\n---\n"),
        text("---\nname: wallet-official\ndescription: the official one\n---\n"),
    ],
    misses: &[text("---\nname: notes\ndescription: for Claude\n---\n")],
};
