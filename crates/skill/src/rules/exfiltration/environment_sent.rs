//! The whole environment is sent.

use crate::code::fact::SENDS;
use crate::code::secret::Secret;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_ENVIRONMENT_SENT",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "the whole environment is sent away",
    why: "The environment holds every key that the agent's programs were given. Nothing that a skill does needs all of them elsewhere.",
    fix: "remove the request, or send the one value that the other side needs",
    places: ANYWHERE,
    anchors: words![
        "environ",
        "process.env",
        "printenv",
        "\\benv |",
        "$(env",
        "\\benv|",
        "export -p",
        "env:",
        "`env",
        "\\benv >",
    ],
    check: Check::Requiring(&[&SENDS], check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::sent(unit, |secret| *secret == Secret::Environment)
}
