//! Instructions against whoever the agent works for.

mod authority;
mod bypass;
mod conceal;
mod deceive;
mod first;
mod obey;
mod override_orders;
mod role;
mod spread;
mod unasked;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &authority::RULE,
    &bypass::RULE,
    &conceal::RULE,
    &deceive::RULE,
    &first::RULE,
    &obey::RULE,
    &override_orders::RULE,
    &role::RULE,
    &spread::RULE,
    &unasked::RULE,
];
