//! The eighteen base rules, with their old names, categories and severities.

mod crypto_stratum;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&crypto_stratum::RULE];
