//! Packages and settings that bring in something else.

mod address;
mod auto_approve;
mod base_url;
mod deed;
mod folder_open;
mod hook;
mod index;
mod lifecycle;
mod lookalike;
mod names;
mod server_command;
mod unreadable;
mod workflow_secrets;
mod workflow_untrusted;

use crate::rules::rule::{Rule, Severity};
use crate::text::unit::{Place, Places, Unit};

pub(super) const RULES: &[&Rule] = &[
    &server_command::RULE,
    &lookalike::RULE,
    &lifecycle::RULE,
    &workflow_secrets::RULE,
    &workflow_untrusted::RULE,
    &auto_approve::RULE,
    &base_url::RULE,
    &hook::RULE,
    &folder_open::RULE,
    &address::RULE,
    &index::RULE,
    &unreadable::RULE,
];

pub(super) use deed::deed;
pub(super) use lookalike::nearest;

/// Places that hold settings: separate files and fences.
const SETTINGS: Places = Places::of(&[Place::Script, Place::Fence]);

/// A file is read by every program that opens the directory; a fence only shows.
fn as_shown(unit: &Unit<'_>) -> Option<Severity> {
    (unit.place == Place::Fence).then_some(Severity::Warning)
}
