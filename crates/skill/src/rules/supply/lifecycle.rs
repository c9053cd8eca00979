//! Scripts that a package runs while it is installed.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::SETTINGS;
use super::as_shown;
use super::deed::deed;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::scan::compiled;
use crate::text::json::{Node, in_unit};
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LIFECYCLE_SCRIPT",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a package that fetches or runs code while it is installed",
    why: "Installing runs it at once, before anybody has looked at anything.",
    fix: "install with --ignore-scripts, and do by hand what is really needed",
    places: SETTINGS,
    anchors: words![
        "\"preinstall\"",
        "\"postinstall\"",
        "\"install\"",
        "\"preuninstall\"",
        "\"postuninstall\"",
        "\"prepare\"",
        "\"prepublish\"",
    ],
    check: Check::Unit(hits),
};

const SCRIPTS: &[&str] =
    &["preinstall", "install", "postinstall", "preuninstall", "postuninstall", "prepare", "prepublish"];

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = in_unit(unit) else { return Vec::new() };
    let scripts = document.root.all("scripts").flat_map(Node::object);
    let run = scripts.filter(|(name, _)| SCRIPTS.contains(&name.text.to_ascii_lowercase().as_str()));
    run.filter_map(|(_, script)| {
        let note = does(script.text()?)?.to_owned();
        Some(Hit { range: script.inside(), note: Some(note), severity: as_shown(unit) })
    })
    .collect()
}

fn does(script: &str) -> Option<&'static str> {
    let inline = INLINE.as_ref().is_some_and(|pattern| pattern.is_match(script.as_bytes()));
    let other = OTHER.as_ref().is_some_and(|pattern| pattern.is_match(script.as_bytes()));
    deed(script)
        .or(inline.then_some("it runs code that stands in the settings"))
        .or(other.then_some("it installs another package"))
}

static INLINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:node|bun|deno)\s+(?:-e|--eval|-p|eval)\b|\bpython[0-9.]*\s+-c\b|\b(?:ba|z)?sh\s+-[a-z]*c\b|\bpowershell\b",
    )
});

static OTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|global\s+add)\b[^&;|]*(?:\s(?:-g|--global)\b|@latest\b|\bhttps?://|\bgit\+)|\byarn\s+global\s+add\b|\bpip3?\s+install\s+[a-z]",
    )
});
