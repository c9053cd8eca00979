//! Hooks in settings: commands that an agent runs by itself.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::SETTINGS;
use super::deed::deed;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::scan::compiled;
use crate::text::unit::{Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "SETTINGS_HOOK",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a hook that fetches, sends or runs code",
    why: "An agent runs hooks by itself, on events, without asking; they stay when the skill has gone.",
    fix: "remove the hook",
    places: SETTINGS,
    anchors: words![
        "pretooluse",
        "posttooluse",
        "sessionstart",
        "userpromptsubmit",
        "\"stop\"",
        "\"notification\"",
        "sessionend",
        "beforeshellexecution",
    ],
    check: Check::Unit(hits),
};

/// Reads line by line and not as JSON: a hook that is hidden behind a superfluous quote is found too.
fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let (Some(command), text) = (COMMAND.as_ref(), unit.text()) else { return Vec::new() };
    if memchr::memmem::find(text.as_bytes(), b"hooks").is_none() {
        return Vec::new();
    }
    // A shown hook is an example, unless it also turns off every confirmation.
    let approves = text.contains("bypassPermissions") || text.contains("skipDangerousMode");
    let severity = (unit.place == Place::Fence && !approves).then_some(Severity::Note);
    let found = command.captures_iter(text.as_bytes()).filter_map(|found| found.get(1));
    found
        .filter_map(|code| {
            let note = deed(&String::from_utf8_lossy(code.as_bytes()).replace("\\\"", "\""))?.to_owned();
            Some(Hit { range: code.range(), note: Some(note), severity })
        })
        .collect()
}

static COMMAND: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r#""(?:command|bash)"\s*:\s*"([^\n]*?)"\s*(?:[,}\]]|\r?\n)"#));
