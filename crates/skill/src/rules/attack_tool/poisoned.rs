//! Orders in the descriptions that a server gives of its tools.

use super::demand::{DOUBTFUL, ORDERS, demands};
use super::{ANCHORS, MANIFESTS, document};
use crate::manifest::tool_nodes;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::json::Node;
use crate::text::unit::Unit;

pub(super) const RULE: Rule = Rule {
    id: "TOOL_POISONED",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "orders to the model in the description of a tool",
    why: "A model reads descriptions as if its user had written them, and nobody else ever sees them.",
    fix: "do not connect the server",
    places: MANIFESTS,
    anchors: ANCHORS,
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = document(unit) else { return Vec::new() };
    let text = unit.text();
    let mut hits = Vec::new();
    for tool in tool_nodes(&document.root) {
        tool.walk(&mut |node| hits.extend(hit(node, text)));
    }
    for name in ["instructions", "prompts", "resources"] {
        for node in
            document.root.all(name).chain(document.root.all("result").flat_map(|result| result.all(name)))
        {
            node.walk(&mut |node| hits.extend(hit(node, text)));
        }
    }
    hits
}

fn hit(node: &Node<'_>, document: &str) -> Option<Hit> {
    let (sum, place) = demands(node.text()?);
    let severity = match sum {
        ORDERS.. => None,
        DOUBTFUL.. => Some(Severity::Warning),
        _ => return None,
    };
    Some(Hit { range: node.map(document).back(place), note: None, severity })
}
