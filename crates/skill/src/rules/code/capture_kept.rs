//! Keys, screen or clipboard are recorded and kept or sent.

use crate::code::fact::{Capture, FactKind};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_CAPTURE_KEPT",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "what a person types or sees is recorded",
    why: "Whoever records every key gets every password. What is on the screen or the clipboard is no different.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: words![
        "pynput",
        "keyboard.",
        "imagegrab",
        "pyautogui",
        "pyperclip",
        "getasynckeystate",
        "setwindowshookex",
        "screencapture",
    ],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let reading = unit.reading();
    let keeps = reading
        .facts
        .iter()
        .any(|fact| matches!(fact.what, FactKind::Saves(_) | FactKind::Sends { is_upload: true, .. }));
    let mut hits = Vec::new();
    for fact in &reading.facts {
        if fact.what == FactKind::Captures(Capture::Keys) && keeps {
            hits.push(Hit::at(fact.range.clone()));
        }
    }
    for (source, sink, _) in reading.flowing() {
        if matches!(source.what, FactKind::Captures(_)) && matches!(sink.what, FactKind::Sends { .. }) {
            hits.push(Hit::at(sink.range.clone()));
        }
    }
    hits
}
