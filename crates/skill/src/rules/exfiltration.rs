//! Secrets and files that are sent away.

mod collector;
mod encoded_piped;
mod encoded_sent;
mod env_sent;
mod environment_sent;
mod file_sent;
mod image_beacon;
mod looked_up;
mod names_asked;
mod read_and_sent;
mod secrets_together;
mod store_sent;
mod token_sent;
mod told_handed;
mod told_in_address;
mod told_published;
mod told_send;
mod told_steal;
mod variable_sent;

use crate::code::fact::What;
use crate::code::secret::Secret;
use crate::rules::rule::{Hit, Rule, Severity};
use crate::text::unit::Unit;

pub(super) use store_sent::ANCHORS as SECRET_PATHS;

pub(super) const RULES: &[&Rule] = &[
    &collector::RULE,
    &told_steal::RULE,
    &encoded_piped::RULE,
    &encoded_sent::RULE,
    &env_sent::RULE,
    &environment_sent::RULE,
    &file_sent::RULE,
    &image_beacon::RULE,
    &looked_up::RULE,
    &names_asked::RULE,
    &read_and_sent::RULE,
    &secrets_together::RULE,
    &store_sent::RULE,
    &token_sent::RULE,
    &told_handed::RULE,
    &told_in_address::RULE,
    &told_published::RULE,
    &told_send::RULE,
    &variable_sent::RULE,
];

/// The flows of a unit from a secret to a sender, as hits.
fn sent(unit: &Unit<'_>, wanted: fn(&Secret) -> bool) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for (source, sink, part) in unit.reading().flowing() {
        let What::ReadsSecret(secret) = &source.what else { continue };
        let What::Sends { to, channel, .. } = &sink.what else { continue };
        if !wanted(secret) {
            continue;
        }
        let Some(severity) = crate::code::flow::sent(secret, to, *channel, part) else { continue };
        push_worst(
            &mut hits,
            Hit {
                severity: Some(severity),
                note: Some(note(secret, &to.text)),
                ..Hit::at(sink.range.clone())
            },
        );
    }
    hits
}

/// Keeps one hit for each place: the worst.
fn push_worst(hits: &mut Vec<Hit>, hit: Hit) {
    let severity = |hit: &Hit| hit.severity.unwrap_or(Severity::Critical);
    match hits.iter_mut().find(|other| other.range == hit.range) {
        Some(other) if severity(other) < severity(&hit) => *other = hit,
        Some(_) => {}
        None => hits.push(hit),
    }
}

fn note(secret: &Secret, to: &str) -> String {
    let what = match secret {
        Secret::Environment => String::from("the whole environment"),
        Secret::Variable(name) => format!("the variable {name}"),
        Secret::File(store, path) => format!("{} ({path})", store.name()),
    };
    let to = if to.is_empty() { "an address that is not known" } else { to };
    format!("{what} goes to {to}")
}
