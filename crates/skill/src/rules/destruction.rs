//! Destruction of data and systems.

mod disk;
mod system_removed;
mod traces;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&system_removed::RULE, &disk::RULE, &traces::RULE];
