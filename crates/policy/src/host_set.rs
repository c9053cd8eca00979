//! Named sets of hosts: what a registry or an API needs, under one name.

use std::sync::LazyLock;

use crate::host::Endpoint;
use crate::host_pattern::HostPattern;
use crate::route::{PathGlob, RequestScope};
use crate::tables::host_sets::HOST_SETS;

/// A named set of hosts. `@npm` in a policy stands for every host of it.
#[derive(Debug, Clone)]
pub struct HostSet {
    /// The name without the `@`.
    pub name: &'static str,
    /// The service that the hosts belong to.
    pub because: &'static str,
    /// Programs whose runs usually need it.
    pub programs: &'static [&'static str],
    /// The toolchain of a jail that brings it as a proposal.
    pub toolchain: Option<&'static str>,
    /// The hosts.
    pub hosts: Vec<SetHost>,
}

/// A host of a named set.
#[derive(Debug, Clone)]
pub struct SetHost {
    /// The host, with its port.
    pub pattern: HostPattern,
    /// Requests that are permitted.
    pub requests: RequestScope,
    /// True if data that is sent there can reach third parties.
    pub shared: bool,
    /// The reason why a client connects to it.
    pub because: &'static str,
}

impl HostSet {
    /// Returns true if data that is sent to one of its hosts can reach third parties.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.hosts.iter().any(|host| host.shared)
    }
}

/// A set as the generated table holds it.
#[derive(Debug)]
pub(crate) struct SetRow {
    pub(crate) name: &'static str,
    pub(crate) because: &'static str,
    pub(crate) programs: &'static [&'static str],
    pub(crate) toolchain: Option<&'static str>,
    pub(crate) hosts: &'static [HostRow],
}

/// A host of a set as the generated table holds it. No method or path stands for all of them.
#[derive(Debug)]
pub(crate) struct HostRow {
    pub(crate) host: &'static str,
    pub(crate) methods: &'static [&'static str],
    pub(crate) paths: &'static [&'static str],
    pub(crate) shared: bool,
    pub(crate) because: &'static str,
}

/// Returns every set, sorted by name.
#[must_use]
pub fn host_sets() -> &'static [HostSet] {
    static SETS: LazyLock<Vec<HostSet>> = LazyLock::new(|| HOST_SETS.iter().map(read).collect());
    &SETS
}

/// Returns a set by its name without the `@`.
///
/// ```
/// let npm = ringfence_policy::host_set("npm").unwrap();
/// assert!(npm.hosts.iter().any(|host| host.pattern.as_str() == "registry.npmjs.org:443"));
/// assert_eq!(npm.toolchain, Some("node"));
/// ```
#[must_use]
pub fn host_set(name: &str) -> Option<&'static HostSet> {
    let sets = host_sets();
    sets.binary_search_by(|set| set.name.cmp(name)).ok().map(|at| &sets[at])
}

/// Returns the sets that have a host. The one in which it stands first comes first: it is the one to propose.
#[must_use]
pub fn sets_containing(endpoint: &Endpoint) -> Vec<&'static HostSet> {
    let position = |set: &HostSet| set.hosts.iter().position(|host| host.pattern.matches(endpoint));
    let mut found: Vec<_> = host_sets().iter().filter_map(|set| Some((position(set)?, set))).collect();
    found.sort_by_key(|(position, set)| (*position, set.name));
    found.into_iter().map(|(_, set)| set).collect()
}

fn read(row: &SetRow) -> HostSet {
    let SetRow { name, because, programs, toolchain, hosts } = *row;
    HostSet { name, because, programs, toolchain, hosts: hosts.iter().filter_map(read_host).collect() }
}

/// A row that cannot be read allows nothing; a test sees to it that there is none.
fn read_host(row: &HostRow) -> Option<SetHost> {
    let methods =
        (!row.methods.is_empty()).then(|| row.methods.iter().map(|method| (*method).into()).collect());
    let paths = row.paths.iter().map(|path| PathGlob::parse(path)).collect::<Result<Vec<_>, _>>().ok()?;
    let requests = RequestScope { methods, paths: (!paths.is_empty()).then_some(paths) };
    let pattern = HostPattern::parse(row.host).ok()?;
    Some(SetHost { pattern, requests, shared: row.shared, because: row.because })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        for (set, row) in host_sets().iter().zip(HOST_SETS) {
            assert_eq!((set.name, set.hosts.len()), (row.name, row.hosts.len()));
            assert!(!set.hosts.is_empty(), "{}", set.name);
        }
        assert!(host_sets().is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn hosts_have_ports_and_say_that_they_are_shared() {
        for (set, host) in host_sets().iter().flat_map(|set| set.hosts.iter().map(move |host| (set, host))) {
            let text = host.pattern.as_str();
            assert!(text.ends_with(":443") || text.ends_with(":80"), "@{} {text}", set.name);
            assert!(!host.pattern.names_local() || text.contains('.'), "@{} {text}", set.name);
            let is_known = host.pattern.shared_with_anybody().is_some();
            assert!(host.shared || !is_known, "@{} {text} is a shared host", set.name);
            // TLS is intercepted for a rule on requests; a host of a third party's buckets is worth it.
            let intercepts = text.ends_with(":443") && !host.requests.is_everything();
            assert!(!intercepts || host.requests.paths.is_some(), "@{} {text}", set.name);
        }
    }

    #[test]
    fn sets_are_found_by_host() {
        let rows: [(&str, &[&str]); 8] = [
            ("api.github.com:443", &["github", "copilot"]),
            ("registry.npmjs.org:443", &["npm", "yarn"]),
            ("registry.npmjs.org:80", &[]),
            ("npmjs.org:443", &[]),
            ("de.archive.ubuntu.com:80", &["ubuntu"]),
            ("archive.ubuntu.com:80", &["ubuntu"]),
            ("ghcr.io:443", &["ghcr", "homebrew"]),
            ("evil.registry.npmjs.org:443", &[]),
        ];
        for (host, expected) in rows {
            let endpoint = Endpoint::parse(host, 443).unwrap();
            let names: Vec<_> = sets_containing(&endpoint).iter().map(|set| set.name).collect();
            assert_eq!(names, expected, "{host}");
        }
        assert!(host_set("npm").is_some_and(HostSet::is_shared));
        assert!(!host_set("pypi").is_some_and(HostSet::is_shared));
        assert!(host_set("@npm").is_none() && host_set("").is_none());
    }
}
