//! The response from an address is written to a file, and the file is started.

use crate::code::fact::{FactKind, HostKind};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_RUNS_SAVED",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "a file is fetched and started",
    why: "Whoever answers decides what runs, and nothing between checks what it is.",
    fix: "put the program into the skill, or check the file against a known hash",
    places: CODE,
    anchors: words![
        "urlretrieve",
        "urlopen",
        "requests.get",
        "httpx.get",
        "fetch(",
        "https.get",
        "http.get",
        "axios",
        "wget.download",
        "downloadfile",
    ],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let facts = unit.reading().facts.iter();
    let saved = facts.filter_map(|fact| match &fact.what {
        FactKind::RunsSaved(from) if from.kind() != HostKind::Local && !super::is_installer(from) => {
            Some(Hit::at(fact.range.clone()))
        }
        _ => None,
    });
    saved.take(20).collect()
}
