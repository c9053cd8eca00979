//! Instructions against whoever the agent works for.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
