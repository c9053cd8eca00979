//! Code that is fetched and run.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
