//! Things destroyed.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
