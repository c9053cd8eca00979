//! Text that a person does not see, or reads as something else.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
