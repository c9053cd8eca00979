//! Data is encoded on its way to another machine.

use crate::code::command::{Step, is_sender};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_ENCODED_PIPED",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "what is sent is encoded first",
    why: "Data for a service is sent as it is. Encoding it on the way hides it from whoever looks at the connection.",
    fix: "send plain data, or remove the command",
    places: ANYWHERE,
    anchors: words!["base64", "xxd", "\\bod -"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    unit.commands().steps().filter_map(hit).take(20).collect()
}

/// Finds a sender whose input comes from an encoder that reads from another source.
fn hit(step: Step<'_>) -> Option<Hit> {
    if !is_sender(&step.name()) {
        return None;
    }
    let encoder = step.feeders().find(|from| {
        let decodes =
            from.has_short('d') || from.has_short('D') || from.has("--decode") || from.has_short('r');
        matches!(from.name().as_str(), "base64" | "xxd" | "od" | "base32") && !decodes
    })?;
    let first = encoder.feeders().last()?;
    Some(Hit::at(step.range_from(first)))
}
