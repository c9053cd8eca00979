//! A hidden or temporary file is read and run.

use crate::code::fact::{Access, Fact, FactKind, Ran};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_HIDDEN_FILE_RUN",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "a hidden or temporary file is read and run as code",
    why: "The code stands where nobody looks, and anybody can have put it there.",
    fix: "import the code from the skill itself",
    places: ANYWHERE,
    anchors: words!["eval(", "exec("],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::flowing(unit, is_hidden_run)
}

fn is_hidden_run(source: &Fact, sink: &Fact) -> bool {
    let FactKind::Path { path, access: Access::Read } = &source.what else { return false };
    let hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.') && name.len() > 2);
    let shared = ["/tmp/", "/var/tmp/", "/dev/shm/", "~/.cache/"].iter().any(|start| path.starts_with(start));
    (hidden || shared) && matches!(sink.what, FactKind::Runs(Ran::Code | Ran::Objects))
}
