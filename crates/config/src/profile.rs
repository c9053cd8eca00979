//! Jail profiles: what they permit, compared.

use policy::Code;

use crate::problem::{Problem, nearest};
use crate::tree::{Node, Table, find};

/// The built-in profiles: name, whether the workspace may be written, network.
pub(crate) const BUILT_IN: &[(&str, bool, &str)] = &[
    ("readonly", false, "none"),
    ("workspace-write-no-network", true, "none"),
    ("workspace-write", true, "broker"),
];

/// What a profile permits, as far as profiles differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permits {
    write: bool,
    network: usize,
}

impl Permits {
    pub(crate) fn no_more_than(self, other: Self) -> bool {
        self.write <= other.write && self.network <= other.network
    }
}

const NETWORKS: &[&str] = &["none", "broker", "open"];
/// Longer chains of `extends` are a cycle or a joke.
const MAX_DEPTH: usize = 16;

/// What a profile permits; `None` when it does not exist or extends itself.
pub(crate) fn permits(table: &Table, name: &str) -> Option<Permits> {
    let mut name = name;
    let mut network = None;
    for _ in 0..MAX_DEPTH {
        if let Some((_, write, own)) = BUILT_IN.iter().find(|(built_in, ..)| *built_in == name) {
            return Some(Permits { write: *write, network: rank(network.unwrap_or(own)) });
        }
        let profile = find(table, "profiles")?.table()?.get(name)?.node.table()?;
        network = network.or_else(|| find(profile, "network").and_then(Node::word));
        name = find(profile, "extends")?.text()?;
    }
    None
}

fn rank(network: &str) -> usize {
    NETWORKS.iter().position(|known| *known == network).unwrap_or(NETWORKS.len())
}

/// Reports a profile that does not exist in this layer or a wider one.
pub(crate) fn check_reference(node: &Node, table: &Table) -> Option<Problem> {
    let name = node.text()?;
    if permits(table, name).is_some() {
        return None;
    }
    let own: Vec<_> =
        find(table, "profiles").and_then(Node::table).into_iter().flat_map(Table::keys).collect();
    let known = BUILT_IN.iter().map(|(name, ..)| *name).chain(own.iter().map(|name| &***name));
    let problem = if own.iter().any(|known| *known == name) {
        Problem::new(Code::BadValue, format!("the profile `{name}` does not lead to a built-in one"))
    } else {
        Problem::new(Code::UnknownName, format!("there is no profile `{name}`"))
    };
    let hint =
        nearest(name, known).filter(|near| *near != name).map(|near| format!("did you mean `{near}`?"));
    let problem = node.problem(problem, "not a profile here or in a wider layer");
    Some(hint.map_or(problem.clone(), |hint| problem.hint(hint)))
}
