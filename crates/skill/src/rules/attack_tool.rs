//! Tools that say themselves that they attack, and tools whose descriptions give orders.

mod demand;
mod lexicon;
mod openly;
mod poisoned;
mod score;
mod side_channel;
mod twice;

use crate::json::{self, Document};
use crate::language::Language;
use crate::rule::Rule;
use crate::unit::{Place, Places, Unit};

pub(super) const RULES: &[&Rule] = &[&openly::RULE, &poisoned::RULE, &side_channel::RULE, &twice::RULE];

/// Where manifests stand: in files of their own, and in fences.
const MANIFESTS: Places = Places::of(&[Place::Script, Place::Fence]);

/// What every list of tools has.
const ANCHORS: &[&str] = &[
    "\"tools\"",
    "\"inputschema\"",
    "\"input_schema\"",
    "\"parameters\"",
    "\"properties\"",
    "\"annotations\"",
];

/// The document in a unit, if it is one.
fn document<'a>(unit: &Unit<'a>) -> Option<Document<'a>> {
    let text: &'a str = unit.text();
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with(['{', '[', '/']);
    (matches!(unit.language, Language::Json | Language::Text) && begins).then(|| json::read(text).ok())?
}
