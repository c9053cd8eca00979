//! A person is talked into running something.

mod archive_password;
mod component;
mod paste;
mod program;
mod run_dialog;
mod steps_elsewhere;
mod unprotected;
mod urgent;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &component::RULE,
    &archive_password::RULE,
    &paste::RULE,
    &program::RULE,
    &run_dialog::RULE,
    &steps_elsewhere::RULE,
    &unprotected::RULE,
    &urgent::RULE,
];
