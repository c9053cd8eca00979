//! Secrets and files that are sent away.

mod told_send;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&told_send::RULE];
