//! Hosts that are known by name, with a column for every use.

use crate::tables::hosts::HOSTS;

/// A host that the reviewed table knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownHost {
    /// A host with all below it; with a dot before it only what lies below, with a slash in it also the beginning of a path.
    pub name: &'static str,
    /// The word for what a skill reaches there; empty if that is not known.
    pub kind: &'static str,
    /// True if any account can publish or receive there.
    pub is_shared: bool,
    /// The reason for the row.
    pub reason: &'static str,
}

/// Reads every host, in the order of the table.
///
/// ```
/// let paste = ringfence_policy::known_hosts().find(|host| host.name == "pastebin.com").unwrap();
/// assert!(paste.is_shared && paste.kind == "paste");
/// ```
pub fn known_hosts() -> impl Iterator<Item = KnownHost> {
    let rows = HOSTS.lines().filter_map(|line| {
        let mut columns = line.splitn(4, '|');
        Some((columns.next()?, columns.next()?, columns.next()?, columns.next()?))
    });
    rows.flat_map(|(names, kind, shared, reason)| {
        let is_shared = shared == "true";
        names.split(' ').map(move |name| KnownHost { name, kind, is_shared, reason })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_read_and_every_host_stands_once() {
        let names: Vec<_> = known_hosts().map(|host| host.name).collect();
        let words = HOSTS.lines().flat_map(|line| line.split('|').next().unwrap().split(' '));
        assert_eq!(names.len(), words.count());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(known_hosts().all(|host| !host.kind.is_empty() || host.is_shared));
    }
}
