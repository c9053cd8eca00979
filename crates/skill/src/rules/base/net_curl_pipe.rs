//! curl into an interpreter.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "NET_CURL_PIPE",
    category: Category::NetworkExfil,
    severity: Severity::Warning,
    title: "a download is piped to an interpreter",
    why: "What another machine sends is run, and nobody has seen it before.",
    fix: "download into a file, check it against a known hash, and run the file",
    places: ANYWHERE,
    anchors: words!["curl"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if memchr::memchr(b'|', unit.text().as_bytes()).is_none() {
        return Vec::new();
    }
    unit.commands().steps().filter(|step| step.runs_stdin()).filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let curl = step.feeders().find(|before| before.name() == "curl" && !before.words().is_empty())?;
    let severity = curl.fetch()?.from.weight_of_running();
    Some(Hit { severity: Some(severity), ..Hit::at(step.range_from(curl)) })
}
