//! Settings of one agent: each layer with what it says about that agent on top, before layers are merged.
//!
//! So the laws of the keys hold for agents as they are: what the project says about an agent can only narrow what wider layers say
//! about the same agent.

use std::collections::BTreeSet;

use policy::{Code, Shown, ToolEntry, ToolName};

use crate::problem::{Problem, nearest};
use crate::source::Scope;
use crate::tree::{Entry, Node, Table, Value, find};

/// Most agents in all layers: every one of them is merged at every load.
const MAX_AGENTS: usize = 64;

/// A layer as it holds for an agent; for no agent in particular without one.
pub(crate) fn layer_for(mut layer: Table, agent: Option<&str>) -> Table {
    let Some(Entry { node: Node { value: Value::Table(mut agents), .. }, .. }) = layer.remove("agents")
    else {
        return layer;
    };
    let own = agent.and_then(|agent| agents.remove(agent));
    if let Some(Entry { key, node: Node { source, span, value: Value::Table(mut own) } }) = own {
        if let Some(profile) = own.remove("profile") {
            let value = Value::Table(Table::from([("profile".into(), profile)]));
            own.insert("jail".into(), Entry { key, node: Node { source, span, value } });
        }
        put(&mut layer, own);
    }
    layer
}

/// Replaces values by others. Tables are gone through, rules come on top.
fn put(base: &mut Table, over: Table) {
    for (name, mut entry) in over {
        match (base.remove(&name), &mut entry.node.value) {
            (Some(Entry { node: Node { value: Value::Table(mut inner), .. }, .. }), Value::Table(over)) => {
                put(&mut inner, std::mem::take(over));
                *over = inner;
            }
            (Some(rules), Value::List(_)) if name == "rules" => entry.node.put_before(rules.node),
            _ => {}
        }
        base.insert(name, entry);
    }
}

/// Adds the settings of all layers about agents, to be shown.
pub(crate) fn put_agents(table: &mut Table, agents: Vec<Entry>) {
    for agents in agents {
        put(table, Table::from([("agents".into(), agents)]));
    }
}

/// The agents that any layer names.
pub(crate) fn names<'a>(layers: impl Iterator<Item = &'a Table>) -> BTreeSet<String> {
    let agents = layers.filter_map(|layer| find(layer, "agents")?.table());
    agents.flat_map(Table::keys).map(ToString::to_string).collect()
}

/// An agent that no layer knows would silently have the settings of all agents.
pub(crate) fn unknown(agent: &str, names: &BTreeSet<String>) -> Option<Problem> {
    if names.contains(agent) {
        return None;
    }
    let problem = Problem::new(Code::UnknownName, format!("there is no agent `{}`", Shown::text(agent)));
    Some(match nearest(agent, names.iter().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("an agent has a section `[agents.NAME]` in a policy file"),
    })
}

/// Reports layers that name more agents than are merged.
pub(crate) fn too_many(names: &BTreeSet<String>) -> Option<Problem> {
    let message = format!("the policy files name {} agents, more than {MAX_AGENTS}", names.len());
    (names.len() > MAX_AGENTS).then(|| Problem::new(Code::TooLarge, message))
}

/// Tools that a layer denies, or has rules or profiles for, and that neither Ringfence nor any `tools.allow` knows: a misspelled
/// denial would deny nothing.
pub(crate) fn unlisted_tools(layers: &[Table]) -> Vec<Problem> {
    let own: Vec<_> = layers.iter().flat_map(sections).flat_map(listed).collect();
    let is_own = |text: &str| {
        let name = ToolName::parse(text);
        own.iter().any(|entry| entry.as_str() == text || name.as_ref().is_ok_and(|name| entry.matches(name)))
    };
    let used = layers.iter().flat_map(sections).flat_map(used);
    let unlisted = used.filter(|(text, _)| ToolEntry::parse(text).is_err() && !is_own(text));
    let problem = |(text, node): (&str, &Node)| {
        let problem = Problem::new(Code::UnknownName, format!("there is no tool `{}`", Shown::text(text)));
        let hint = "a tool of your own has to be in `tools.allow`; tools of MCP servers are written `mcp__SERVER--TOOL`";
        node.problem(problem, "not a tool of Ringfence, and not in `tools.allow`").hint(hint)
    };
    unlisted.map(problem).collect()
}

/// A layer, and what it says about each agent.
fn sections(layer: &Table) -> impl Iterator<Item = &Table> {
    let agents = find(layer, "agents").and_then(Node::table).into_iter().flat_map(Table::values);
    std::iter::once(layer).chain(agents.filter_map(|entry| entry.node.table()))
}

/// The tools that a section adds. What the project adds is checked against wider layers and makes no tool known.
fn listed(section: &Table) -> Vec<ToolEntry> {
    let entries = find(section, "tools.allow").filter(|node| node.source.scope != Scope::Project);
    let texts = entries.into_iter().flat_map(Node::texts);
    texts.filter_map(|(text, _)| ToolEntry::own(text).ok()).collect()
}

/// The tools that a section takes away or has rules for.
fn used(section: &Table) -> Vec<(&str, &Node)> {
    let denied = find(section, "tools.deny").into_iter().flat_map(Node::texts);
    let rules = find(section, "rules").map(Node::list).unwrap_or_default().iter();
    let tools =
        rules.filter_map(|rule| find(rule.table()?, "tool")).filter_map(|node| Some((node.text()?, node)));
    let profiles = find(section, "profiles").and_then(Node::table).into_iter().flat_map(Table::values);
    let jailed = profiles.filter_map(|entry| find(entry.node.table()?, "tools")?.table()).flatten();
    let jailed = jailed.map(|(tool, entry)| (&**tool, &entry.node));
    denied.chain(tools).chain(jailed).collect()
}
