//! Findings on the programs that a line would start.

use policy::{Finding, Program};

use crate::Surroundings;

/// Judges one program on its own.
pub(crate) fn judge(_program: &Program, _around: &Surroundings<'_>, _found: &mut Vec<Finding>) {}
