//! Keys, wallets, browsers' and systems' stores are read.

use crate::code::fact::FactKind;
use crate::code::secret::{Secret, Store};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Place, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CRED_PRIVATE_READ",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "a private store is read",
    why: "Programs use keys and logins through the tools they belong to. What a browser, a wallet or a key chain keeps is opened by thieves.",
    fix: "use the tool that the secret belongs to",
    places: CODE,
    anchors: crate::rules::exfiltration::SECRET_PATHS,
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for fact in &unit.reading().facts {
        let FactKind::ReadsSecret(Secret::File(store, path)) = &fact.what else { continue };
        let severity = match store {
            Store::Browser | Store::Wallet | Store::Keychain if unit.place == Place::Script => {
                Severity::Critical
            }
            store if store.is_private() => Severity::Warning,
            Store::Credential if unit.place == Place::Script => Severity::Note,
            Store::Credential => Severity::Warning,
            _ => continue,
        };
        let note = Some(format!("{}: {path}", store.name()));
        hits.push(Hit { severity: Some(severity), note, ..Hit::at(fact.range.clone()) });
    }
    hits
}
