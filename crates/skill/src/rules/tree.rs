//! Files that do not belong in a skill.

mod archive;
mod disguise;
mod executable;
mod limit;
mod link;
mod sealed;
mod special;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &executable::RULE,
    &disguise::RULE,
    &link::RULE,
    &special::RULE,
    &sealed::RULE,
    &archive::RULE,
    &limit::RULE,
];
