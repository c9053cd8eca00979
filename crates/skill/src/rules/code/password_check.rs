//! A password is asked for and tried.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_PASSWORD_CHECK",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "a person's password is tried on the system",
    why: "A program that asks for the login password and tries whether it is right collects passwords.",
    fix: "remove it; the system asks itself where it needs a password",
    places: ANYWHERE,
    anchors: words!["authonly"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::PasswordCheck)
}
