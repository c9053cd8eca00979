//! More rights, or protection taken away.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
