//! Text that a person does not see, or reads as something else.

mod bidi;
mod comment;
mod distance;
mod lookalike;
mod markup;
mod payload;
mod private_use;
mod spoken;
mod tags;
mod zero_width;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &tags::RULE,
    &bidi::RULE,
    &zero_width::RULE,
    &payload::RULE,
    &lookalike::RULE,
    &comment::RULE,
    &markup::RULE,
    &distance::RULE,
    &private_use::RULE,
];
