//! More rights, or protection taken away.

mod accounts;
mod container;
mod cover_tracks;
mod names_of_hosts;
mod open_rights;
mod opened_and_reported;
mod preload;
mod prose_everything;
mod protection_off;
mod self_elevation;
mod trusted_between;

use crate::rules::rule::Rule;

pub(super) use accounts::{is_key, is_to_be_filled_in};

pub(super) const RULES: &[&Rule] = &[
    &prose_everything::RULE,
    &trusted_between::RULE,
    &accounts::RULE,
    &container::RULE,
    &cover_tracks::RULE,
    &names_of_hosts::RULE,
    &open_rights::RULE,
    &opened_and_reported::RULE,
    &preload::RULE,
    &protection_off::RULE,
    &self_elevation::RULE,
];
