//! Secrets that are read or collected.

mod private_read;
mod sweep;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&private_read::RULE, &sweep::RULE];
