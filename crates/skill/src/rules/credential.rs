//! Secrets that are read or collected.

mod told_ask;
mod told_collect;
mod told_read;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&told_ask::RULE, &told_collect::RULE, &told_read::RULE];
