//! What front matter must not ask for.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
