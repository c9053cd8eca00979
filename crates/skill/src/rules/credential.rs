//! Secrets that are read or collected.

mod disguised_address;
mod private_read;
mod read_by_command;
mod sweep;
mod told_ask;
mod told_collect;
mod told_read;
mod told_show;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &disguised_address::RULE,
    &told_show::RULE,
    &private_read::RULE,
    &read_by_command::RULE,
    &sweep::RULE,
    &told_ask::RULE,
    &told_collect::RULE,
    &told_read::RULE,
];
