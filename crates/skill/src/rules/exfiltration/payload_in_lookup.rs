//! Data that was read leaves in the names that are looked up.

use crate::code::command::{Step, is_interpreter};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_DNS",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "what a command says is sent away in names that are looked up",
    why: "Looking up a name is hardly ever forbidden, and whoever owns the rest of the name reads the first part.",
    fix: "remove the command",
    places: ANYWHERE,
    anchors: words!["\\bdig ", "\\bnslookup ", "\\bhost $", "\\bhost \"$", "\\bping -"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let steps: Vec<Step<'_>> = unit.commands().steps().collect();
    // If data is encoded or read before, a variable may hold it.
    let encodes =
        steps.iter().any(|step| matches!(step.name().as_str(), "base64" | "base32" | "xxd" | "od" | "gzip"));
    steps.into_iter().filter_map(|step| hit(step, encodes)).take(20).collect()
}

fn hit(step: Step<'_>, encodes: bool) -> Option<Hit> {
    if !matches!(step.name().as_str(), "dig" | "nslookup" | "host" | "ping") {
        return None;
    }
    let joined = step.words().iter().find(|word| {
        let spelled = step.spelled(word);
        let variable = spelled.contains('$') || spelled.contains('`');
        // The rest of the name follows the inserted data.
        !word.is_literal()
            && variable
            && word.text.trim_end_matches('"').contains('.')
            && spelled.rsplit([')', '}', '`']).next().is_some_and(|rest| rest.contains('.'))
    })?;
    let spelled = step.spelled(joined);
    let runs = spelled.contains("$(") || spelled.contains('`');
    let reads = step.substituted().any(|inner| !is_interpreter(&inner.name()));
    (runs && reads || encodes).then(|| Hit::at(step.range()))
}
