//! wget into a pipe.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "NET_WGET_EXEC",
    category: Category::NetworkExfil,
    severity: Severity::Warning,
    title: "a download is piped on",
    why: "What another machine sends goes straight to another program.",
    fix: "download into a file, check it against a known hash, and use the file",
    places: ANYWHERE,
    anchors: words!["wget"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if memchr::memchr(b'|', unit.text().as_bytes()).is_none() {
        return Vec::new();
    }
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let wget = step.feeders().find(|before| before.name() == "wget" && !before.words().is_empty())?;
    let severity = if step.runs_stdin() { wget.fetch()?.from.weight_of_running() } else { Severity::Note };
    Some(Hit { severity: Some(severity), ..Hit::at(step.range_from(wget)) })
}
