//! Secrets and files that are sent away.

mod env_sent;
mod file_sent;
mod names_asked;
mod token_sent;
mod told_send;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] =
    &[&env_sent::RULE, &file_sent::RULE, &names_asked::RULE, &token_sent::RULE, &told_send::RULE];
