//! Files that do not belong in a skill.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
