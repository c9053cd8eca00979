//! Secrets that are read or collected.

mod read_by_command;
mod told_ask;
mod told_collect;
mod told_read;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] =
    &[&read_by_command::RULE, &told_ask::RULE, &told_collect::RULE, &told_read::RULE];
