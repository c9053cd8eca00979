//! Tasks that an editor runs when a directory is opened.

use super::SETTINGS;
use super::as_shown;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "TASK_ON_OPEN",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a task that runs when the directory is opened",
    why: "Opening a directory is not consent to run anything.",
    fix: "remove `runOn`, or the task",
    places: SETTINGS,
    anchors: words!["folderopen"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let found = text
        .match_indices("folderOpen")
        .filter(|(at, _)| text[..*at].trim_end_matches(['"', ' ', ':', '\t']).ends_with("runOn"));
    found.map(|(at, word)| Hit { range: at..at + word.len(), note: None, severity: as_shown(unit) }).collect()
}
