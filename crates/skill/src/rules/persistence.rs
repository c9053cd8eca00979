//! What stays after the skill has gone.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
