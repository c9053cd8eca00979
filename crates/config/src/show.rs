//! The merged policy, row by row, each with its origin.

use crate::schema::{Key, Kind, ROOT};
use crate::settings::Settings;
use crate::source::Scope;
use crate::tree::{Node, Table, Value};

/// One value of the merged policy.
#[derive(Debug, Clone)]
pub struct Row {
    /// The dotted path of the table it is in; empty at the top.
    pub table: String,
    /// Which entry of a list of tables it is in, under a `[[…]]` header; `None` in a plain table.
    pub entry: Option<usize>,
    /// Its name.
    pub name: String,
    /// The value as TOML.
    pub toml: String,
    /// Scope that set it.
    pub scope: Scope,
    /// File and line.
    pub place: policy::RuleRef,
    /// True if the feature behind it exists.
    pub built: bool,
}

/// Every value, in the order of the schema.
#[must_use]
pub fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    walk(ROOT, &settings.table, "", None, &mut rows);
    rows
}

fn walk(keys: &[Key], table: &Table, path: &str, entry: Option<usize>, rows: &mut Vec<Row>) {
    // Plain values come before tables, as TOML wants it.
    let is_table = |key: &&Key| matches!(key.kind, Kind::Table(_) | Kind::Named(_) | Kind::Tables(_));
    let (tables, plain): (Vec<_>, Vec<_>) = keys.iter().partition(is_table);
    for key in plain {
        if let Some(found) = table.get(key.name) {
            rows.push(row(path, entry, key.name, &found.node, key.built));
        }
    }
    for key in tables {
        let Some(found) = table.get(key.name) else { continue };
        if entry.is_some() {
            rows.push(row(path, entry, key.name, &found.node, key.built));
        } else {
            inner(key, &found.node, &join(path, key.name), rows);
        }
    }
}

fn inner(key: &Key, node: &Node, path: &str, rows: &mut Vec<Row>) {
    match (key.kind, &node.value) {
        (Kind::Table(keys), Value::Table(table)) => walk(keys, table, path, None, rows),
        (Kind::Named(keys), Value::Table(table)) => {
            for (name, entry) in table {
                if let Some(inner) = entry.node.table() {
                    walk(keys, inner, &join(path, name), None, rows);
                }
            }
        }
        (Kind::Tables(keys), Value::List(list)) => {
            for (index, inner) in list.iter().filter_map(Node::table).enumerate() {
                walk(keys, inner, path, Some(index), rows);
            }
        }
        _ => {}
    }
}

fn row(path: &str, entry: Option<usize>, name: &str, node: &Node, built: bool) -> Row {
    let (scope, place) = (node.source.scope, node.place());
    Row { table: path.to_owned(), entry, name: name.to_owned(), toml: toml(node), scope, place, built }
}

/// A value as TOML on one line.
fn toml(node: &Node) -> String {
    match &node.value {
        Value::List(list) => format!("[{}]", list.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let pair = |(name, entry): (&std::borrow::Cow<'_, str>, &crate::tree::Entry)| {
                format!("{} = {}", quoted(name), toml(&entry.node))
            };
            format!("{{ {} }}", table.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Value::Text(text) => string(text),
        _ => node.written().to_owned(),
    }
}

fn join(path: &str, name: &str) -> String {
    let name = quoted(name);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

fn quoted(name: &str) -> String {
    if name.contains('.') { string(name) } else { name.to_owned() }
}

/// A TOML string. Control characters were refused before, so two escapes suffice.
fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
