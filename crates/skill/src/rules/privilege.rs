//! More rights, or protection taken away.

mod accounts;
mod container;
mod cover_tracks;
mod names_of_hosts;
mod open_rights;
mod opened_and_told;
mod preload;
mod protection_off;
mod self_elevation;
mod told_everything;
mod trusted_between;

use crate::rules::rule::Rule;

pub(super) use accounts::{is_key, is_to_be_filled_in};

pub(super) const RULES: &[&Rule] = &[
    &told_everything::RULE,
    &trusted_between::RULE,
    &accounts::RULE,
    &container::RULE,
    &cover_tracks::RULE,
    &names_of_hosts::RULE,
    &open_rights::RULE,
    &opened_and_told::RULE,
    &preload::RULE,
    &protection_off::RULE,
    &self_elevation::RULE,
];
