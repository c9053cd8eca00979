//! A secret variable goes to a host that did not issue it.

use crate::code::fact::SENDS;
use crate::code::secret::Secret;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_VARIABLE_SENT",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "a secret goes to somebody it does not belong to",
    why: "A key is sent to who gave it out, and to nobody else. This one goes elsewhere, or stands where everybody on the way can read it.",
    fix: "send the key only to its own service, in a header",
    places: ANYWHERE,
    anchors: words![
        "environ",
        "process.env",
        "getenv",
        "$env:",
        "_key",
        "_token",
        "_secret",
        "_password",
        "database_url",
        "deno.env",
    ],
    check: Check::Requiring(&[&SENDS], check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::sent(unit, |secret| matches!(secret, Secret::Variable(_)))
}
