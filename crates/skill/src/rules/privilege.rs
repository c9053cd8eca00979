//! More rights, or protection taken away.

mod accounts;
mod container;
mod names_of_hosts;
mod open_rights;
mod preload;
mod protection_off;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &open_rights::RULE,
    &accounts::RULE,
    &protection_off::RULE,
    &container::RULE,
    &names_of_hosts::RULE,
    &preload::RULE,
];
