//! Destinations and sources of network traffic.

use crate::code::destination;
use crate::code::script::HOLE;

/// An address, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Destination {
    /// Address in the text, with a mark for each unknown part.
    pub(crate) text: String,
    /// The host, in lower case, where all of it is known.
    pub(crate) host: Option<String>,
    /// True if the address had to be decoded.
    pub(crate) is_decoded: bool,
}

/// Kind of place that a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This machine or this network.
    Local,
    /// A name that stands for another one, in documents.
    Placeholder,
    /// Accepts data from any sender without a name: hooks, tunnels, pastes, bare addresses.
    Drop,
    /// Somewhere else.
    Other,
    /// It is computed.
    Unknown,
}

impl Destination {
    pub(crate) fn new(text: &str, is_decoded: bool) -> Self {
        Self { text: text.chars().take(512).collect(), host: host_of(text), is_decoded }
    }

    /// Returns the kind of place it is.
    pub(crate) fn kind(&self) -> Kind {
        match &self.host {
            Some(_) => kind_of(&self.text),
            None => Kind::Unknown,
        }
    }

    /// Returns true if it is given in clear text.
    pub(crate) fn is_clear(&self) -> bool {
        self.text.trim_start().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"))
    }

    /// Returns true if the host is below one of these domains.
    pub(crate) fn is_below(&self, domains: &[&str]) -> bool {
        self.host.as_deref().is_some_and(|host| domains.iter().any(|domain| is_below(host, domain)))
    }
}

/// Returns true if a host is a domain or below it.
pub(crate) fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The host of an address, if all of it is known.
pub(crate) fn host_of(text: &str) -> Option<String> {
    let text = text.trim();
    let rest = match text.find("://") {
        Some(at) if at <= 8 => &text[at + 3..],
        _ => return None,
    };
    let end = rest.find(['/', '?', '#', '"', '\'', ' ', '\\', '`', '>', '<']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or(inner),
        None => host.split(':').next().unwrap_or(host),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let known = !host.is_empty() && !host.contains(HOLE) && host.chars().all(plain);
    known.then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

fn kind_of(text: &str) -> Kind {
    let known = destination::classify(text);
    match known.kind {
        _ if known.host.is_empty() => Kind::Unknown,
        destination::Kind::Private => Kind::Local,
        destination::Kind::Placeholder => Kind::Placeholder,
        destination::Kind::Chat | destination::Kind::Metadata => Kind::Drop,
        _ if known.is_throwaway() => Kind::Drop,
        _ => Kind::Other,
    }
}
