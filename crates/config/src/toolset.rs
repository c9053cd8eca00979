//! The `[tools]` section as a set of tools.

use policy::{ToolEntry, ToolName, ToolProfile, ToolSet, tool_names};

use crate::tree::{Node, Table, find};

/// The set that a section describes. Entries were checked before.
pub(crate) fn tool_set(section: &Table) -> Option<ToolSet> {
    let entries = |key: &str| -> Vec<ToolEntry> {
        let texts = find(section, key).into_iter().flat_map(Node::texts);
        texts.filter_map(|(text, _)| ToolEntry::own(text).ok()).collect()
    };
    let profile = ToolProfile::parse(profile_name(section)).ok()?;
    Some(ToolSet::new(profile, entries("allow"), entries("deny")))
}

/// The profile of a section; the smallest when it names none.
pub(crate) fn profile_name(section: &Table) -> &str {
    find(section, "profile").and_then(Node::text).unwrap_or("minimal")
}

/// Returns what the merged section has beyond the wider one, and the value of the layer that brings it in.
pub(crate) fn added<'a>(wider: &Table, merged: &Table, layer: &'a Table) -> Option<(&'a Node, String)> {
    let (before, after) = (tool_set(wider)?, tool_set(merged)?);
    if let Some((text, node)) = foreign_entries(layer).find(|(text, _)| !permits_foreign(wider, text)) {
        return Some((node, format!("`{text}` is not in the wider set")));
    }
    let new = |name: &&&str| {
        ToolName::parse(name).is_ok_and(|tool| after.contains(&tool) && !before.contains(&tool))
    };
    let added: Vec<_> = tool_names().iter().filter(new).map(|name| format!("`{name}`")).collect();
    let full = profile_name(merged) == "full" && profile_name(wider) != "full";
    if added.is_empty() && !full {
        return None;
    }
    let node = find(layer, "profile").filter(|_| added.len() > 1 || full).or_else(|| find(layer, "allow"));
    let node = node.or_else(|| find(layer, "profile"))?;
    Some((node, if full { "every tool".to_owned() } else { added.join(", ") }))
}

/// Entries that could stand for tools of MCP servers or of the caller, which no table lists.
fn foreign_entries(layer: &Table) -> impl Iterator<Item = (&str, &Node)> {
    let entries = find(layer, "allow").into_iter().flat_map(Node::texts);
    let foreign = |text: &str| {
        text.starts_with("mcp__") || text.contains(['*', '?', '[', '{']) || text.starts_with("re:")
    };
    entries.filter(move |(text, _)| foreign(text) || ToolEntry::parse(text).is_err())
}

fn permits_foreign(wider: &Table, text: &str) -> bool {
    // A wildcard is compared as text: what it could match is not known.
    let covers = |known: &str| {
        let tool = ToolName::parse(text);
        tool.is_ok_and(|tool| ToolEntry::own(known).is_ok_and(|entry| entry.matches(&tool)))
    };
    let listed = find(wider, "allow")
        .into_iter()
        .flat_map(Node::texts)
        .any(|(known, _)| known == text || known == "*" || covers(known));
    listed || profile_name(wider) == "full"
}
