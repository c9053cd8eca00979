//! Many secrets of different tools are read at once.

use std::collections::BTreeSet;

use crate::code::fact::FactKind;
use crate::code::secret::{Secret, Store};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};

/// Number of different files that make a sweep.
const MANY: usize = 3;

pub(super) const RULE: Rule = Rule {
    id: "CRED_SWEEP",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "secrets of several tools are read at one go",
    why: "No task needs the logins of tools that have nothing to do with each other.",
    fix: "read what the task needs, with the tool that it belongs to",
    places: CODE,
    anchors: crate::rules::exfiltration::SECRET_PATHS,
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let mut paths = BTreeSet::new();
    let mut first = None;
    for fact in &unit.reading().facts {
        let FactKind::ReadsSecret(Secret::File(store, path)) = &fact.what else { continue };
        if store.is_private() || matches!(store, Store::Credential) {
            first.get_or_insert_with(|| fact.range.clone());
            paths.insert(path.as_str());
        }
    }
    let many = paths.len() >= MANY;
    first.filter(|_| many).map(Hit::at).into_iter().collect()
}
