//! Packages and settings that bring in something else.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
