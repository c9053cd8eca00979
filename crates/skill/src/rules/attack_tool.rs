//! Tools that say themselves that they attack.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
