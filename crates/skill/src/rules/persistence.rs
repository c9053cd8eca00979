//! What stays after the skill has gone.

mod told_agent_files;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&told_agent_files::RULE];
