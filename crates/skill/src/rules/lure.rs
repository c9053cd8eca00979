//! A person is talked into running something.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
