//! A skill that gives itself every tool.

use crate::rules::rule::{Category, Check, Rule, Severity, file, text};
use crate::text::unit::{Place, Places};

pub(super) const RULE: Rule = Rule {
    id: "FRONT_WILDCARD",
    category: Category::Front,
    severity: Severity::Warning,
    title: "a skill that wants every tool",
    why: "Tools in front matter are approved in advance. A skill that names all of them wants nobody to be asked.",
    fix: "name the tools that the skill needs",
    places: Places::of(&[Place::Front, Place::Prose, Place::Script]),
    anchors: &["allowed-tools", "allowedtools", "allowed_tools"],
    check: Check::Pattern {
        finds: r#"^[ \t]*["']?allowed[-_]?tools["']?[ \t]*:[ \t]*(?:[\["' \t]*\*["'\], \t]*$|(?:\r?\n[ \t]*-[^\n]*){0,40}?\r?\n[ \t]*-[ \t]*["']?(?:\*|Bash\(\*\))["']?[ \t]*$|[^\n]*\bBash\(\*\))"#,
        unless: &[],
    },
    hits: &[
        text("allowed-tools: '*'\n"),
        text("---\nname: a\nallowed-tools: \"*\"\n---\n"),
        text("---\nname: a\nallowed-tools: [*]\n---\n"),
        text("---\nname: a\nallowedTools:\n  - read\n  - '*'\n---\n"),
        text("---\nname: a\nallowed-tools: Read Bash(*)\n---\n"),
    ],
    misses: &[
        text("---\nname: a\nallowed-tools: Read Bash(git:*)\n---\n"),
        text("---\nname: a\nallowed-tools:\n  - Bash\n  - mcp__a__*\n---\n"),
        text("Set `allowed-tools` to what you need; `*` means all."),
        file("a.py", "allowed_tools = ['*']"),
    ],
};
