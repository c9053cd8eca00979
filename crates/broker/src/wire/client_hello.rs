//! The first message of TLS: the server name that a client asks for.

use policy::{HostError, HostName};

use super::socks::host_name;

/// Type of a record that carries a handshake.
const HANDSHAKE: u8 = 22;
/// Type of the first message of a client.
const CLIENT_HELLO: u8 = 1;
/// Extension with the server name.
const SERVER_NAME: u16 = 0;
/// Most bytes of a record.
const MAX_RECORD: usize = 16 * 1024 + 256;
/// Most bytes of a `ClientHello`; those with post-quantum keys have about 2 KiB.
const MAX_HELLO: usize = 64 * 1024;

/// A `ClientHello`, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHello {
    /// Server name (SNI).
    pub server_name: Option<HostName>,
}

/// Explains why bytes are no `ClientHello`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HelloError {
    /// Not a TLS handshake.
    #[error("not a TLS handshake")]
    NotTls,
    /// Too long.
    #[error("the TLS handshake is too long")]
    TooLong,
    /// A length leads outside of its field.
    #[error("malformed TLS handshake")]
    Malformed,
    /// More than one server name, or one extension twice.
    #[error("the TLS handshake names more than one server")]
    SeveralNames,
    /// The name is no host name.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Returns true if a connection that begins with these bytes is TLS.
#[must_use]
pub fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [HANDSHAKE] | [HANDSHAKE, 3, ..])
}

/// Reads a `ClientHello` that may be split over several records.
pub fn parse(bytes: &[u8]) -> Result<Option<ClientHello>, HelloError> {
    let mut message = Vec::new();
    let mut rest = bytes;
    loop {
        if let Some(length) = message_length(&message)?
            && message.len() >= 4 + length
        {
            return parse_hello(&message[4..4 + length]).map(Some);
        }
        let Some((fragment, after)) = next_record(rest)? else { return Ok(None) };
        message.extend_from_slice(fragment);
        rest = after;
    }
}

/// Returns the length of the first message once its header is there.
fn message_length(message: &[u8]) -> Result<Option<usize>, HelloError> {
    match message {
        [CLIENT_HELLO, high, middle, low, ..] => {
            let length = usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low);
            if length > MAX_HELLO { Err(HelloError::TooLong) } else { Ok(Some(length)) }
        }
        [] | [CLIENT_HELLO, ..] => Ok(None),
        _ => Err(HelloError::NotTls),
    }
}

/// A record and the bytes behind it.
type Record<'a> = (&'a [u8], &'a [u8]);

/// Splits the next record off. An empty one is an error: it would permit an endless handshake.
fn next_record(bytes: &[u8]) -> Result<Option<Record<'_>>, HelloError> {
    match bytes {
        [] | [HANDSHAKE] | [HANDSHAKE, 3] | [HANDSHAKE, 3, _] | [HANDSHAKE, 3, _, _] => Ok(None),
        [HANDSHAKE, 3, 0..=4, high, low, rest @ ..] => {
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            if length == 0 || length > MAX_RECORD {
                return Err(HelloError::Malformed);
            }
            Ok(rest.split_at_checked(length))
        }
        _ => Err(HelloError::NotTls),
    }
}

fn parse_hello(body: &[u8]) -> Result<ClientHello, HelloError> {
    let mut fields = Fields(body);
    // Version and random.
    fields.take(34)?;
    fields.vector8()?;
    fields.vector16()?;
    fields.vector8()?;
    if fields.0.is_empty() {
        return Ok(ClientHello { server_name: None });
    }
    let mut extensions = Fields(fields.vector16()?);
    if !fields.0.is_empty() {
        return Err(HelloError::Malformed);
    }
    let mut server_name = None;
    while !extensions.0.is_empty() {
        let (kind, body) = (extensions.u16()?, extensions.vector16()?);
        if kind == SERVER_NAME && server_name.replace(parse_server_name(body)?).is_some() {
            return Err(HelloError::SeveralNames);
        }
    }
    Ok(ClientHello { server_name })
}

/// Reads the list of server names, which must hold exactly one.
fn parse_server_name(body: &[u8]) -> Result<HostName, HelloError> {
    let mut outer = Fields(body);
    let mut list = Fields(outer.vector16()?);
    let kind = list.take(1)?[0];
    let name = list.vector16()?;
    match (kind, list.0.is_empty() && outer.0.is_empty()) {
        (0, true) => Ok(host_name(name)?),
        (0, false) => Err(HelloError::SeveralNames),
        _ => Err(HelloError::Malformed),
    }
}

/// Bytes that are read from the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], HelloError> {
        let (field, rest) = self.0.split_at_checked(length).ok_or(HelloError::Malformed)?;
        self.0 = rest;
        Ok(field)
    }

    fn u16(&mut self) -> Result<u16, HelloError> {
        let field = self.take(2)?;
        Ok(u16::from_be_bytes([field[0], field[1]]))
    }

    fn vector8(&mut self) -> Result<&'a [u8], HelloError> {
        let length = self.take(1)?[0];
        self.take(length.into())
    }

    fn vector16(&mut self) -> Result<&'a [u8], HelloError> {
        let length = self.u16()?;
        self.take(length.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector16(bytes: &[u8]) -> Vec<u8> {
        [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
    }

    fn extension(kind: u16, body: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &vector16(body)].concat()
    }

    fn names(names: &[&[u8]]) -> Vec<u8> {
        let list: Vec<u8> = names.iter().flat_map(|name| [&[0][..], &vector16(name)].concat()).collect();
        extension(SERVER_NAME, &vector16(&list))
    }

    fn message(extensions: &[u8]) -> Vec<u8> {
        let body =
            [&[3, 3][..], &[7; 32], &[0], &vector16(&[0x13, 1]), &[1, 0], &vector16(extensions)].concat();
        [&[CLIENT_HELLO, 0][..], &vector16(&body)].concat()
    }

    fn records(message: &[u8], size: usize) -> Vec<u8> {
        message.chunks(size).flat_map(|part| [&[HANDSHAKE, 3, 1][..], &vector16(part)].concat()).collect()
    }

    fn hello(extensions: &[u8]) -> Vec<u8> {
        records(&message(extensions), 4096)
    }

    #[test]
    fn server_names() {
        let found = |name: &str| Ok(Some(ClientHello { server_name: HostName::parse(name).ok() }));
        let other = extension(16, &[0, 3, 2, b'h', b'2']);
        let rows = [
            (hello(&names(&[b"example.com"])), found("example.com")),
            (hello(&[other.clone(), names(&[b"EXAMPLE.com"]), other.clone()].concat()), found("example.com")),
            (hello(&other), found("")),
            (hello(&[]), found("")),
            (hello(&names(&[b"a.com", b"b.com"])), Err(HelloError::SeveralNames)),
            (hello(&[names(&[b"a.com"]), names(&[b"b.com"])].concat()), Err(HelloError::SeveralNames)),
            (hello(&names(&[b"a.com\0.evil.com"])), Err(HostError::Nul.into())),
            (hello(&names(&[b""])), Err(HostError::Empty.into())),
            (hello(&names(&[])), Err(HelloError::Malformed)),
            (hello(&extension(SERVER_NAME, &[0, 9, 0])), Err(HelloError::Malformed)),
            (hello(&[0, 0, 0, 99]), Err(HelloError::Malformed)),
            (records(&message(&names(&[b"split.example.com"])), 3), found("split.example.com")),
            (b"GET / HTTP/1.1\r\n".to_vec(), Err(HelloError::NotTls)),
            (vec![HANDSHAKE, 3, 1, 0, 0], Err(HelloError::Malformed)),
            (vec![HANDSHAKE, 3, 1, 0xff, 0xff], Err(HelloError::Malformed)),
            (vec![HANDSHAKE, 3, 1, 0, 4, 2, 0, 0, 0], Err(HelloError::NotTls)),
            (vec![HANDSHAKE, 3, 1, 0, 4, 1, 0xff, 0, 0], Err(HelloError::TooLong)),
            (vec![21, 3, 1, 0, 2, 1, 0], Err(HelloError::NotTls)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(parse(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn every_part_of_a_hello_is_incomplete() {
        let whole = records(&message(&names(&[b"example.com"])), 20);
        for cut in 0..whole.len() {
            assert_eq!(parse(&whole[..cut]), Ok(None), "{cut}");
        }
        assert!(matches!(parse(&whole), Ok(Some(_))));
    }

    proptest::proptest! {
        #[test]
        fn a_verdict_is_final(
            noise in proptest::collection::vec((0_usize..120, proptest::num::u8::ANY), 0..4),
            size in 1_usize..80,
            cut in 0_usize..400,
        ) {
            let mut bytes = records(&message(&names(&[b"example.com"])), size);
            for (at, byte) in noise {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let part = &bytes[..cut.min(bytes.len())];
            if parse(part) != Ok(None) {
                proptest::prop_assert_eq!(parse(part), parse(&bytes));
            }
        }
    }
}
