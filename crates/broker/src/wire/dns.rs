//! DNS messages (RFC 1035): one question in, one answer out.

use std::net::{IpAddr, Ipv4Addr};

/// Bytes of a header.
const HEADER: usize = 12;
/// Most bytes of a name on the wire.
const MAX_NAME: usize = 255;
/// Most bytes of a query that is read.
pub const MAX_QUERY: usize = 4096;
/// Seconds that an answer may be kept. Synthetic addresses hold for the run.
const TTL: u32 = 60;

/// Type of a record that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryType {
    /// IPv4 address.
    A,
    /// IPv6 address.
    Aaaa,
    /// Name of an address.
    Ptr,
    /// Any other.
    Other(u16),
}

/// A query with one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query<'a> {
    /// Header and question, as they are repeated in the answer.
    id: u16,
    recursion: bool,
    question: &'a [u8],
    /// Name with dots, in lower case. Empty for the root; bytes that cannot be part of a host name are escaped as `\NNN`.
    pub name: String,
    /// Type of record.
    pub kind: QueryType,
}

/// Explains why a message gets an error as its answer, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DnsError {
    /// Too short for a header, or an answer: nothing is sent back.
    #[error("not a DNS query")]
    NotAQuery,
    /// Malformed: answered with FORMERR.
    #[error("malformed DNS query")]
    Malformed(u16),
    /// Another operation than a query, or another class than IN: answered with NOTIMP.
    #[error("DNS operation that is not served")]
    Unsupported(u16),
}

/// Content of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// One address.
    Address(IpAddr),
    /// One name.
    Name(String),
    /// The name exists, without such a record.
    Empty,
    /// There is no such name.
    NoSuchName,
    /// The query could not be served.
    Failure,
}

/// Reads a query. Names in a question are not compressed, so a pointer is an error and no loop is possible.
pub fn parse(bytes: &[u8]) -> Result<Query<'_>, DnsError> {
    let Some(header) = bytes.first_chunk::<HEADER>() else { return Err(DnsError::NotAQuery) };
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (id, flags) = (word(0), word(2));
    if flags & 0x8000 != 0 {
        return Err(DnsError::NotAQuery);
    }
    if flags & 0x7800 != 0 {
        return Err(DnsError::Unsupported(id));
    }
    if bytes.len() > MAX_QUERY || (word(4), word(6), word(8)) != (1, 0, 0) {
        return Err(DnsError::Malformed(id));
    }
    let (name, length) = parse_name(&bytes[HEADER..]).ok_or(DnsError::Malformed(id))?;
    let end = HEADER + length;
    let Some(&[kind_high, kind_low, class_high, class_low]) = bytes.get(end..end + 4) else {
        return Err(DnsError::Malformed(id));
    };
    if u16::from_be_bytes([class_high, class_low]) != 1 {
        return Err(DnsError::Unsupported(id));
    }
    let kind = match u16::from_be_bytes([kind_high, kind_low]) {
        1 => QueryType::A,
        28 => QueryType::Aaaa,
        12 => QueryType::Ptr,
        other => QueryType::Other(other),
    };
    Ok(Query { id, recursion: flags & 0x100 != 0, question: &bytes[HEADER..end + 4], name, kind })
}

/// Reads labels up to the root. Returns the name and its length on the wire.
fn parse_name(bytes: &[u8]) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = 0;
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        if length > 63 || at + length >= MAX_NAME {
            return None;
        }
        let label = bytes.get(at..at + length)?;
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().flat_map(|byte| shown(*byte)));
        at += length;
    }
}

/// Returns a byte in lower case, or its escape: a dot inside a label must not look like the border of two labels.
fn shown(byte: u8) -> impl Iterator<Item = char> {
    let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let digits = [byte / 100, byte / 10 % 10, byte % 10].map(|digit| char::from(b'0' + digit));
    let escape = (!plain).then_some(['\\', digits[0], digits[1], digits[2]]);
    let own = plain.then_some(char::from(byte.to_ascii_lowercase()));
    own.into_iter().chain(escape.into_iter().flatten())
}

/// Writes the answer to a query.
#[must_use]
pub fn answer(query: &Query<'_>, answer: &Answer) -> Vec<u8> {
    let record = match answer {
        Answer::Address(IpAddr::V4(address)) => Some((1_u16, address.octets().to_vec())),
        Answer::Address(IpAddr::V6(address)) => Some((28, address.octets().to_vec())),
        Answer::Name(name) => Some((12, encode_name(name))),
        Answer::Empty | Answer::NoSuchName | Answer::Failure => None,
    };
    let code = match answer {
        Answer::Failure => 2,
        Answer::NoSuchName => 3,
        _ => 0,
    };
    // Response, recursion available; recursion desired is repeated.
    let flags = 0x8080 | u16::from(query.recursion) << 8 | code;
    let mut message = header(query.id, flags, 1, u16::from(record.is_some()));
    message.extend_from_slice(query.question);
    if let Some((kind, data)) = record {
        // The name is a pointer to the question.
        message.extend_from_slice(&[0xc0, 12]);
        message.extend_from_slice(&kind.to_be_bytes());
        message.extend_from_slice(&1_u16.to_be_bytes());
        message.extend_from_slice(&TTL.to_be_bytes());
        message.extend_from_slice(&u16::try_from(data.len()).unwrap_or(0).to_be_bytes());
        message.extend_from_slice(&data);
    }
    message
}

/// Writes the answer to a message that is not served; `None` if there is none.
#[must_use]
pub fn error_answer(error: DnsError) -> Option<Vec<u8>> {
    match error {
        DnsError::NotAQuery => None,
        DnsError::Malformed(id) => Some(header(id, 0x8081, 0, 0)),
        DnsError::Unsupported(id) => Some(header(id, 0x8084, 0, 0)),
    }
}

fn header(id: u16, flags: u16, questions: u16, answers: u16) -> Vec<u8> {
    [id, flags, questions, answers, 0, 0].into_iter().flat_map(u16::to_be_bytes).collect()
}

/// Writes a name that is a host name; labels that do not fit are cut, which valid names have none of.
fn encode_name(name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        let label = &label.as_bytes()[..label.len().min(63)];
        bytes.push(u8::try_from(label.len()).unwrap_or(63));
        bytes.extend_from_slice(label);
    }
    bytes.push(0);
    bytes
}

/// Reads the address out of a name such as `4.3.2.1.in-addr.arpa`.
#[must_use]
pub fn reverse_address(name: &str) -> Option<Ipv4Addr> {
    let digits = name.strip_suffix(".in-addr.arpa")?;
    let address: Ipv4Addr = digits.parse().ok()?;
    let [a, b, c, d] = address.octets();
    Some(Ipv4Addr::new(d, c, b, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(flags: u16, counts: [u16; 4], rest: &[u8]) -> Vec<u8> {
        let words = [7, flags, counts[0], counts[1], counts[2], counts[3]];
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u16::to_be_bytes).collect();
        bytes.extend_from_slice(rest);
        bytes
    }

    fn question(name: &[u8], kind: u16, class: u16) -> Vec<u8> {
        [name, &kind.to_be_bytes(), &class.to_be_bytes()].concat()
    }

    #[test]
    fn queries() {
        let name = b"\x07EXAMPLE\x03com\x00";
        let ok = |bytes: &[u8]| parse(bytes).map(|query| (query.name.clone(), query.kind));
        let long = [&[63; 64][..], &[63; 64], &[63; 64], &[63; 64], &[0]].concat();
        let rows = [
            (message(0x100, [1, 0, 0, 0], &question(name, 1, 1)), Ok(("example.com".into(), QueryType::A))),
            (
                message(0x100, [1, 0, 0, 1], &question(name, 28, 1)),
                Ok(("example.com".into(), QueryType::Aaaa)),
            ),
            (
                message(0, [1, 0, 0, 0], &question(name, 65, 1)),
                Ok(("example.com".into(), QueryType::Other(65))),
            ),
            (message(0, [1, 0, 0, 0], &question(b"\0", 12, 1)), Ok((String::new(), QueryType::Ptr))),
            (message(0, [1, 0, 0, 0], &question(b"\x03a.b\0", 1, 1)), Ok((r"a\046b".into(), QueryType::A))),
            (message(0, [1, 0, 0, 0], &question(b"\xc0\x0c", 1, 1)), Err(DnsError::Malformed(7))),
            (message(0, [1, 0, 0, 0], &question(b"\x01a\xc0\x0c", 1, 1)), Err(DnsError::Malformed(7))),
            (message(0, [1, 0, 0, 0], &question(&long, 1, 1)), Err(DnsError::Malformed(7))),
            (message(0, [1, 0, 0, 0], b"\x09short"), Err(DnsError::Malformed(7))),
            (message(0, [1, 0, 0, 0], name), Err(DnsError::Malformed(7))),
            (message(0, [2, 0, 0, 0], &question(name, 1, 1)), Err(DnsError::Malformed(7))),
            (message(0, [0, 0, 0, 0], &[]), Err(DnsError::Malformed(7))),
            (message(0, [1, 1, 0, 0], &question(name, 1, 1)), Err(DnsError::Malformed(7))),
            (message(0, [1, 0, 0, 0], &question(name, 1, 3)), Err(DnsError::Unsupported(7))),
            (message(0x2800, [1, 0, 0, 0], &question(name, 1, 1)), Err(DnsError::Unsupported(7))),
            (message(0x8000, [1, 0, 0, 0], &question(name, 1, 1)), Err(DnsError::NotAQuery)),
            (vec![0; 11], Err(DnsError::NotAQuery)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(ok(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn answers() {
        let bytes = message(0x100, [1, 0, 0, 0], &question(b"\x01a\x01b\0", 1, 1));
        let query = parse(&bytes).unwrap();
        let found = answer(&query, &Answer::Address("198.18.0.1".parse().unwrap()));
        assert_eq!(found[..12], [0, 7, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        assert!(found.ends_with(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 1]));
        assert_eq!(answer(&query, &Answer::NoSuchName)[..8], [0, 7, 0x81, 0x83, 0, 1, 0, 0]);
        assert_eq!(answer(&query, &Answer::Empty)[..8], [0, 7, 0x81, 0x80, 0, 1, 0, 0]);
        assert_eq!(error_answer(DnsError::Malformed(7)).unwrap()[..4], [0, 7, 0x80, 0x81]);
        assert_eq!(reverse_address("1.0.18.198.in-addr.arpa"), Some(Ipv4Addr::new(198, 18, 0, 1)));
        assert_eq!(reverse_address("x.in-addr.arpa"), None);
    }

    proptest::proptest! {
        #[test]
        fn an_answer_repeats_the_question(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..64)) {
            let whole = message(0x100, [1, 0, 0, 0], &bytes);
            if let Ok(query) = parse(&whole) {
                let answered = answer(&query, &Answer::Empty);
                proptest::prop_assert_eq!(&answered[12..], query.question);
                proptest::prop_assert!(query.name.len() <= 4 * 255);
            }
        }
    }
}
