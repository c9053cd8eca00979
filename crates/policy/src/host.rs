//! Host names, parsed once. What was checked is what is dialled.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::Shown;

/// Longest host name in bytes, without a final dot.
const MAX_NAME: usize = 253;
/// Longest label in bytes.
const MAX_LABEL: usize = 63;

/// A host: a name in lower case without a final dot, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostName {
    /// A name of letters, digits, hyphens and underscores.
    Name(Box<str>),
    /// An address, as written.
    Address(IpAddr),
}

/// Why a text is not a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// Nothing to connect to.
    #[error("the host name is empty")]
    Empty,
    /// Longer than any resolver accepts.
    #[error("the host name is longer than {MAX_NAME} characters")]
    TooLong,
    /// The C library would stop reading here and dial something else.
    #[error("the host name contains a NUL character")]
    Nul,
    /// Line breaks, tabs and blanks.
    #[error("the host name contains a blank or a control character")]
    Blank,
    /// Names on the wire are ASCII; two that look alike need not be the same.
    #[error("the host name is not ASCII: write its punycode form, `xn--…`")]
    NotAscii,
    /// `user:password@host`.
    #[error("the host name contains `@`: leave out user and password")]
    UserInfo,
    /// Nothing is decoded here, so that nothing is decoded twice.
    #[error("the host name contains `%`: percent-encoding and zones are not accepted")]
    Percent,
    /// A whole URL.
    #[error("this is a URL or a path: write only the host")]
    Url,
    /// A pattern where a host is needed.
    #[error("`*` cannot be part of a host name")]
    Wildcard,
    /// Any other character.
    #[error("the host name contains `{0}`")]
    Character(char),
    /// `a..b`, `.a`.
    #[error("the host name has an empty label")]
    EmptyLabel,
    /// See `MAX_LABEL`.
    #[error("a label is longer than {MAX_LABEL} characters")]
    LongLabel,
    /// `-a`, `a-`.
    #[error("a label begins or ends with `-`")]
    Hyphen,
    /// `127.1`, `2130706433`, `0x7f000001`, `0177.0.0.1`: resolvers disagree about these.
    #[error("numbers as a host must be an IPv4 address of four decimal numbers without leading zeros")]
    Number,
    /// Brackets around something else, or not closed.
    #[error("`[…]` must hold an IPv6 address and nothing else")]
    Brackets,
    /// Not between 1 and 65535.
    #[error("the port must be a number from 1 to 65535")]
    Port,
}

impl HostName {
    /// Reads a host. Everything two programs could read differently is refused.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        check_shape(text)?;
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(HostError::Brackets)?;
            return inner.parse::<Ipv6Addr>().map(Into::into).map_err(|_| HostError::Brackets);
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Address(address));
        }
        text.chars().try_for_each(check_char)?;
        let name = text.strip_suffix('.').unwrap_or(text);
        check_name(name)?;
        Ok(Self::Name(name.to_ascii_lowercase().into()))
    }

    /// The address, if it is one.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Address(address) => Some(*address),
            Self::Name(_) => None,
        }
    }

    /// The name, if it is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Address(_) => None,
        }
    }
}

impl From<Ipv6Addr> for HostName {
    fn from(address: Ipv6Addr) -> Self {
        Self::Address(address.into())
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => Shown::text(name).fmt(f),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The host.
    pub host: HostName,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Reads `host` or `host:port`; an IPv6 address with a port needs brackets.
    pub fn parse(text: &str, default_port: u16) -> Result<Self, HostError> {
        let (host, port) = split_port(text)?;
        Ok(Self { host: HostName::parse(host)?, port: port.unwrap_or(default_port) })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host {
            HostName::Address(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port),
            _ => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Splits a port off a host or host pattern. `::1` has none.
pub(crate) fn split_port(text: &str) -> Result<(&str, Option<u16>), HostError> {
    check_shape(text)?;
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port),
        _ => return Ok((text, None)),
    };
    let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && !port.starts_with('0');
    let port = if digits { port.parse().ok() } else { None };
    Ok((host, Some(port.ok_or(HostError::Port)?)))
}

/// The two mistakes that deserve a better word than the first odd character in them.
fn check_shape(text: &str) -> Result<(), HostError> {
    match text {
        _ if text.contains('@') => Err(HostError::UserInfo),
        _ if text.contains("://") => Err(HostError::Url),
        _ => Ok(()),
    }
}

fn check_char(c: char) -> Result<(), HostError> {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => Ok(()),
        '\0' => Err(HostError::Nul),
        ' ' => Err(HostError::Blank),
        c if c.is_ascii_control() => Err(HostError::Blank),
        '%' => Err(HostError::Percent),
        '/' | '?' | '#' | '\\' => Err(HostError::Url),
        '*' => Err(HostError::Wildcard),
        '[' | ']' => Err(HostError::Brackets),
        c if !c.is_ascii() => Err(HostError::NotAscii),
        c => Err(HostError::Character(c)),
    }
}

fn check_name(name: &str) -> Result<(), HostError> {
    if name.is_empty() {
        return Err(HostError::Empty);
    }
    if name.len() > MAX_NAME {
        return Err(HostError::TooLong);
    }
    name.split('.').try_for_each(check_label)?;
    // A name whose last label is a number is an address to some resolvers and a name to others.
    let last = name.rsplit('.').next().unwrap_or(name);
    if is_number(last) { Err(HostError::Number) } else { Ok(()) }
}

fn check_label(label: &str) -> Result<(), HostError> {
    match label {
        "" => Err(HostError::EmptyLabel),
        label if label.len() > MAX_LABEL => Err(HostError::LongLabel),
        label if label.starts_with('-') || label.ends_with('-') => Err(HostError::Hyphen),
        _ => Ok(()),
    }
}

fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_in_every_spelling() {
        let name = |text: &str| Ok(HostName::Name(text.into()));
        let address = |text: &str| Ok(HostName::Address(text.parse().unwrap()));
        let rows = [
            ("example.com", name("example.com")),
            ("EXAMPLE.com.", name("example.com")),
            ("a_b.example.com", name("a_b.example.com")),
            ("xn--bcher-kva.example", name("xn--bcher-kva.example")),
            ("3com.com", name("3com.com")),
            ("1.2.3.4", address("1.2.3.4")),
            ("::1", address("::1")),
            ("[::1]", address("::1")),
            ("::ffff:127.0.0.1", address("::ffff:127.0.0.1")),
            ("", Err(HostError::Empty)),
            (".", Err(HostError::Empty)),
            ("a..b", Err(HostError::EmptyLabel)),
            (".a", Err(HostError::EmptyLabel)),
            ("example.com..", Err(HostError::EmptyLabel)),
            ("-a.com", Err(HostError::Hyphen)),
            ("a-.com", Err(HostError::Hyphen)),
            ("evil\0.allowed.com", Err(HostError::Nul)),
            ("a\r\nHost: b", Err(HostError::Blank)),
            ("a b", Err(HostError::Blank)),
            ("b\u{fc}cher.example", Err(HostError::NotAscii)),
            ("example\u{3002}com", Err(HostError::NotAscii)),
            ("exam\u{ad}ple.com", Err(HostError::NotAscii)),
            ("user:pw@a.com", Err(HostError::UserInfo)),
            ("user@a.com", Err(HostError::UserInfo)),
            ("evil%00.a.com", Err(HostError::Percent)),
            ("fe80::1%eth0", Err(HostError::Character(':'))),
            ("https://a.com", Err(HostError::Url)),
            ("a.com/x", Err(HostError::Url)),
            ("a.com\\x", Err(HostError::Url)),
            ("*.a.com", Err(HostError::Wildcard)),
            ("a,b", Err(HostError::Character(','))),
            ("[a.com]", Err(HostError::Brackets)),
            ("[::1", Err(HostError::Brackets)),
            ("::1]", Err(HostError::Character(':'))),
            ("127.1", Err(HostError::Number)),
            ("2130706433", Err(HostError::Number)),
            ("0x7f000001", Err(HostError::Number)),
            ("0X7f.1", Err(HostError::Number)),
            ("0177.0.0.1", Err(HostError::Number)),
            ("127.0.0.01", Err(HostError::Number)),
            ("1.2.3.4.", Err(HostError::Number)),
            ("1.2.3.4.5", Err(HostError::Number)),
            ("256.1.1.1", Err(HostError::Number)),
            ("a.0x10", Err(HostError::Number)),
        ];
        for (text, expected) in rows {
            assert_eq!(HostName::parse(text), expected, "{text:?}");
        }
        assert_eq!(HostName::parse(&"a".repeat(64)), Err(HostError::LongLabel));
        assert_eq!(HostName::parse(&["a"; 128].join(".")), Err(HostError::TooLong));
    }

    #[test]
    fn ports() {
        let rows = [
            ("a.com", Ok(("a.com", 443))),
            ("a.com:80", Ok(("a.com", 80))),
            ("[::1]:80", Ok(("::1", 80))),
            ("::1", Ok(("::1", 443))),
            ("a.com:", Err(HostError::Port)),
            ("a.com:0", Err(HostError::Port)),
            ("a.com:080", Err(HostError::Port)),
            ("a.com:65536", Err(HostError::Port)),
            ("a.com:+80", Err(HostError::Port)),
            ("[::1]x", Err(HostError::Brackets)),
            ("[::ffff:7f00:1]:80:80", Err(HostError::Brackets)),
            ("https://a.com", Err(HostError::Url)),
        ];
        for (text, expected) in rows {
            let parsed = Endpoint::parse(text, 443).map(|end| (end.host.to_string(), end.port));
            assert_eq!(parsed, expected.map(|(host, port)| (host.to_owned(), port)), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_reads_again_as_itself(text in "\\PC{0,40}") {
            if let Ok(host) = HostName::parse(&text) {
                proptest::prop_assert_eq!(HostName::parse(&host.to_string()), Ok(host));
            }
        }
    }
}
