//! Parameters through which a model would hand over data that the tool does not need.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{ANCHORS, MANIFESTS, document};
use crate::manifest::tool_nodes;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::scan::compiled;
use crate::text::json::Node;
use crate::text::unit::Unit;

pub(super) const RULE: Rule = Rule {
    id: "TOOL_SIDE_CHANNEL",
    category: Category::Exfiltration,
    severity: Severity::Warning,
    title: "a parameter that asks for the conversation, or for files that the tool does not need",
    why: "What a model writes into a parameter reaches the server.",
    fix: "ask the author what the parameter is for, or do not connect the server",
    places: MANIFESTS,
    anchors: ANCHORS,
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = document(unit) else { return Vec::new() };
    let tools = tool_nodes(&document.root);
    tools.into_iter().flat_map(|tool| tool_hits(tool, unit.text())).collect()
}

fn tool_hits(tool: &Node<'_>, text: &str) -> Vec<Hit> {
    let schemas = ["inputSchema", "input_schema", "parameters"].into_iter().flat_map(|name| tool.all(name));
    let properties = schemas.flat_map(|schema| schema.all("properties")).flat_map(Node::object);
    properties
        .filter_map(|(name, schema)| {
            let bare: String = name.text.chars().filter(char::is_ascii_alphanumeric).collect();
            if ["sidenote", "sidenotes", "hiddennote", "secretnote"].contains(&&*bare.to_ascii_lowercase()) {
                return Some(Hit::at(name.span.clone()));
            }
            let description = schema.all("description").find(|node| node.text().is_some())?;
            let found = WANTS.as_ref()?.find(description.text()?.as_bytes())?;
            Some(Hit::at(description.map(text).back(found.range())))
        })
        .collect()
}

static WANTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"\b(?:full|entire|complete|whole|all)\b[^.\n]{0,30}\b(?:conversation|chat) (?:history|log|so far|transcript)|\b(?:contents? of|all)\b[^.\n]{0,20}(?:~/\.|\.env\b|\.ssh|environment variables and|api keys|secrets|credentials)\b[^.\n]{0,40}\byou\b|\byour (?:full |entire )?system prompt";
    compiled(pattern)
});
