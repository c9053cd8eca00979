//! Settings that have no effect yet.

use jail::Network;
use policy::{Code, Effect, Rule, RuleRef, Subject};

use crate::jailing::{JailSettings, Jailing};
use crate::lint::Remark;
use crate::schema::{Key, Kind, ROOT};
use crate::settings::Settings;
use crate::source::Scope;
use crate::tree::{Node, Table};

/// A setting that a person wrote and that has no effect in this version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbuilt {
    /// The key, with its value where only this value has no effect.
    pub key: String,
    /// File and line.
    pub place: RuleRef,
    /// True if it reads as a limit or a protection.
    pub restricts: bool,
}

impl Unbuilt {
    /// The setting as a remark of `lint`.
    pub(crate) fn remark(self) -> Remark {
        let what = if self.restricts { "is not enforced yet" } else { "has no effect yet" };
        let message = format!("`{}` is checked and {what}", self.key);
        Remark { code: Code::NotBuilt, message, place: Some(self.place) }
    }
}

/// Every such setting, in the order of the keys.
#[must_use]
pub fn unbuilt(settings: &Settings) -> Vec<Unbuilt> {
    let mut found = Vec::new();
    walk(ROOT, &settings.table, "", &mut found);
    found
}

fn walk(keys: &[Key], table: &Table, path: &str, found: &mut Vec<Unbuilt>) {
    for (name, entry) in table {
        let Some(key) = keys.iter().find(|key| key.name == name) else { continue };
        let path = format!("{path}{name}");
        let node = &entry.node;
        match (key.kind, node.table()) {
            (Kind::Table(keys), Some(table)) => walk(keys, table, &format!("{path}."), found),
            (Kind::Named(keys), Some(table)) => {
                for (name, entry) in table {
                    if let Some(inner) = entry.node.table() {
                        walk(keys, inner, &format!("{path}.{name}."), found);
                    }
                }
            }
            _ => found.extend(without_effect(key, &path, node)),
        }
    }
}

fn without_effect(key: &Key, path: &str, node: &Node) -> Option<Unbuilt> {
    let inert = node.word().filter(|word| key.inert.contains(word));
    if node.source.scope == Scope::BuiltIn || (key.built && inert.is_none()) {
        return None;
    }
    let key_shown = inert.map_or(path.to_owned(), |word| format!("{path} = {word}"));
    Some(Unbuilt { key: key_shown, place: node.place(), restricts: key.restricts })
}

impl Settings {
    /// Returns the settings about hosts that have no effect on commands of a jail: with the host's network no host is closed,
    /// without a network none is opened.
    #[must_use]
    pub fn unheld_hosts(&self, jail: &JailSettings) -> Option<String> {
        let open = jail.network == Network::Open || matches!(jail.jailing, Jailing::Never(_));
        if open {
            let (key, place) = self.closing()?;
            return Some(format!(
                "rules about hosts are not enforced on commands that have the host's network: {key} ({place})"
            ));
        }
        let (key, place) = self.opening().filter(|_| jail.network == Network::None)?;
        Some(format!(
            "{key} ({place}) opens no host for commands: the profile `{}` has no network; `--profile workspace-write` \
             or `network = \"broker\"` in your profile does",
            jail.profile
        ))
    }

    /// The first thing that a person wrote to let hosts in.
    fn opening(&self) -> Option<(&'static str, RuleRef)> {
        let list = self.written("network.allow").filter(|node| !node.list().is_empty());
        list.map(|node| ("`network.allow`", node.place()))
            .or_else(|| self.host_rule(|rule| rule == Effect::Allow))
    }

    /// The first thing that a person wrote to keep hosts out.
    fn closing(&self) -> Option<(&'static str, RuleRef)> {
        let list = self.written("network.deny").filter(|node| !node.list().is_empty());
        let list = list.map(|node| ("`network.deny`", node.place()));
        let unknown = self.written("network.unknown").map(|node| ("`network.unknown`", node.place()));
        list.or(unknown).or_else(|| self.host_rule(|rule| rule != Effect::Allow))
    }

    fn host_rule(&self, wanted: impl Fn(Effect) -> bool) -> Option<(&'static str, RuleRef)> {
        let hosts = |rule: &&Rule| matches!(rule.subject, Subject::Host(_)) && wanted(rule.effect);
        let rule = self.rules.rules().iter().find(hosts)?;
        Some(("a rule about a host", rule.reason.rule.clone()?))
    }

    /// A value that a person wrote.
    fn written(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|node| node.source.scope != Scope::BuiltIn)
    }
}
