//! Secrets that are read or collected.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
