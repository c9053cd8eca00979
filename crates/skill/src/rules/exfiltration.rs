//! Secrets and files that are sent away.

mod collector;
mod encoded_piped;
mod encoded_sent;
mod env_sent;
mod environment_sent;
mod file_sent;
mod image_beacon;
mod payload_in_lookup;
mod prose_handed;
mod prose_in_address;
mod prose_published;
mod prose_send;
mod prose_steal;
mod read_and_sent;
mod secret_in_lookup;
mod secrets_together;
mod store_sent;
mod token_sent;
mod variable_sent;

use crate::code::fact::FactKind;
use crate::code::secret::Secret;
use crate::rules::rule::{Hit, Rule, Severity};
use crate::text::unit::Unit;

pub(super) use store_sent::ANCHORS as SECRET_PATHS;

pub(super) const RULES: &[&Rule] = &[
    &collector::RULE,
    &prose_steal::RULE,
    &encoded_piped::RULE,
    &encoded_sent::RULE,
    &env_sent::RULE,
    &environment_sent::RULE,
    &file_sent::RULE,
    &image_beacon::RULE,
    &secret_in_lookup::RULE,
    &payload_in_lookup::RULE,
    &read_and_sent::RULE,
    &secrets_together::RULE,
    &store_sent::RULE,
    &token_sent::RULE,
    &prose_handed::RULE,
    &prose_in_address::RULE,
    &prose_published::RULE,
    &prose_send::RULE,
    &variable_sent::RULE,
];

/// Returns the flows of a unit from a secret to a sender, as hits.
fn sent(unit: &Unit<'_>, wanted: fn(&Secret) -> bool) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for (source, sink, part) in unit.reading().flowing() {
        let FactKind::ReadsSecret(secret) = &source.what else { continue };
        let FactKind::Sends { to, channel, .. } = &sink.what else { continue };
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
