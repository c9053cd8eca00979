//! Instructions against whoever the agent works for.

mod authority;
mod bypass;
mod conceal;
mod deceive;
mod first;
mod hushed;
mod obey;
mod override_orders;
mod payee;
mod role;
mod spread;
mod unasked;
mod waved_through;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &authority::RULE,
    &bypass::RULE,
    &conceal::RULE,
    &deceive::RULE,
    &first::RULE,
    &hushed::RULE,
    &obey::RULE,
    &override_orders::RULE,
    &payee::RULE,
    &role::RULE,
    &spread::RULE,
    &unasked::RULE,
    &waved_through::RULE,
];
