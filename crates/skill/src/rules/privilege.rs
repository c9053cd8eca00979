//! More rights, or protection taken away.

mod cover_tracks;
mod self_elevation;

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&cover_tracks::RULE, &self_elevation::RULE];
