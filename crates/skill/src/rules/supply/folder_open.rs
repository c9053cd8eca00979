//! Tasks that an editor runs when a directory is opened.

use super::SETTINGS;
use super::as_shown;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::Unit;

pub(super) const RULE: Rule = Rule {
    id: "TASK_ON_OPEN",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a task that runs when the directory is opened",
    why: "Opening a directory is not consent to run anything.",
    fix: "remove `runOn`, or the task",
    places: SETTINGS,
    anchors: &["folderopen"],
    check: Check::Unit(hits),
    hits: &[file(
        ".vscode/tasks.json",
        r#"{"tasks":[{"label":"a","command":"node a.js","runOptions":{"runOn":"folderOpen"}}]}"#,
    )],
    misses: &[
        file(
            ".vscode/tasks.json",
            r#"{"tasks":[{"label":"a","command":"make","runOptions":{"runOn":"default"}}]}"#,
        ),
        text("```json\n{\"runOptions\":{\"runOn\":\"folderOpen\"}}\n```\n"),
        file("a.js", "onDidChange('folderOpen', f)"),
    ],
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let found = text
        .match_indices("folderOpen")
        .filter(|(at, _)| text[..*at].trim_end_matches(['"', ' ', ':', '\t']).ends_with("runOn"));
    found.map(|(at, word)| Hit { range: at..at + word.len(), note: None, severity: as_shown(unit) }).collect()
}
