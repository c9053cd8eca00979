//! Classifies hosts by their names alone, without network access.

mod address;
mod lookalike;
mod table;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::LazyLock;

use policy::HostName;

use crate::rules::rule::Severity;
use table::Row;

/// Kind of a host, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The machine itself, or a network of one's own.
    Private,
    /// An address that no name stands for.
    RawIp,
    /// Endpoint where a cloud hands out credentials.
    Metadata,
    /// Text from any user, without a name.
    Paste,
    /// A link that hides another.
    Shortener,
    /// The creator of the address reads what arrives: collectors of requests, tunnels.
    Collector,
    /// A chat that accepts posts from every client that knows the address.
    Chat,
    /// A name that any user gets for a machine.
    DynamicDns,
    /// A machine that hides where it is.
    Onion,
    /// Files from any user, for a while.
    FileDrop,
    /// Pages and programs from any user.
    FreeHosting,
    /// Repositories and packages from any user, on a host that is known.
    UserContent,
    /// The vendor of a program that many install from there.
    Vendor,
    /// A name that stands for another in examples.
    Placeholder,
    /// A name that wants to be taken for another.
    LookAlike,
    /// Nothing is known.
    Unknown,
}

/// A host, and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    pub(crate) kind: Kind,
    /// The host, lower case, without port; empty if the text has none.
    pub(crate) host: String,
    /// Reason for its kind.
    pub(crate) reason: &'static str,
    /// True if what travels there is encrypted; also if the text does not say how it travels.
    pub(crate) encrypted: bool,
}

impl Destination {
    /// Returns the severity of running what comes from there, unseen.
    pub(crate) fn weight_of_running(&self) -> Severity {
        match self.kind {
            Kind::Vendor if self.encrypted => Severity::Note,
            Kind::UserContent if self.encrypted => Severity::Warning,
            Kind::Private => Severity::Warning,
            Kind::Unknown if self.host.is_empty() => Severity::Warning,
            _ => Severity::Critical,
        }
    }

    /// Returns true if it could have been created a minute ago without giving a name.
    pub(crate) fn is_throwaway(&self) -> bool {
        matches!(
            self.kind,
            Kind::RawIp
                | Kind::Paste
                | Kind::Shortener
                | Kind::Collector
                | Kind::DynamicDns
                | Kind::Onion
                | Kind::FileDrop
                | Kind::LookAlike
        )
    }
}

/// Reads a URL or a host. Text that has none is of an unknown kind, with an empty host.
pub(crate) fn classify(text: &str) -> Destination {
    let text = refanged(text);
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => ("", text.trim_start_matches("//")),
    };
    let encrypted = !matches!(scheme, "http" | "ftp" | "tftp" | "ws" | "telnet" | "git" | "ldap");
    let (authority, path) = split_path(rest);
    let host = host_of(authority);
    let (kind, reason) = kind_of(&host, path);
    Destination { kind, host, reason, encrypted }
}

/// `hxxps://a[.]b` -> `https://a.b`, lower case, without what quotes it.
fn refanged(text: &str) -> String {
    let text =
        text.trim_matches(|c: char| c.is_whitespace() || "\"'`<>(),;".contains(c)).to_ascii_lowercase();
    let text = match text.strip_prefix("hxxp").or_else(|| text.strip_prefix("h**p")) {
        Some(rest) => format!("http{rest}"),
        None => text,
    };
    if !text.contains(['[', '(', '{']) {
        return text;
    }
    text.replace("[.]", ".").replace("(.)", ".").replace("{.}", ".").replace("[dot]", ".").replace("[:]", ":")
}

fn split_path(rest: &str) -> (&str, &str) {
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    rest.split_at(end)
}

/// The host in `user:word@host:port`.
fn host_of(authority: &str) -> String {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None if host.matches(':').count() == 1 => host.split(':').next().unwrap_or_default(),
        None => host,
    };
    host.trim_end_matches('.').trim_start_matches("www.").to_owned()
}

const METADATA: &str = "hands out the machine's credentials";

fn kind_of(host: &str, path: &str) -> (Kind, &'static str) {
    if host.is_empty() {
        return (Kind::Unknown, "the address is not written out");
    }
    if let Some(address) = address::read(host) {
        return kind_of_address(address);
    }
    if is_template(host) {
        return (Kind::Placeholder, "the name is to be filled in");
    }
    if policy::is_metadata(&HostName::Name(host.into())) {
        return (Kind::Metadata, METADATA);
    }
    if let Some(row) = known(host, path) {
        return (row.kind, row.reason);
    }
    if let Some(reason) = lookalike::reason(host) {
        return (Kind::LookAlike, reason);
    }
    if is_stand_in(host) {
        return (Kind::Placeholder, "stands for another name");
    }
    (Kind::Unknown, "nothing is known about the host")
}

fn kind_of_address(address: IpAddr) -> (Kind, &'static str) {
    if policy::is_metadata(&HostName::Address(address)) {
        return (Kind::Metadata, METADATA);
    }
    if let IpAddr::V4(v4) = address {
        match v4.octets() {
            [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => {
                return (Kind::Placeholder, "an address kept free for documents");
            }
            [10, 10, 10..=16, _] => return (Kind::Placeholder, "an address of texts that teach"),
            [0, ..] => return (Kind::Private, "the machine itself"),
            _ => {}
        }
        if v4.is_loopback() || v4.is_private() || v4.is_link_local() {
            return (Kind::Private, "an address of one's own network");
        }
    }
    if let IpAddr::V6(v6) = address
        && (v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_unspecified())
    {
        return (Kind::Private, "an address of one's own network");
    }
    (Kind::RawIp, "an address without a name")
}

/// The rows in the order of the table.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(table::rows);

/// The rows by their host, with the path for those that need one.
static BY_HOST: LazyLock<HashMap<&'static str, &'static Row>> =
    LazyLock::new(|| ROWS.iter().map(|row| (row.host, row)).collect());

/// The rows that also need a path.
static WITH_PATH: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| ROWS.iter().filter(|row| row.host.contains('/')).collect());

/// The longest row that fits: with a path, the host, then what it lies below.
fn known(host: &str, path: &str) -> Option<&'static Row> {
    let with_path = WITH_PATH.iter().find(|row| {
        row.host.strip_prefix(host).is_some_and(|rest| rest.starts_with('/') && path.starts_with(rest))
    });
    if let Some(row) = with_path {
        return Some(row);
    }
    let mut rest = host;
    loop {
        if let Some(row) = BY_HOST.get(rest) {
            // A vendor's host is that host: hosts below it may belong to other owners.
            if rest == host || row.kind != Kind::Vendor {
                return Some(row);
            }
        }
        let at = rest.find('.')?;
        if let Some(row) = rest.get(at..).and_then(|end| BY_HOST.get(end)) {
            return Some(row);
        }
        rest = rest.get(at + 1..)?;
    }
}

/// `<host>`, `{host}`, `$HOST`, `your-server`, `HOST:PORT`.
fn is_template(host: &str) -> bool {
    host.contains(['<', '>', '{', '}', '$', '%'])
        || host.starts_with("your")
        || host.starts_with("my-")
        || matches!(
            host,
            "host" | "hostname" | "server" | "domain" | "url" | "ip" | "target" | "api" | "registry"
        )
}

/// Labels that are placeholders, not names in use: `attacker-controlled.com`, `your-api.com`.
fn is_stand_in(host: &str) -> bool {
    host.split(['.', '-']).any(|label| {
        matches!(
            label,
            "your" | "yourdomain" | "yourcompany" | "yoursite" | "attacker" | "placeholder" | "foobar"
        )
    })
}

/// The hosts of the table that have no accountable owner.
#[cfg(test)]
pub(crate) fn throwaway_hosts() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.host).filter(|host| classify(host).is_throwaway())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_is() {
        use Kind::*;
        let rows = [
            ("http://localhost:3000/x", Private),
            ("http://127.1/x", Private),
            ("10.0.0.5", Private),
            ("http://8.8.4.4/x", RawIp),
            ("http://134744072/", RawIp),
            ("http://0x08080808/", RawIp),
            ("http://010.010.010.010/", RawIp),
            ("http://[::ffff:8.8.8.8]/", RawIp),
            ("http://[::1]:80/", Private),
            ("http://169.254.169.254/latest", Metadata),
            ("http://0xA9FEA9FE/latest", Metadata),
            ("http://169.254.42.42/conf", Metadata),
            ("http://metadata.azure.internal/x", Metadata),
            ("http://[::ffff:169.254.169.254]/", Metadata),
            ("https://pastebin.com/raw/abc", Paste),
            ("https://gist.githubusercontent.com/a/b/raw", Paste),
            ("https://bit.ly/abc", Shortener),
            ("https://abc.ngrok-free.app/x", Collector),
            ("https://webhook.site/1", Collector),
            ("https://discord.com/api/webhooks/1/2", Chat),
            ("https://discord.com/invite", Unknown),
            ("https://me.duckdns.org", DynamicDns),
            ("http://abcdef.onion/x", Onion),
            ("https://transfer.sh/x", FileDrop),
            ("https://raw.githubusercontent.com/somebody/x/main/i.sh", UserContent),
            ("https://raw.githubusercontent.com/Homebrew/install/HEAD/install.sh", Vendor),
            ("https://astral.sh/uv/install.sh", Vendor),
            ("https://evil.astral.sh.attacker-site.net/x", LookAlike),
            ("https://astra1.sh/uv/install.sh", LookAlike),
            ("https://githib.com/x", LookAlike),
            ("https://github-com.downloads.net/x", LookAlike),
            ("https://xn--gthub-n4a.com/x", LookAlike),
            ("https://example.com", Placeholder),
            ("https://cdn.tool.example/x", Placeholder),
            ("https://203.0.113.7/x", Placeholder),
            ("https://your-domain.com/x", Placeholder),
            ("https://<host>/x", Placeholder),
            ("hxxps://pastebin[.]com/x", Paste),
            ("https://somebody.dev/x", Unknown),
            ("", Unknown),
        ];
        for (text, expected) in rows {
            assert_eq!(classify(text).kind, expected, "{text}");
        }
    }

    #[test]
    fn plain_text_travels_open() {
        let rows = [
            ("http://a.b", false),
            ("https://a.b", true),
            ("hxxp://a.b", false),
            ("a.b", true),
            ("ftp://a.b", false),
        ];
        for (text, expected) in rows {
            assert_eq!(classify(text).encrypted, expected, "{text}");
        }
    }

    #[test]
    fn no_row_stands_twice() {
        assert_eq!(BY_HOST.len(), ROWS.len());
        for row in &*ROWS {
            assert!(row.kind != Kind::Unknown, "{} has no kind", row.host);
            assert!(!row.reason.is_empty() && row.host == row.host.to_ascii_lowercase(), "{}", row.host);
            assert!(!row.host.is_empty() && !row.reason.contains(" = "), "{}", row.host);
        }
    }
}
