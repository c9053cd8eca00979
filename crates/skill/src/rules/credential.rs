//! Secrets that are read or collected.

mod disguised_address;
mod private_read;
mod prose_ask;
mod prose_collect;
mod prose_read;
mod prose_show;
mod read_by_command;
mod sweep;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &disguised_address::RULE,
    &prose_show::RULE,
    &private_read::RULE,
    &read_by_command::RULE,
    &sweep::RULE,
    &prose_ask::RULE,
    &prose_collect::RULE,
    &prose_read::RULE,
];
