//! Timers and units of the system.

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_TIMER",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "code is made to run again and again",
    why: "A timer that fetches, decodes or runs hidden files keeps a way in open.",
    fix: "let a person set up timers, with commands that stand in files",
    places: CODE,
    anchors: words!["cron", "systemctl", "launchctl", "launchagents", "systemd", "schtasks", "launchdaemons"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let mut hits = super::holds(unit, &[Hold::Timer], severity);
    if fetches_program(unit.text()) || !hits.is_empty() && super::keeps_fetched(unit) {
        for hit in &mut hits {
            hit.severity = None;
        }
    }
    hits
}

fn severity(what: &str, text: &str) -> Severity {
    if super::is_suspect(text) || super::is_suspect(what) { Severity::Critical } else { Severity::Note }
}

/// Returns true if the program that is started from then on was fetched just before.
fn fetches_program(text: &str) -> bool {
    let fetches = text.contains("curl ") || text.contains("wget ");
    fetches && (text.contains("chmod +x") || text.contains("chmod 7"))
}
