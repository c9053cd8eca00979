//! SOCKS5 (RFC 1928): greeting and request.

use std::net::{Ipv4Addr, Ipv6Addr};

use policy::{Endpoint, HostError, HostName};

/// Explains why bytes are no SOCKS5 that is served here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SocksError {
    /// Another version.
    #[error("not SOCKS version 5")]
    Version,
    /// The client wants to log in.
    #[error("the client offers no way without a password")]
    Method,
    /// BIND or UDP ASSOCIATE.
    #[error("only CONNECT is served, not command {0}")]
    Command(u8),
    /// Neither IPv4, name nor IPv6.
    #[error("unknown address type {0}")]
    AddressType(u8),
    /// The reserved byte is set.
    #[error("the reserved byte is not zero")]
    Reserved,
    /// The name is no host name.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Port 0.
    #[error("port 0 cannot be connected to")]
    Port,
}

impl SocksError {
    /// Returns the reply code of RFC 1928.
    #[must_use]
    pub const fn reply(self) -> u8 {
        match self {
            Self::Command(_) => 7,
            Self::AddressType(_) => 8,
            _ => 1,
        }
    }
}

/// Reads the greeting. Returns its length if it offers to go on without a password.
pub fn parse_greeting(bytes: &[u8]) -> Result<Option<usize>, SocksError> {
    let [version, rest @ ..] = bytes else { return Ok(None) };
    if *version != 5 {
        return Err(SocksError::Version);
    }
    let [count, methods @ ..] = rest else { return Ok(None) };
    match methods.get(..usize::from(*count)) {
        None => Ok(None),
        Some(offered) if offered.contains(&0) => Ok(Some(2 + offered.len())),
        Some(_) => Err(SocksError::Method),
    }
}

/// Reads a request. Returns the endpoint and the length; a name that spells an address is that address.
pub fn parse_request(bytes: &[u8]) -> Result<Option<(Endpoint, usize)>, SocksError> {
    let [version, command, reserved, kind, rest @ ..] = bytes else {
        return if matches!(bytes, [version, ..] if *version != 5) {
            Err(SocksError::Version)
        } else {
            Ok(None)
        };
    };
    match (version, command, reserved) {
        (5, 1, 0) => {}
        (5, 1, _) => return Err(SocksError::Reserved),
        (5, other, _) => return Err(SocksError::Command(*other)),
        _ => return Err(SocksError::Version),
    }
    let Some((host, length)) = parse_host(*kind, rest)? else { return Ok(None) };
    let Some(port) = rest.get(length..length + 2) else { return Ok(None) };
    let port = u16::from_be_bytes([port[0], port[1]]);
    if port == 0 {
        return Err(SocksError::Port);
    }
    Ok(Some((Endpoint { host, port }, 4 + length + 2)))
}

fn parse_host(kind: u8, bytes: &[u8]) -> Result<Option<(HostName, usize)>, SocksError> {
    match kind {
        1 => {
            Ok(bytes.first_chunk::<4>().map(|octets| (HostName::Address(Ipv4Addr::from(*octets).into()), 4)))
        }
        4 => Ok(bytes.first_chunk::<16>().map(|octets| (Ipv6Addr::from(*octets).into(), 16))),
        3 => {
            let [length, rest @ ..] = bytes else { return Ok(None) };
            let Some(name) = rest.get(..usize::from(*length)) else { return Ok(None) };
            Ok(Some((host_name(name)?, 1 + name.len())))
        }
        other => Err(SocksError::AddressType(other)),
    }
}

/// Reads a name from bytes.
pub(crate) fn host_name(bytes: &[u8]) -> Result<HostName, HostError> {
    HostName::parse(std::str::from_utf8(bytes).map_err(|_| HostError::NotAscii)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: u8, address: &[u8]) -> Vec<u8> {
        [&[5, 1, 0, kind], address, &[1, 187]].concat()
    }

    fn named(name: &[u8]) -> Vec<u8> {
        request(3, &[&[u8::try_from(name.len()).unwrap()], name].concat())
    }

    #[test]
    fn greetings() {
        let rows: [(&[u8], _); 8] = [
            (&[], Ok(None)),
            (&[5], Ok(None)),
            (&[5, 2, 2], Ok(None)),
            (&[5, 1, 0], Ok(Some(3))),
            (&[5, 2, 2, 0, 99], Ok(Some(4))),
            (&[5, 0], Err(SocksError::Method)),
            (&[5, 1, 2], Err(SocksError::Method)),
            (&[4, 1, 0], Err(SocksError::Version)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(parse_greeting(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn requests() {
        let found = |text: &str, length| Ok(Some((Endpoint::parse(text, 443).unwrap(), length)));
        let v6 = "2001:db8::1".parse::<Ipv6Addr>().unwrap().octets();
        let rows = [
            (named(b"example.com"), found("example.com", 18)),
            (named(b"EXAMPLE.com."), found("example.com", 19)),
            (named(b"127.0.0.1"), found("127.0.0.1", 16)),
            (named(b"xn--80ak6aa92e.com"), found("xn--80ak6aa92e.com", 25)),
            (request(1, &[10, 0, 0, 1]), found("10.0.0.1", 10)),
            (request(4, &v6), found("[2001:db8::1]", 22)),
            (named(b"allowed.com\0.evil.com"), Err(HostError::Nul.into())),
            (named(b"2130706433"), Err(HostError::Number.into())),
            (named(b"\xff.com"), Err(HostError::NotAscii.into())),
            (named(&[b'a'; 255]), Err(HostError::TooLong.into())),
            (named(b""), Err(HostError::Empty.into())),
            (named(b"example.com.."), Err(HostError::EmptyLabel.into())),
            (vec![5, 2, 0, 1], Err(SocksError::Command(2))),
            (vec![5, 3, 0, 1], Err(SocksError::Command(3))),
            (vec![5, 1, 1, 1], Err(SocksError::Reserved)),
            (vec![5, 1, 0, 9], Err(SocksError::AddressType(9))),
            (vec![4, 1, 0, 80], Err(SocksError::Version)),
            (vec![5, 1, 0, 1, 1, 2, 3, 4, 0, 0], Err(SocksError::Port)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(parse_request(&bytes), expected, "{bytes:?}");
        }
    }

    proptest::proptest! {
        /// A verdict on some bytes never changes when more arrive.
        #[test]
        fn a_verdict_is_final(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40), cut in 0_usize..40) {
            let part = &bytes[..cut.min(bytes.len())];
            if parse_request(part) != Ok(None) {
                proptest::prop_assert_eq!(parse_request(part), parse_request(&bytes));
            }
            if parse_greeting(part) != Ok(None) {
                proptest::prop_assert_eq!(parse_greeting(part), parse_greeting(&bytes));
            }
        }
    }
}
