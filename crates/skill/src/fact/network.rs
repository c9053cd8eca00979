//! Where something goes or comes from.

use crate::script::HOLE;

/// An address, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Destination {
    /// What stands in the text, with a mark for what is not known.
    pub(crate) text: String,
    /// The host, in lower case, where all of it is known.
    pub(crate) host: Option<String>,
    /// Whether the address had to be decoded.
    pub(crate) is_decoded: bool,
}

/// What kind of place a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This machine or this network.
    Local,
    /// A name that stands for another one, in documents.
    Placeholder,
    /// Where anybody can have things sent without a name: hooks, tunnels, pastes, bare addresses.
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

    /// What kind of place it is.
    pub(crate) fn kind(&self) -> Kind {
        match &self.host {
            Some(host) => kind_of(host),
            None => Kind::Unknown,
        }
    }

    /// Whether it is given in clear text.
    pub(crate) fn is_clear(&self) -> bool {
        self.text.trim_start().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"))
    }

    /// Whether the host is below one of these domains.
    pub(crate) fn is_below(&self, domains: &[&str]) -> bool {
        self.host.as_deref().is_some_and(|host| domains.iter().any(|domain| is_below(host, domain)))
    }
}

/// Whether a host is a domain or below it.
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

/// Services that take what anybody sends, and names that lead to anybody's machine.
const DROPS: &[&str] = &[
    "webhook.site",
    "requestbin.com",
    "requestbin.net",
    "pipedream.net",
    "requestcatcher.com",
    "beeceptor.com",
    "hookbin.com",
    "burpcollaborator.net",
    "oastify.com",
    "interact.sh",
    "oast.fun",
    "oast.pro",
    "oast.live",
    "oast.site",
    "oast.online",
    "oast.me",
    "dnslog.cn",
    "ceye.io",
    "ngrok.io",
    "ngrok.app",
    "ngrok-free.app",
    "ngrok-free.dev",
    "trycloudflare.com",
    "loca.lt",
    "localhost.run",
    "serveo.net",
    "bore.pub",
    "localtunnel.me",
    "pastebin.com",
    "paste.ee",
    "hastebin.com",
    "rentry.co",
    "rentry.org",
    "glot.io",
    "transfer.sh",
    "file.io",
    "0x0.st",
    "termbin.com",
    "ix.io",
    "sprunge.us",
    "dpaste.com",
    "dpaste.org",
    "gofile.io",
    "anonfiles.com",
    "catbox.moe",
    "bashupload.com",
    "tmpfiles.org",
    "discordapp.com",
    "hooks.zapier.com",
    "hook.eu1.make.com",
    "ptsv2.com",
    "ptsv3.com",
];

fn kind_of(host: &str) -> Kind {
    let address = host.parse::<std::net::IpAddr>().ok();
    let local = ["localhost", "local", "internal", "test.local", "localdomain"];
    if let Some(address) = address {
        let is_local = match address {
            std::net::IpAddr::V4(four) => four.is_loopback() || four.is_unspecified() || four.is_private(),
            std::net::IpAddr::V6(six) => six.is_loopback() || six.is_unspecified(),
        };
        return if is_local { Kind::Local } else { Kind::Drop };
    }
    if local.iter().any(|name| is_below(host, name)) || !host.contains('.') {
        Kind::Local
    } else if DROPS.iter().any(|domain| is_below(host, domain)) {
        Kind::Drop
    } else if is_placeholder(host) {
        Kind::Placeholder
    } else {
        Kind::Other
    }
}

/// `api.example.com`, `your-domain.com`: what documents say for a host of the reader's.
fn is_placeholder(host: &str) -> bool {
    let documentation = ["example.com", "example.org", "example.net"];
    let plain = documentation.iter().any(|domain| {
        host.strip_suffix(domain).is_some_and(|rest| {
            matches!(rest, "" | "api." | "www." | "app." | "auth." | "docs." | "staging." | "dev." | "your.")
        })
    });
    plain || host.contains("your-") || host.contains("yourdomain") || host.contains("mycompany")
}
