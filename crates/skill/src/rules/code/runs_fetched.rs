//! The response from an address is run.

use crate::code::fact::{Fact, FactKind, HostKind, Ran};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{Place, Places, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_RUNS_FETCHED",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "what an address answers is run",
    why: "Whoever answers decides what runs, today and tomorrow. Nothing of it can be read beforehand.",
    fix: "put the code into the skill",
    places: Places::of(&[
        Place::Fence,
        Place::Script,
        Place::Inline,
        Place::Prose,
        Place::Value,
        Place::Comment,
    ]),
    anchors: words![
        "eval(",
        "exec(",
        "new function",
        "execsync",
        "os.system",
        "subprocess",
        "pickle",
        "marshal",
        "\\biex",
        "os.popen",
        "invoke-expression",
        "runin",
        "child_process",
        "doshellscript",
        "system(",
        "getattr(",
        "__import__(",
        "eval)",
        "\\beval ",
    ],
    check: Check::Unit(check),
};

patterns! {
    FETCHES = r"\b(?:curl|wget|http|https|xh|curlie)\b";
}

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    // Plain commands are examined by the rules about downloads; code that one of them is given to run is not.
    if unit.language == crate::text::language::Language::Shell && super::is_plain_shell(unit) {
        let text = unit.text();
        let by_name =
            |fact: &Fact| text.get(fact.range.clone()).is_some_and(|call| !FETCHES.is_match(call.as_bytes()));
        let flows = unit.reading().flowing().filter(|(source, sink, _)| {
            fetched_runs(source, sink) && (source.range == sink.range || by_name(source))
        });
        let mut hits: Vec<Hit> = flows.map(|(_, sink, _)| Hit::at(sink.range.clone())).collect();
        hits.dedup();
        return hits;
    }
    super::flowing(unit, fetched_runs)
}

fn fetched_runs(source: &Fact, sink: &Fact) -> bool {
    let FactKind::Fetches(from) = &source.what else { return false };
    let runs =
        matches!(&sink.what, FactKind::Runs(Ran::Code | Ran::Objects | Ran::Command { shell: true, .. }));
    runs && from.kind() != HostKind::Local && !super::is_installer(from)
}
