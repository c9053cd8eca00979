//! Layers on top of each other. A narrower layer permits no more than the wider ones; an attempt is an error.

use policy::{Code, Effect, Shown};

use crate::compile::effect_of;
use crate::cover::covered;
use crate::host_entry::{entries, widening};
use crate::problem::Problem;
use crate::profile::{check_reference, mode_of, profile};
use crate::schema::{Key, Kind, Narrow, ROOT, Text};
use crate::source::Scope;
use crate::toolset;
use crate::tree::{Entry, Node, Table, Value, find};

/// Puts a layer on top of what is there.
pub(crate) fn apply(base: &mut Table, layer: Table, scope: Scope, problems: &mut Vec<Problem>) {
    // Rules are added without a look at what was there, and there may be thousands.
    let kept = base.iter().filter(|(name, _)| *name != "rules");
    let before = kept.map(|(name, entry)| (name.clone(), entry.clone())).collect();
    let own_profiles = own_profiles(&before, &layer);
    let mut merge = Merge { scope, before: &before, own_profiles, problems };
    merge.table(ROOT, base, layer, "");
    check_references(base, scope, problems);
    // One mistake is reported once: a layer that widened a key has widened the profile.
    if problems.is_empty() {
        check_profiles(&before, base, scope, problems);
    }
}

/// A table with nothing but profiles: those of the layer, on top of the wider ones it may extend.
fn own_profiles(before: &Table, layer: &Table) -> Table {
    let Some(Entry { key, node }) = layer.get("profiles") else { return Table::new() };
    let mut profiles = find(before, "profiles").and_then(Node::table).cloned().unwrap_or_default();
    profiles.extend(node.table().cloned().unwrap_or_default());
    let node = Node { value: Value::Table(profiles), ..node.clone() };
    Table::from([("profiles".into(), Entry { key: key.clone(), node })])
}

/// Profiles that a layer names must exist in it or in a wider one.
fn check_references(merged: &Table, scope: Scope, problems: &mut Vec<Problem>) {
    let profiles = find(merged, "profiles").and_then(Node::table);
    let servers = find(merged, "mcp.servers").and_then(Node::table);
    let own = profiles.into_iter().flat_map(Table::values).filter_map(|entry| entry.node.table());
    let named = own.clone().filter_map(|profile| find(profile, "extends"));
    let by_tool = own
        .filter_map(|profile| find(profile, "tools")?.table())
        .flat_map(Table::values)
        .map(|entry| &entry.node);
    let by_server =
        servers.into_iter().flat_map(Table::values).filter_map(|entry| find(entry.node.table()?, "profile"));
    let chosen = find(merged, "jail.profile").into_iter();
    let references = chosen.chain(named).chain(by_tool).chain(by_server);
    let of_layer = references.filter(|node| node.source.scope == scope);
    problems.extend(of_layer.filter_map(|node| check_reference(node, merged)));
}

/// Inherited settings are not written in a profile, so no single key shows when a layer opens what was closed below.
fn check_profiles(before: &Table, merged: &Table, scope: Scope, problems: &mut Vec<Problem>) {
    let known = find(before, "profiles").and_then(Node::table).into_iter().flatten();
    let bound = known.filter(|(_, entry)| scope == Scope::Project || is_managed(&entry.node));
    for (name, entry) in bound {
        let (Some(known), Some(now)) = (profile(before, name), profile(merged, name)) else { continue };
        if !now.no_more_than(&known) {
            let written = find(merged, "profiles").and_then(|node| node.table()?.get(name));
            let node = written.and_then(|entry| first_of(scope, &entry.node)).unwrap_or(&entry.node);
            let message =
                format!("the {} file cannot widen the profile `{}`", scope.word(), Shown::text(name));
            let label = format!("{} has it narrower", whose(&entry.node));
            problems.push(node.problem(Problem::new(Code::LayerWidens, message), label).hint(ONLY_NARROW));
        }
    }
}

/// The first value of a table that a layer wrote.
fn first_of(scope: Scope, node: &Node) -> Option<&Node> {
    let inner = node.table().into_iter().flat_map(Table::values).map(|entry| &entry.node);
    let own = |node: &&Node| node.table().is_none() && node.source.scope == scope;
    inner.clone().find(own).or_else(|| inner.clone().find_map(|node| first_of(scope, node)))
}

struct Merge<'a> {
    scope: Scope,
    /// Reference for narrowing: everything but rules, as it was before this layer.
    before: &'a Table,
    /// The profiles of this layer, on top of the wider ones.
    own_profiles: Table,
    problems: &'a mut Vec<Problem>,
}

impl Merge<'_> {
    fn table(&mut self, keys: &'static [Key], base: &mut Table, mut layer: Table, path: &str) {
        for key in keys {
            let Some(entry) = layer.remove(key.name) else { continue };
            let path = format!("{path}{}", key.name);
            match key.kind {
                Kind::Table(_) if matches!(key.narrow, Narrow::Tools) => self.tools(key.name, base, entry),
                Kind::Table(keys) => self.inner(keys, key.name, base, entry, &path),
                Kind::Findings(_) => self.findings(key, base, entry, &path),
                Kind::Named(keys) => self.named(keys, key.name, base, entry, &path),
                _ => self.leaf(key, base, entry, &path),
            }
        }
    }

    fn inner(&mut self, keys: &'static [Key], name: &str, base: &mut Table, entry: Entry, path: &str) {
        let (into, layer) = opened(name, base, entry);
        if let (Some(into), Some(layer)) = (into, layer) {
            self.table(keys, into, layer, &format!("{path}."));
        }
    }

    fn named(&mut self, keys: &'static [Key], name: &str, base: &mut Table, entry: Entry, path: &str) {
        if let (Some(into), Some(layer)) = opened(name, base, entry) {
            for (name, entry) in layer {
                self.inner(keys, &name, into, entry, &format!("{path}.{name}"));
            }
        }
    }

    /// Each code on its own. Where no wider layer has a word on it, the mode has.
    fn findings(&mut self, key: &Key, base: &mut Table, entry: Entry, path: &str) {
        let Narrow::Each(words) = key.narrow else { return };
        let mode = find(self.before, "commands.mode");
        let (Some(into), Some(layer)) = opened(key.name, base, entry) else { return };
        for (code, entry) in layer {
            let wider = into.get(&code).map(|entry| &entry.node);
            let bound = self.scope == Scope::Project || wider.or(mode).is_some_and(is_managed);
            let path = format!("{path}.{code}");
            let result = match wider {
                Some(wider) => in_order(words, Some(wider), &entry.node, &path),
                None => no_less_than_mode(&code, mode, &entry.node, &path),
            };
            match result {
                Err(problem) if bound => self.problems.push(problem),
                _ => drop(into.insert(code, entry)),
            }
        }
    }

    fn leaf(&mut self, key: &Key, base: &mut Table, mut entry: Entry, path: &str) {
        let wider = base.get(key.name);
        let bound = self.scope == Scope::Project || wider.is_some_and(|wider| is_managed(&wider.node));
        if bound && let Err(problem) = self.narrows(key, wider.map(|entry| &entry.node), &entry.node, path) {
            self.problems.push(problem);
            return;
        }
        let adds = matches!(key.narrow, Narrow::Add) && (bound || matches!(key.kind, Kind::Tables(_)));
        if adds && let Some(wider) = base.remove(key.name) {
            entry.node.put_before(wider.node);
        }
        base.insert(key.name.into(), entry);
    }

    fn narrows(&self, key: &Key, wider: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
        match key.narrow {
            Narrow::Free | Narrow::Inside | Narrow::Tools | Narrow::Each(_) => Ok(()),
            Narrow::Add => self.adds(node, path),
            Narrow::Fixed => fixed(wider, node, path, self.scope),
            Narrow::Order(words) => in_order(words, wider, node, path),
            Narrow::Smaller => smaller(wider, node, path),
            Narrow::Some => some(wider, node, path),
            Narrow::Within => self.within(key, wider, node, path),
            Narrow::Profile => self.profile(wider, node, path),
        }
    }

    /// Adding a restriction is always fine. Of rules, only those of the project are looked at: a rule of the user that
    /// allows cannot overrule a stricter one of the administrator.
    fn adds(&self, node: &Node, path: &str) -> Result<(), Problem> {
        let allows = |rule: &&Node| {
            rule.table().and_then(|rule| find(rule, "action")).and_then(Node::word) == Some("allow")
        };
        match node.list().iter().find(allows) {
            Some(rule) if self.scope == Scope::Project => {
                let action = rule.table().and_then(|rule| find(rule, "action")).unwrap_or(rule);
                Err(widens(action, path, "an allow rule", "no allow rule can be added here"))
            }
            _ => Ok(()),
        }
    }

    fn within(&self, key: &Key, wider: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
        let Some(wider) = wider else { return Ok(()) };
        let meaning = match key.kind {
            Kind::List(meaning) => meaning,
            Kind::TextsOrTables(..) => return within_hosts(wider, node, path),
            _ => return Ok(()),
        };
        let section = path.rsplit_once('.').map_or("", |(section, _)| section);
        let allowed_anyway =
            find(self.before, &format!("{section}.default")).and_then(Node::word) == Some("allow");
        let known: Vec<_> = wider.texts().map(|(text, _)| text).collect();
        for (text, entry) in node.texts() {
            // A pattern that leaves the workspace is not covered by a default that ends at its border.
            let by_default = allowed_anyway
                && meaning == Text::PathPattern
                && !text.starts_with(['/', '~'])
                && !text.starts_with("re:");
            if !by_default && !covered(meaning, text, &known) {
                let only = if known.is_empty() { "nothing".into() } else { list(&known) };
                let what = format!("`{}`", Shown::text(text));
                return Err(widens(entry, path, &what, &format!("{} permits {only}", whose(wider))));
            }
        }
        Ok(())
    }

    fn profile(&self, wider: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
        let wider = wider.or_else(|| find(self.before, "jail.profile"));
        let (Some(wider), Some(name)) = (wider, node.text()) else { return Ok(()) };
        // A profile of this layer is not in `before`; it is judged where it is used.
        if path.starts_with("profiles.") && find(self.before, path).is_none() {
            return Ok(());
        }
        let known = wider.text().and_then(|name| profile(self.before, name));
        let wanted = profile(self.before, name).or_else(|| profile(&self.own_profiles, name));
        match (known, wanted) {
            // A name that does not exist is reported as such.
            (_, None) => Ok(()),
            (Some(known), Some(wanted)) if wanted.no_more_than(&known) => Ok(()),
            _ => Err(widens(
                node,
                path,
                &format!("`{name}`"),
                &format!("{} has `{}`", whose(wider), wider.text().unwrap_or("")),
            )),
        }
    }

    fn tools(&mut self, name: &str, base: &mut Table, entry: Entry) {
        let (Some(into), Some(layer)) = opened(name, base, entry) else { return };
        let bound = self.scope == Scope::Project || into.values().any(|entry| is_managed(&entry.node));
        let mut merged = into.clone();
        for (key, mut entry) in layer.clone() {
            if let Some(wider) = merged.remove(&key).filter(|_| key == "deny" && bound) {
                entry.node.put_before(wider.node);
            }
            merged.insert(key, entry);
        }
        match toolset::added(into, &merged, &layer) {
            Some((node, added)) if bound => {
                let base = format!("the wider set has `{}`", toolset::profile_name(into));
                self.problems.push(widens(node, "tools", &added, &base));
            }
            _ => *into = merged,
        }
    }
}

/// Every host of an entry must be permitted by the wider list, with no more methods and paths.
fn within_hosts(wider: &Node, node: &Node, path: &str) -> Result<(), Problem> {
    let Some(entry) = widening(node, wider) else { return Ok(()) };
    let known: Vec<_> = entries(Some(wider)).map(|entry| entry.text).collect();
    let only = if known.is_empty() { "nothing".into() } else { list(&known) };
    let what = format!("`{}`", Shown::text(entry.text));
    Err(widens(entry.node, path, &what, &format!("{} permits {only}", whose(wider))))
}

fn is_managed(node: &Node) -> bool {
    node.source.scope == Scope::Managed
}

/// The table to merge into, made if it is not there yet, and the table of the layer.
fn opened<'a>(name: &str, base: &'a mut Table, entry: Entry) -> (Option<&'a mut Table>, Option<Table>) {
    let Entry { key, node: Node { source, span, value } } = entry;
    let empty = || Node { source, span, value: Value::Table(Table::new()) };
    let into = base.entry(name.to_owned().into()).or_insert_with(|| Entry { key, node: empty() });
    let into = if let Value::Table(table) = &mut into.node.value { Some(table) } else { None };
    (into, if let Value::Table(table) = value { Some(table) } else { None })
}

fn fixed(wider: Option<&Node>, node: &Node, path: &str, scope: Scope) -> Result<(), Problem> {
    if wider.is_some_and(|wider| same(wider, node)) {
        return Ok(());
    }
    let what = format!("`{}`", Shown::text(node.written().lines().next().unwrap_or_default()));
    let owner = if scope == Scope::Project {
        "only you or the administrator set this"
    } else {
        "only the administrator sets this"
    };
    let has = wider.map_or(owner.to_owned(), |wider| {
        format!("{owner}, and {} has `{}`", whose(wider), Shown::text(wider.written()))
    });
    Err(widens(node, path, &what, &has))
}

fn in_order(words: &[&str], wider: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
    let rank = |node: &Node| words.iter().position(|word| Some(*word) == node.word());
    match wider {
        Some(wider) if rank(node) < rank(wider) => Err(wider_value(wider, node, path)),
        _ => Ok(()),
    }
}

/// A finding must mean at least what the mode of the wider layers makes of it.
fn no_less_than_mode(code: &str, mode: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
    let by_mode = Code::from_id(code).and_then(|code| policy::finding::effect(code, mode_of(mode)));
    let wanted = node.word().and_then(effect_of).unwrap_or(Effect::Allow);
    match by_mode {
        Some(least) if wanted < least => {
            let has = mode.map_or_else(String::new, |mode| {
                let word = Shown::text(mode.written()).to_string();
                format!("{} has the mode `{word}`, which says {}", whose(mode), least.word())
            });
            Err(widens(node, path, &format!("`{}`", Shown::text(node.written())), &has))
        }
        _ => Ok(()),
    }
}

/// A choice must be one of the wider layer, too.
fn some(wider: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
    match wider {
        Some(wider) if !no_more(node, wider) => Err(wider_value(wider, node, path)),
        _ => Ok(()),
    }
}

/// Returns true if a choice of some is within another: `auto` is everything, `none` nothing.
fn no_more(node: &Node, wider: &Node) -> bool {
    let in_wider = |text: &str| wider.texts().any(|(known, _)| known == text);
    match (node.text(), wider.text()) {
        (Some("none"), _) | (_, Some("auto")) => true,
        (Some(_), _) => false,
        (None, _) => node.texts().all(|(text, _)| in_wider(text)),
    }
}

fn smaller(wider: Option<&Node>, node: &Node, path: &str) -> Result<(), Problem> {
    match wider {
        Some(wider) if node.amount() > wider.amount() => Err(wider_value(wider, node, path)),
        _ => Ok(()),
    }
}

fn wider_value(wider: &Node, node: &Node, path: &str) -> Problem {
    let what = format!("`{}`", Shown::text(node.written()));
    widens(node, path, &what, &format!("{} has `{}`", whose(wider), Shown::text(wider.written())))
}

/// Returns true if two values are the same, independent of their places.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Table(a), Value::Table(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((x, a), (y, b))| x == y && same(&a.node, &b.node))
        }
        _ => a.word().is_some() && a.word() == b.word() || a.amount().is_some() && a.amount() == b.amount(),
    }
}

const ONLY_NARROW: &str =
    "a narrower layer can take away, never add: change the wider file, or remove this line";

fn widens(node: &Node, path: &str, what: &str, base: &str) -> Problem {
    let message =
        format!("the {} file cannot widen `{}`: {what}", node.source.scope.word(), Shown::text(path));
    node.problem(Problem::new(Code::LayerWidens, message), base.to_owned()).hint(ONLY_NARROW)
}

/// `the user file (~/…:3)`
fn whose(node: &Node) -> String {
    match node.source.scope {
        Scope::BuiltIn => "the built-in policy".to_owned(),
        scope => format!("the {} file ({})", scope.word(), node.place()),
    }
}

fn list(entries: &[&str]) -> String {
    let shown: Vec<_> = entries.iter().take(5).map(|entry| format!("`{}`", Shown::text(entry))).collect();
    let more = if entries.len() > 5 { format!(" and {} more", entries.len() - 5) } else { String::new() };
    format!("only {}{more}", shown.join(", "))
}
