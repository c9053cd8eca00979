//! A skill that gives itself every tool.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::{Place, Places};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "FRONT_WILDCARD",
    category: Category::Front,
    severity: Severity::Warning,
    title: "a skill that wants every tool",
    why: "Tools in front matter are approved in advance. A skill that names all of them wants nobody to be asked.",
    fix: "name the tools that the skill needs",
    places: Places::of(&[Place::Front, Place::Prose, Place::Script]),
    anchors: words!["allowed-tools", "allowedtools", "allowed_tools"],
    check: Check::Pattern {
        finds: r#"^[ \t]*["']?allowed[-_]?tools["']?[ \t]*:[ \t]*(?:[\["' \t]*\*["'\], \t]*$|(?:\r?\n[ \t]*-[^\n]*){0,40}?\r?\n[ \t]*-[ \t]*["']?(?:\*|Bash\(\*\))["']?[ \t]*$|[^\n]*\bBash\(\*\))"#,
        unless: &[],
    },
};
