//! Files that a shell runs when it starts, and files that git runs.

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_SHELL_START",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "code is added that runs with every shell",
    why: "Fetching or decoding code at every start of a shell is a way to come back, not a setting.",
    fix: "add nothing but settings, and let a person do it",
    places: CODE,
    anchors: words!["bashrc", "zshrc", "profile", "config.fish", "git/hooks", "zshenv"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::holds(unit, &[Hold::Shell, Hold::GitHook], severity)
}

fn severity(_: &str, text: &str) -> Severity {
    let hijack =
        ["alias sudo", "alias ssh", "alias git=", "sudo()", "ssh()"].iter().any(|sign| text.contains(sign));
    if hijack || super::is_suspect(text) { Severity::Critical } else { Severity::Note }
}
