//! Instructions against the user of the agent.

mod authority;
mod bypass;
mod called_first;
mod conceal;
mod covert_handover;
mod deceive;
mod obey;
mod override_orders;
mod payee;
mod role;
mod spread;
mod unreviewed_changes;
mod without_consent;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &authority::RULE,
    &bypass::RULE,
    &conceal::RULE,
    &deceive::RULE,
    &called_first::RULE,
    &covert_handover::RULE,
    &obey::RULE,
    &override_orders::RULE,
    &payee::RULE,
    &role::RULE,
    &spread::RULE,
    &without_consent::RULE,
    &unreviewed_changes::RULE,
];
