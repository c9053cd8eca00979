//! The sections `network` and `secrets`, compiled for the broker.

use std::path::{Path, PathBuf};

use policy::{
    Code, Endpoint, HostAddress, HostName, Inject, ProxyAddress, RequestRule, RequestScope, Route, RuleRef,
    Scheme, SecretPreset, SecretSource, Shown, secret_preset,
};

use crate::check::{check, host_address};
use crate::host_entry::{EntryHost, HostEntry, entries, scope, widening};
use crate::place::Places;
use crate::problem::{Problem, Problems};
use crate::settings::Settings;
use crate::source::{Scope, Source};
use crate::tree::{Node, Table, Value, find};

/// Settings of the broker besides the rules on hosts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    routes: Vec<Route>,
    requests: Vec<RequestRule>,
    addresses: Vec<HostAddress>,
    proxy: Option<ProxyAddress>,
    roots: Vec<PathBuf>,
}

/// Compiles both sections.
pub(crate) fn compile(table: &Table, places: &Places) -> Result<Network, Vec<Problem>> {
    let mut problems = Vec::new();
    let network = Network {
        routes: routes(table, &mut problems),
        requests: request_rules(table),
        addresses: addresses(table, &mut problems),
        proxy: proxy(table, &mut problems),
        roots: roots(table, places, &mut problems),
    };
    if problems.is_empty() { Ok(network) } else { Err(problems) }
}

/// Entries add up: a host that another entry allows with every request has no rule on requests.
fn request_rules(table: &Table) -> Vec<RequestRule> {
    let of_entry = |entry: HostEntry<'_>| {
        let place = entry.node.place();
        entry.hosts().into_iter().map(move |host| (place.clone(), host)).collect::<Vec<_>>()
    };
    let all: Vec<(RuleRef, EntryHost)> = entries(find(table, "network.allow")).flat_map(of_entry).collect();
    let (open, ruled): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, host)| host.requests.is_everything());
    let is_open = |host: &EntryHost| open.iter().any(|(_, other)| host.pattern.is_within(&other.pattern));
    let kept = ruled.into_iter().filter(|(_, host)| !is_open(host));
    kept.map(|(place, EntryHost { pattern, requests })| RequestRule {
        host: pattern,
        requests,
        rule: Some(place),
    })
    .collect()
}

fn addresses(table: &Table, problems: &mut Vec<Problem>) -> Vec<HostAddress> {
    let given = find(table, "network.hosts").and_then(Node::table).into_iter().flatten();
    let mut found = Vec::new();
    for (name, entry) in given {
        let host = HostName::parse(name).ok().filter(|host| host.name().is_some());
        let address = entry.node.text().and_then(|text| host_address(text).ok());
        if let Some((name, (address, port))) = host.zip(address) {
            found.push(HostAddress { name, address, port });
        } else {
            let message = format!("`{}` is not the name of a host", Shown::text(name));
            problems
                .push(entry.node.problem(Problem::new(Code::BadHostPattern, message), "for this address"));
        }
    }
    found
}

fn proxy(table: &Table, problems: &mut Vec<Problem>) -> Option<ProxyAddress> {
    let secret = find(table, "network.proxy-secret");
    let proxy = find(table, "network.proxy").and_then(|node| ProxyAddress::parse(node.text()?).ok());
    if let (Some(node), None) = (secret, &proxy) {
        let problem =
            Problem::new(Code::MissingKey, "`network.proxy-secret` is for a proxy, and there is none");
        problems.push(node.problem(problem, "set `network.proxy`, or remove this line"));
    }
    let secret = secret.and_then(Node::text).map(Into::into);
    proxy.map(|proxy| ProxyAddress { secret, ..proxy })
}

fn roots(table: &Table, places: &Places, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for (text, node) in find(table, "network.ca").into_iter().flat_map(Node::texts) {
        match places.absolute(text) {
            Some(path) if path.starts_with(&places.workspace) => {
                let problem = Problem::new(Code::BadValue, "an authority cannot lie in the workspace");
                problems.push(node.problem(problem, "the agent could replace it"));
            }
            Some(path) => roots.push(path),
            None => {
                let problem =
                    Problem::new(Code::BadValue, "cannot expand `~/`: the home directory is unknown");
                problems.push(node.problem(problem, "set HOME, or write the whole path"));
            }
        }
    }
    roots
}

fn routes(table: &Table, problems: &mut Vec<Problem>) -> Vec<Route> {
    let mut routes: Vec<(Route, &Node)> = Vec::new();
    for node in find(table, "secrets").map(Node::list).unwrap_or_default() {
        match route(node) {
            Ok(route) => {
                problems.extend(routes.iter().find_map(|(other, _)| conflict(&route, other, node)));
                routes.push((route, node));
            }
            Err(problem) => problems.push(problem),
        }
    }
    routes.into_iter().map(|(route, _)| route).collect()
}

/// Two routes that a request, a value or a variable cannot tell apart.
fn conflict(route: &Route, other: &Route, node: &Node) -> Option<Problem> {
    let at = other.rule.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
    let (name, known) = (Shown::text(&route.secret), Shown::text(&other.secret));
    let same = route.secret == other.secret;
    let (message, label) = if route.endpoint == other.endpoint && route.requests.overlaps(&other.requests) {
        let message =
            format!("`{name}` and `{known}`{at} both go to {} with the same requests", route.endpoint);
        (message, "give them paths that exclude each other, or remove one")
    } else if same && route.source != other.source {
        (
            format!("a secret of the name `{name}` exists already{at}"),
            "names are unique; the same secret has the same `from`",
        )
    } else if !same && route.placeholder.is_some() && route.placeholder == other.placeholder {
        (format!("`{name}` and `{known}`{at} have the same placeholder"), "a variable stands for one secret")
    } else {
        return None;
    };
    Some(node.problem(Problem::new(Code::BadValue, message), label))
}

fn route(node: &Node) -> Result<Route, Problem> {
    let empty = Table::new();
    let table = node.table().unwrap_or(&empty);
    let text = |key: &str| find(table, key).and_then(Node::text);
    let preset = text("preset").and_then(secret_preset);
    let missing = |key: &str| {
        let message = format!("`secrets.{key}` is missing");
        node.problem(Problem::new(Code::MissingKey, message), "give it, or a `preset`")
    };
    let name = text("name").or(preset.map(|preset| preset.secret)).ok_or_else(|| missing("name"))?;
    if !is_secret_name(name) {
        let message = "the name of a secret has up to 64 lower-case letters, digits, `-`, `_` and `.`, and begins with a letter or digit";
        let at = find(table, "name").unwrap_or(node);
        return Err(at.problem(Problem::new(Code::BadValue, message), "this name"));
    }
    let endpoint = match text("host") {
        Some(host) => Endpoint::parse(host, default_port(table)).ok(),
        None => preset.map(|preset| preset.endpoint.clone()),
    };
    let endpoint = endpoint.ok_or_else(|| missing("host"))?;
    let source = text("from").map_or(Ok(SecretSource::Store), SecretSource::parse);
    let source =
        source.map_err(|error| node.problem(Problem::new(Code::BadValue, error.to_string()), "here"))?;
    let inject = match find(table, "inject") {
        Some(inject) => one_way(inject)?,
        None => preset.map(|preset| preset.inject.clone()).ok_or_else(|| missing("inject"))?,
    };
    let placeholder = text("placeholder").or(preset.and_then(|preset| preset.placeholder));
    let mut route = Route::new(name, source, endpoint, inject);
    route.placeholder = placeholder.map(Into::into);
    route.scheme = scheme(table, node, &route)?;
    route.requests = requests(table, preset).ok_or_else(|| missing("paths"))?;
    route.rule = Some(node.place());
    if route.inject == Inject::Replace && route.placeholder.is_none() {
        let problem = Problem::new(Code::MissingKey, "`inject.replace` needs a `placeholder` to replace");
        return Err(node.problem(problem, "name the variable that programs inside see"));
    }
    Ok(route)
}

fn is_secret_name(name: &str) -> bool {
    let holds = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    name.len() <= 64
        && name.bytes().all(holds)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

fn default_port(table: &Table) -> u16 {
    if find(table, "scheme").and_then(Node::word) == Some("http") { 80 } else { 443 }
}

/// A secret over plain HTTP has to be asked for.
fn scheme(table: &Table, node: &Node, route: &Route) -> Result<Scheme, Problem> {
    match find(table, "scheme").and_then(Node::word) {
        Some("http") => Ok(Scheme::Http),
        None if route.endpoint.port == 80 => {
            let message = format!("port 80 of {} usually speaks HTTP without TLS", route.endpoint.host);
            let hint = "write `scheme = \"http\"` to send the secret in clear text, or another port";
            Err(node.problem(Problem::new(Code::BadValue, message), "no `scheme` here").hint(hint))
        }
        _ => Ok(Scheme::Https),
    }
}

/// Requests as written; those of the preset hold unless the entry names others or another host.
fn requests(table: &Table, preset: Option<&SecretPreset>) -> Option<RequestScope> {
    let own = scope(table)?;
    let preset = preset.filter(|_| find(table, "host").is_none() && own.paths.is_none());
    let paths = preset.map_or(own.paths, |preset| preset.requests.paths.clone());
    Some(RequestScope { methods: own.methods, paths })
}

fn one_way(node: &Node) -> Result<Inject, Problem> {
    let ways: Vec<_> =
        node.table().into_iter().flatten().filter_map(|(way, entry)| inject(way, &entry.node)).collect();
    match <[Inject; 1]>::try_from(ways) {
        Ok([inject]) if node.table().is_some_and(|table| table.len() == 1) => Ok(inject),
        _ => {
            let problem = Problem::new(Code::BadValue, "a secret needs exactly one way of injection");
            Err(node.problem(problem, "one of header, bearer, basic, query, replace or aws-sigv4"))
        }
    }
}

fn inject(way: &str, node: &Node) -> Option<Inject> {
    match (way, node.word()?) {
        (_, "false") => None,
        ("bearer" | "replace" | "aws-sigv4", _) => Inject::parse(way),
        (way, name) => Inject::parse(&format!("{way}:{name}")),
    }
}

impl Settings {
    /// Returns the routes of secrets.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.network.routes
    }

    /// Returns the rules on requests: see [`policy::permits_request`].
    #[must_use]
    pub fn request_rules(&self) -> &[RequestRule] {
        &self.network.requests
    }

    /// Returns the fixed addresses of names.
    #[must_use]
    pub fn host_addresses(&self) -> &[HostAddress] {
        &self.network.addresses
    }

    /// Returns the proxy through which connections leave.
    #[must_use]
    pub fn upstream_proxy(&self) -> Option<&ProxyAddress> {
        self.network.proxy.as_ref()
    }

    /// Returns files with authorities that are trusted besides those of the system.
    #[must_use]
    pub fn extra_roots(&self) -> &[PathBuf] {
        &self.network.roots
    }

    /// Returns the policy with more hosts and sets in `network.allow`, as a person wished on the command line. The
    /// administrator's list and the project's are bounds.
    pub fn allowing(mut self, wished: &[String]) -> Result<Self, Problems> {
        if wished.is_empty() {
            return Ok(self);
        }
        let list = command_line(wished)?;
        self.hosts_allowed(&list)?;
        let added = if let Value::List(added) = list.value { added } else { Vec::new() };
        if let Some(Value::Table(network)) = self.table.get_mut("network").map(|entry| &mut entry.node.value)
            && let Some(Value::List(known)) = network.get_mut("allow").map(|entry| &mut entry.node.value)
        {
            known.extend(added);
        }
        self.again()
    }

    /// Checks hosts and sets that would be added to `network.allow` on the command line.
    pub fn accepts_hosts(&self, wished: &[String]) -> Result<(), Problems> {
        Ok(self.hosts_allowed(&command_line(wished)?)?)
    }

    /// Checks that every entry lies within the lists of the bounding layers, as far as they have one.
    fn hosts_allowed(&self, list: &Node) -> Result<(), Problem> {
        for bound in self.bounding_layers() {
            let Some(known) = find(&bound, "network.allow") else { continue };
            if let Some(entry) = widening(list, known) {
                return Err(crate::jailing::widens("network.allow", entry.text, Some(known)));
            }
        }
        Ok(())
    }
}

/// Hosts of the command line, read as if they stood in a file.
fn command_line(wished: &[String]) -> Result<Node, Problems> {
    let quoted = |text: &String| format!("    \"{}\",\n", text.replace('\\', "\\\\").replace('"', "\\\""));
    let entries: String = wished.iter().map(quoted).collect();
    let text = format!("version = 1\nnetwork.allow = [\n{entries}]\n");
    let source = Source::new(Scope::User, Path::new("the command line"), text).into();
    let (table, problems) = check(&source);
    match find(&table, "network.allow") {
        Some(list) if problems.is_empty() => Ok(list.clone()),
        _ => Err(Problems(problems)),
    }
}
