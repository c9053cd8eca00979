//! A name twice in one object of a list of tools.

use super::{ANCHORS, MANIFESTS, document};
use crate::manifest::tool_nodes;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::Unit;

pub(super) const RULE: Rule = Rule {
    id: "TOOL_NAME_TWICE",
    category: Category::AttackTool,
    severity: Severity::Warning,
    title: "a name twice in one object of a list of tools",
    why: "Readers disagree on which of the two counts: a person may be shown one description and a model the other.",
    fix: "remove one of them",
    places: MANIFESTS,
    anchors: ANCHORS,
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = document(unit) else { return Vec::new() };
    if document.twice.is_empty() || tool_nodes(&document.root).is_empty() {
        return Vec::new();
    }
    document.twice.into_iter().map(Hit::at).collect()
}
