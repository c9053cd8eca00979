//! A tool whose name, description and parameters say that it attacks.

use super::score::{ATTACK, DOUBTFUL, Score};
use super::{ANCHORS, MANIFESTS, document};
use crate::manifest::tool_nodes;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::json::Node;
use crate::text::unit::Unit;

pub(super) const RULE: Rule = Rule {
    id: "TOOL_ATTACKS",
    category: Category::AttackTool,
    severity: Severity::Critical,
    title: "a tool that says that it attacks",
    why: "Its name, description or parameters are those of an attack: a model that has the tool will use it when a text tells it to.",
    fix: "do not connect the server; an agent that tests systems belongs in a jail of its own, with the hosts it may reach",
    places: MANIFESTS,
    anchors: ANCHORS,
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = document(unit) else { return Vec::new() };
    tool_nodes(&document.root).into_iter().filter_map(hit).collect()
}

fn hit(tool: &Node<'_>) -> Option<Hit> {
    let score = Score::of(tool);
    let severity = match score.sum {
        ATTACK.. => None,
        DOUBTFUL.. => Some(Severity::Warning),
        _ => return None,
    };
    let name = tool.all("name").next().unwrap_or(tool);
    let note = format!("it speaks of {}", score.words.join(", "));
    Some(Hit { range: name.inside(), note: Some(note), severity })
}
