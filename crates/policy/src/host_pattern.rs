//! Patterns on hosts, and many of them at once.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use regex::Regex;

use crate::address::not_public;
use crate::decision::Effect;
use crate::host::{Endpoint, HostError, HostName, split_port};
use crate::known_hosts::known_hosts;
use crate::pattern::{Pattern, PatternError, check_length, search};
use crate::tables::hosts::{LOCAL_SUFFIXES, PUBLIC_SECOND_LEVELS};

/// Which hosts a rule is about.
#[derive(Debug, Clone)]
pub struct HostPattern {
    text: Box<str>,
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum Hosts {
    /// `example.com`
    Exact(HostName),
    /// `*.example.com`: below it, at any depth.
    Below(Box<str>),
    /// `**.example.com`: it, and below it.
    AtOrBelow(Box<str>),
    /// `re:…`, anywhere in the name.
    Regex(Regex),
}

/// Why a host pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostPatternError {
    /// Empty, too long, or a bad expression.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The rest without the wildcard is not a host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// `*`, `example.*`, `ex*mple.com`.
    #[error("`*` may only stand alone at the beginning, as in `*.example.com`")]
    Wildcard,
    /// `*.com`, `*.co.uk`.
    #[error("names below `{0}` are open to public registration: name the domain, as in `*.example.{0}`")]
    PublicSuffix(Box<str>),
    /// `*.10.0.0.1`
    #[error("an address has no subdomains")]
    WildcardAddress,
}

impl HostPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, HostPatternError> {
        check_length(text)?;
        if let Some(expression) = text.strip_prefix("re:") {
            return Ok(Self { text: text.into(), hosts: Hosts::Regex(search(expression)?), port: None });
        }
        let (host, port) = split_port(text)?;
        let hosts = match (host.strip_prefix("**."), host.strip_prefix("*.")) {
            (Some(rest), _) => Hosts::AtOrBelow(suffix(rest)?),
            (_, Some(rest)) => Hosts::Below(suffix(rest)?),
            _ if host.contains('*') => return Err(HostPatternError::Wildcard),
            _ => Hosts::Exact(HostName::parse(host)?),
        };
        Ok(Self { text: text.into(), hosts, port })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if a permission with this pattern is about an endpoint.
    #[must_use]
    pub fn matches(&self, endpoint: &Endpoint) -> bool {
        let port = self.port.is_none_or(|port| port == endpoint.port);
        port && match (&self.hosts, &endpoint.host) {
            (Hosts::Exact(own), host) => own == host,
            (Hosts::Below(domain), HostName::Name(name)) => name != domain && at_or_below(name, domain),
            (Hosts::AtOrBelow(domain), HostName::Name(name)) => at_or_below(name, domain),
            (Hosts::Regex(regex), host) => regex.is_match(&host.to_string()),
            (Hosts::Below(_) | Hosts::AtOrBelow(_), HostName::Address(_)) => false,
        }
    }

    /// Returns true if the pattern names the port of an endpoint and is about it.
    #[must_use]
    pub fn names_port(&self, endpoint: &Endpoint) -> bool {
        self.port.is_some() && self.matches(endpoint)
    }

    /// A host and port that match; none is known for an expression.
    #[must_use]
    pub fn sample(&self) -> Option<Endpoint> {
        let host = match &self.hosts {
            Hosts::Exact(host) => host.clone(),
            Hosts::Below(name) => HostName::parse(&format!("some-name.{name}")).ok()?,
            Hosts::AtOrBelow(name) => HostName::Name(name.clone()),
            Hosts::Regex(_) => return None,
        };
        Some(Endpoint { host, port: self.port.unwrap_or(443) })
    }

    /// Returns true if the pattern is an expression that matches every host.
    #[must_use]
    pub fn is_anything(&self) -> bool {
        matches!(&self.hosts, Hosts::Regex(regex) if regex.is_match("some-name.example") && regex.is_match("10.0.0.1"))
    }

    /// Returns true if the pattern speaks of hosts that are not on the public network, by their own names.
    #[must_use]
    pub fn names_local(&self) -> bool {
        match &self.hosts {
            Hosts::Exact(_) => true,
            Hosts::Below(name) | Hosts::AtOrBelow(name) => {
                not_public(&HostName::Name(name.clone())).is_some()
            }
            Hosts::Regex(_) => false,
        }
    }

    /// Returns true if every host that matches is also matched by another pattern, as far as that can be proven.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        let port = wide.port.is_none() || wide.port == self.port;
        let below = |name: &str, domain: &str| name != domain && at_or_below(name, domain);
        port && match (&self.hosts, &wide.hosts) {
            (_, Hosts::Regex(_)) if wide.is_anything() => true,
            (Hosts::Exact(own), Hosts::Exact(host)) => own == host,
            (Hosts::Exact(own), Hosts::Regex(regex)) => regex.is_match(&own.to_string()),
            (Hosts::Exact(HostName::Name(own)) | Hosts::AtOrBelow(own), Hosts::Below(domain)) => {
                below(own, domain)
            }
            (Hosts::Exact(HostName::Name(own)) | Hosts::AtOrBelow(own), Hosts::AtOrBelow(domain))
            | (Hosts::Below(own), Hosts::Below(domain) | Hosts::AtOrBelow(domain)) => {
                at_or_below(own, domain)
            }
            (Hosts::Regex(_), Hosts::Regex(_)) => {
                let pattern = |text: &str| Pattern::parse(text).ok();
                let both = pattern(&self.text).zip(pattern(&wide.text));
                both.is_some_and(|(own, wide)| own.is_within(&wide))
            }
            _ => false,
        }
    }

    /// Returns true if the author of an expression said where a name begins and ends.
    #[must_use]
    pub fn is_anchored(&self) -> bool {
        Pattern::parse(&self.text).is_ok_and(|pattern| pattern.is_anchored())
    }

    /// Returns true if names match that are open to registration by the public.
    #[must_use]
    pub fn matches_any_registration(&self) -> bool {
        let names = ["q7x1.com", "q7x1.net", "q7x1.org", "q7x1.io", "q7x1.dev", "q7x1.co.uk", "q7x1.example"];
        matches!(&self.hosts, Hosts::Regex(regex) if names.iter().any(|name| regex.is_match(name)))
    }

    /// Returns true if the pattern names this one host, wildcards aside.
    fn is_exact(&self) -> bool {
        matches!(self.hosts, Hosts::Exact(_))
    }

    /// Returns the reason why data sent to a matching host can reach any third party, if it can.
    #[must_use]
    pub fn shared_with_anybody(&self) -> Option<&'static str> {
        let name = match &self.hosts {
            Hosts::Exact(HostName::Name(name)) | Hosts::Below(name) | Hosts::AtOrBelow(name) => name,
            Hosts::Exact(HostName::Address(_)) | Hosts::Regex(_) => return None,
        };
        let shared = known_hosts().filter(|host| host.is_shared);
        let fitting = shared.filter(|host| at_or_below(name, host.name.trim_start_matches('.')));
        fitting.max_by_key(|host| host.name.len()).map(|host| host.reason)
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the domain behind a wildcard; refuses one in which the public can register names.
fn suffix(text: &str) -> Result<Box<str>, HostPatternError> {
    if text.contains('*') {
        return Err(HostPatternError::Wildcard);
    }
    let HostName::Name(name) = HostName::parse(text)? else { return Err(HostPatternError::WildcardAddress) };
    if is_public_suffix(&name) { Err(HostPatternError::PublicSuffix(name)) } else { Ok(name) }
}

fn is_public_suffix(name: &str) -> bool {
    match name.split_once('.') {
        None => !LOCAL_SUFFIXES.iter().any(|suffix| &suffix[1..] == name),
        Some((second, top)) => top.len() == 2 && PUBLIC_SECOND_LEVELS.contains(&second),
    }
}

fn at_or_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A set of host patterns that is asked about one endpoint at a time.
#[derive(Debug, Default)]
pub struct HostIndex {
    names: HashMap<Box<str>, Vec<Entry>>,
    addresses: HashMap<IpAddr, Vec<Entry>>,
    regexes: Vec<(Regex, usize)>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    id: usize,
    port: Option<u16>,
    /// Matches the name itself.
    at: bool,
    /// Matches what lies below the name.
    below: bool,
    effect: Effect,
}

impl HostIndex {
    /// Adds a pattern. A restriction on a name also covers everything below it.
    pub fn add(&mut self, id: usize, pattern: &HostPattern, effect: Effect) {
        let restricts = effect != Effect::Allow && pattern.is_exact();
        let entry = |at, below| Entry { id, port: pattern.port, at, below, effect };
        match &pattern.hosts {
            Hosts::Exact(HostName::Name(name)) => self.name(name, entry(true, restricts)),
            Hosts::Exact(HostName::Address(address)) => {
                self.addresses.entry(*address).or_default().push(entry(true, false));
            }
            Hosts::Below(name) => self.name(name, entry(false, true)),
            Hosts::AtOrBelow(name) => self.name(name, entry(true, true)),
            Hosts::Regex(regex) => self.regexes.push((regex.clone(), id)),
        }
    }

    fn name(&mut self, name: &str, entry: Entry) {
        self.names.entry(name.into()).or_default().push(entry);
    }

    /// Calls `hit` with every pattern that matches the endpoint, in no particular order.
    pub fn matches(&self, endpoint: &Endpoint, mut hit: impl FnMut(usize)) {
        match &endpoint.host {
            HostName::Name(name) => self.match_name(name, endpoint.port, &mut hit),
            HostName::Address(address) => self.match_address(*address, endpoint.port, &mut hit),
        }
        if !self.regexes.is_empty() {
            let text = endpoint.host.to_string();
            self.regexes.iter().filter(|(regex, _)| regex.is_match(&text)).for_each(|(_, id)| hit(*id));
        }
    }

    fn match_name(&self, name: &str, port: u16, hit: &mut impl FnMut(usize)) {
        let mut domain = Some(name);
        let mut below = false;
        while let Some(current) = domain {
            let entries = self.names.get(current).map_or(&[][..], Vec::as_slice);
            let fits = |entry: &&Entry| if below { entry.below } else { entry.at };
            entries.iter().filter(fits).filter(|entry| entry.fits_port(port)).for_each(|entry| hit(entry.id));
            domain = current.split_once('.').map(|(_, rest)| rest);
            below = true;
        }
    }

    /// An address is allowed only as it was written, and restricted in every form that leads to it.
    fn match_address(&self, address: IpAddr, port: u16, hit: &mut impl FnMut(usize)) {
        let canonical = address.to_canonical();
        let as_written = self.addresses.get(&address).map_or(&[][..], Vec::as_slice);
        let other_form = if canonical == address { None } else { self.addresses.get(&canonical) };
        let restricting = other_form.into_iter().flatten().filter(|entry| entry.effect != Effect::Allow);
        as_written
            .iter()
            .chain(restricting)
            .filter(|entry| entry.fits_port(port))
            .for_each(|entry| hit(entry.id));
    }
}

impl Entry {
    fn fits_port(&self, port: u16) -> bool {
        self.port.is_none_or(|wanted| wanted == port)
    }
}
