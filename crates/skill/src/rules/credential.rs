//! Secrets that are read or collected.

mod private_read;
mod read_by_command;
mod sweep;
mod told_ask;
mod told_collect;
mod told_read;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &private_read::RULE,
    &read_by_command::RULE,
    &sweep::RULE,
    &told_ask::RULE,
    &told_collect::RULE,
    &told_read::RULE,
];
