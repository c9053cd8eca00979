//! Secrets that are read or collected.

mod read_by_command;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&read_by_command::RULE];
