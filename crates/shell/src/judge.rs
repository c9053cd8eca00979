//! Findings on the programs that a line would start.

use policy::{Assignment, Finding, Program};

use crate::Surroundings;

/// Judges one program on its own.
pub(crate) fn judge(_program: &Program, _around: &Surroundings<'_>, _found: &mut Vec<Finding>) {}

/// Judges a variable that is set.
pub(crate) fn judge_assignment(_assignment: &Assignment, _global: bool, _found: &mut Vec<Finding>) {}
