//! What Python, JavaScript and PowerShell run that they were not written with.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
