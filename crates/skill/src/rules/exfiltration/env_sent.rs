//! All variables go to another machine.

use crate::code::command::{Step, is_sender};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_ENVIRONMENT",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "all variables are sent to another machine",
    why: "The environment holds tokens and keys of everything that was set up on the machine.",
    fix: "remove the command",
    places: ANYWHERE,
    anchors: words![
        "\\benv |",
        "\\benv|",
        "\\benv -",
        "$(env",
        "`env",
        "printenv",
        "export -p",
        "export |",
        "set |",
        "/environ",
        "declare -",
        "\\benv >",
    ],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    if !is_sender(&step.name()) {
        return None;
    }
    let dump = step.sources().find(|from| {
        from.dumps_variables()
            || from
                .words()
                .iter()
                .any(|word| word.text.starts_with("/proc/") && word.text.ends_with("/environ"))
    })?;
    Some(Hit::at(step.range_from(dump)))
}
