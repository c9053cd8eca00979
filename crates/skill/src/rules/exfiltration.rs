//! Secrets and files that are sent away.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
