//! Tools that say themselves that they attack, and tools whose descriptions give orders.

mod demand;
mod lexicon;
mod openly;
mod poisoned;
mod score;
mod side_channel;
mod twice;

use crate::rules::rule::Rule;
use crate::text::json::in_unit as document;
use crate::text::unit::{Place, Places};
use crate::words::{Words, words};

pub(super) const RULES: &[&Rule] = &[&openly::RULE, &poisoned::RULE, &side_channel::RULE, &twice::RULE];

/// Places that hold manifests: separate files and fences.
const MANIFESTS: Places = Places::of(&[Place::Script, Place::Fence]);

/// Words one of which occurs in every list of tools.
const ANCHORS: Words = words![
    "\"tools\"",
    "\"inputschema\"",
    "\"input_schema\"",
    "\"parameters\"",
    "\"properties\"",
    "\"annotations\"",
];
