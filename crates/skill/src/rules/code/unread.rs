//! A script that is too long or too deep to be read to its end.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_UNREAD",
    category: Category::Obfuscation,
    severity: Severity::Warning,
    title: "a script is too long to be read to its end",
    why: "What lies behind the limit was not looked at. Nobody can say what it does.",
    fix: "divide the script, or leave out what was generated",
    places: CODE,
    anchors: words![
        "environ",
        "process.env",
        "subprocess",
        "child_process",
        "eval(",
        "exec(",
        "os.system",
        "base64",
    ],
    check: Check::Requiring(&[&NEAR], check),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases = Phrases::new(words![r"subprocess|child_process|system|popen|exec|spawn|\s-[ce]"]);

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    if unit.reading().is_cut { vec![Hit::at(0..0)] } else { Vec::new() }
}
