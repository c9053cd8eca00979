//! Entries of `network.allow` and `network.deny`: hosts, sets of hosts, and hosts with methods and paths.

use policy::{HostPattern, HostSet, PathGlob, RequestScope, host_set};

use crate::cover::covered;
use crate::schema::Text;
use crate::tree::{Node, Table, find};

/// One entry of a list of hosts. Its texts were checked before.
pub(crate) struct HostEntry<'a> {
    /// The entry in the file.
    pub(crate) node: &'a Node,
    /// The host pattern or the set, as written.
    pub(crate) text: &'a str,
    /// The set that it names.
    pub(crate) set: Option<&'static HostSet>,
    requests: RequestScope,
}

/// A host that an entry stands for, with the requests that it permits.
pub(crate) struct EntryHost {
    pub(crate) pattern: HostPattern,
    pub(crate) requests: RequestScope,
}

/// Returns the entries of a list.
pub(crate) fn entries(list: Option<&Node>) -> impl Iterator<Item = HostEntry<'_>> {
    list.into_iter().flat_map(Node::list).filter_map(HostEntry::of)
}

/// Returns the first entry of a list that permits what no entry of the wider list does.
pub(crate) fn widening<'a>(list: &'a Node, wider: &Node) -> Option<HostEntry<'a>> {
    let known: Vec<_> = entries(Some(wider)).flat_map(|entry| entry.hosts()).collect();
    let within = |host: &EntryHost| known.iter().any(|wide| host.is_within(wide));
    let mut all = entries(Some(list));
    all.find(|entry| !entry.hosts().iter().all(within))
}

impl<'a> HostEntry<'a> {
    fn of(node: &'a Node) -> Option<Self> {
        let (text, requests) = match node.table() {
            Some(table) => (find(table, "host")?.text()?, scope(table)?),
            None => (node.text()?, RequestScope::default()),
        };
        let set = text.strip_prefix('@').and_then(host_set);
        Some(Self { node, text, set, requests })
    }

    /// Returns the hosts that it stands for. A text that cannot be read stands for none.
    pub(crate) fn hosts(&self) -> Vec<EntryHost> {
        if let Some(set) = self.set {
            let host = |host: &policy::SetHost| EntryHost {
                pattern: host.pattern.clone(),
                requests: host.requests.clone(),
            };
            return set.hosts.iter().map(host).collect();
        }
        let pattern = HostPattern::parse(self.text).ok();
        pattern.map(|pattern| EntryHost { pattern, requests: self.requests.clone() }).into_iter().collect()
    }
}

impl EntryHost {
    fn is_within(&self, wide: &Self) -> bool {
        covered(Text::HostPattern, self.pattern.as_str(), &[wide.pattern.as_str()])
            && self.requests.is_within(&wide.requests)
    }
}

/// Returns the methods and paths of a table; `None` for a path that cannot be read.
pub(crate) fn scope(table: &Table) -> Option<RequestScope> {
    let methods = find(table, "methods").map(|node| node.texts().map(|(text, _)| text.into()).collect());
    let glob = |(text, _): (&str, &Node)| PathGlob::parse(text).ok();
    let paths = find(table, "paths").map(|node| node.texts().map(glob).collect::<Option<Vec<_>>>());
    Some(RequestScope { methods, paths: if let Some(paths) = paths { Some(paths?) } else { None } })
}
