//! Code that is fetched and run.

mod defanged;
mod powershell_encoded;
mod remote_module;
mod run_at_once;
mod run_later;
mod save_then_run;
mod windows;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &run_at_once::RULE,
    &save_then_run::RULE,
    &run_later::RULE,
    &windows::RULE,
    &powershell_encoded::RULE,
    &remote_module::RULE,
    &defanged::RULE,
];
