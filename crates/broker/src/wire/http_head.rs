//! The strict form of HTTP/1.1 requests. hyper parses them; this refuses what two parsers could read differently.

/// Most bytes of a request line.
pub const MAX_LINE: usize = 32 * 1024;
/// Most bytes of a method.
const MAX_METHOD: usize = 32;
/// Most digits of a length, in decimal or hexadecimal.
const MAX_DIGITS: usize = 15;

/// End of the body that follows a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// This many bytes.
    Length(u64),
    /// Chunks up to an empty one.
    Chunked,
    /// Bytes of another protocol: after `CONNECT` or a request to upgrade to WebSocket.
    Opaque,
}

/// A complete head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes up to and with the empty line.
    pub length: usize,
    /// End of the body.
    pub framing: Framing,
}

/// Explains why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeadError {
    /// The request line is not `METHOD TARGET HTTP/1.1`.
    #[error("malformed request line")]
    RequestLine,
    /// The request line is too long.
    #[error("the request line is longer than {MAX_LINE} bytes")]
    LongLine,
    /// Too many bytes or lines.
    #[error("the request headers are too large")]
    TooLarge,
    /// A line that does not end with CR LF, or a control character.
    #[error("bare CR, bare LF or another control character in the request headers")]
    Control,
    /// A folded line, or a name that is no token.
    #[error("malformed or folded header line")]
    HeaderLine,
    /// Two lengths, a length next to a coding, or a length that is no number.
    #[error("ambiguous length: Content-Length and Transfer-Encoding must be one, once, and plain")]
    Length,
    /// No `Host` header, or several.
    #[error("the request must have exactly one Host header")]
    Host,
    /// Malformed chunk, chunk extension or trailer.
    #[error("malformed chunk, chunk extension or trailer")]
    Chunk,
}

/// Reads a head of at most `max` bytes and `lines` headers.
pub fn parse(bytes: &[u8], max: usize, lines: usize) -> Result<Option<Head>, HeadError> {
    check_start(bytes)?;
    let searched = &bytes[..bytes.len().min(max)];
    let Some(end) = searched.windows(4).position(|window| window == b"\r\n\r\n") else {
        check_partial(searched)?;
        check_count(searched, lines)?;
        return if bytes.len() >= max { Err(too_large(searched)) } else { Ok(None) };
    };
    let head = &bytes[..end + 2];
    check_partial(head)?;
    let mut all =
        head[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let request = RequestLine::parse(all.next().unwrap_or_default())?;
    let mut fields = Fields::default();
    for (number, line) in all.enumerate() {
        if number >= lines {
            return Err(HeadError::TooLarge);
        }
        fields.add(line)?;
    }
    Ok(Some(Head { length: end + 4, framing: fields.framing(&request)? }))
}

/// Refuses early what cannot become a request line.
fn check_start(bytes: &[u8]) -> Result<(), HeadError> {
    let method = bytes.iter().take(MAX_METHOD + 1).take_while(|byte| is_token(**byte)).count();
    if method == bytes.len() && method <= MAX_METHOD {
        return Ok(());
    }
    let ended = method > 0 && method <= MAX_METHOD && bytes.get(method) == Some(&b' ');
    if ended { Ok(()) } else { Err(HeadError::RequestLine) }
}

/// Refuses control characters and an overlong first line, also before the head is complete.
fn check_partial(bytes: &[u8]) -> Result<(), HeadError> {
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    if line > MAX_LINE {
        return Err(HeadError::LongLine);
    }
    let mut previous = 0;
    for byte in bytes {
        let ends = *byte == b'\n';
        if ends != (previous == b'\r') {
            return Err(HeadError::Control);
        }
        if !ends && *byte != b'\r' && (*byte < b' ' && *byte != b'\t' || *byte == 0x7f) {
            return Err(HeadError::Control);
        }
        previous = *byte;
    }
    Ok(())
}

/// Refuses too many lines, also before the head is complete.
fn check_count(bytes: &[u8], lines: usize) -> Result<(), HeadError> {
    let ended = bytes.split(|byte| *byte == b'\n').count();
    if ended > lines + 2 { Err(HeadError::TooLarge) } else { Ok(()) }
}

fn too_large(bytes: &[u8]) -> HeadError {
    if bytes.contains(&b'\n') { HeadError::TooLarge } else { HeadError::LongLine }
}

struct RequestLine {
    connect: bool,
    old: bool,
}

impl RequestLine {
    fn parse(line: &[u8]) -> Result<Self, HeadError> {
        let parts: Vec<_> = line.split(|byte| *byte == b' ').collect();
        let [method, target, version] = parts[..] else { return Err(HeadError::RequestLine) };
        let visible = !target.is_empty() && target.iter().all(u8::is_ascii_graphic);
        let old = match version {
            b"HTTP/1.1" => false,
            b"HTTP/1.0" => true,
            _ => return Err(HeadError::RequestLine),
        };
        let valid = visible && !method.is_empty() && method.iter().all(|byte| is_token(*byte));
        if valid { Ok(Self { connect: method == b"CONNECT", old }) } else { Err(HeadError::RequestLine) }
    }
}

/// Headers that decide about the end of a request.
#[derive(Default)]
struct Fields {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    websocket: bool,
    upgrade: bool,
}

impl Fields {
    fn add(&mut self, line: &[u8]) -> Result<(), HeadError> {
        let colon = line.iter().position(|byte| *byte == b':').ok_or(HeadError::HeaderLine)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return Err(HeadError::HeaderLine);
        }
        match name.to_ascii_lowercase().as_slice() {
            b"host" => self.hosts += 1,
            b"content-length" => {
                let given = self.length.replace(decimal(value)?);
                return if given.is_some() || self.chunked { Err(HeadError::Length) } else { Ok(()) };
            }
            b"transfer-encoding" => {
                let plain = value.eq_ignore_ascii_case(b"chunked") && !self.chunked && self.length.is_none();
                self.chunked = true;
                return if plain { Ok(()) } else { Err(HeadError::Length) };
            }
            b"upgrade" => self.websocket = value.eq_ignore_ascii_case(b"websocket"),
            b"connection" => self.upgrade |= has_word(value, b"upgrade"),
            _ => {}
        }
        Ok(())
    }

    fn framing(&self, request: &RequestLine) -> Result<Framing, HeadError> {
        if self.hosts > 1 || self.hosts == 0 && !request.old {
            return Err(HeadError::Host);
        }
        let body = self.chunked || self.length.is_some_and(|length| length > 0);
        let opaque = request.connect || self.websocket && self.upgrade;
        match (opaque, body) {
            (true, true) => Err(HeadError::Length),
            (true, false) => Ok(Framing::Opaque),
            _ if self.chunked && request.old => Err(HeadError::Length),
            _ if self.chunked => Ok(Framing::Chunked),
            _ => Ok(Framing::Length(self.length.unwrap_or(0))),
        }
    }
}

/// Reads the size line of a chunk, `1a` CR LF. Returns the size and the length of the line.
pub fn parse_chunk_size(bytes: &[u8]) -> Result<Option<(u64, usize)>, HeadError> {
    let digits = bytes.iter().take(MAX_DIGITS + 1).take_while(|byte| byte.is_ascii_hexdigit()).count();
    match (digits, &bytes[digits..]) {
        (0, [_, ..]) | (16.., _) => Err(HeadError::Chunk),
        (0.., []) | (1.., [b'\r']) => Ok(None),
        (1.., [b'\r', b'\n', ..]) => {
            let text = std::str::from_utf8(&bytes[..digits]).map_err(|_| HeadError::Chunk)?;
            let size = u64::from_str_radix(text, 16).map_err(|_| HeadError::Chunk)?;
            Ok(Some((size, digits + 2)))
        }
        _ => Err(HeadError::Chunk),
    }
}

fn decimal(value: &[u8]) -> Result<u64, HeadError> {
    let digits = (1..=MAX_DIGITS).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).map_err(|_| HeadError::Length)?;
    if digits { text.parse().map_err(|_| HeadError::Length) } else { Err(HeadError::Length) }
}

fn has_word(value: &[u8], word: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(word))
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Framing>, HeadError> {
        parse(text.as_bytes(), 64 * 1024, 100).map(|head| head.map(|head| head.framing))
    }

    #[test]
    fn heads() {
        let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        let rows = [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), Ok(Some(Framing::Length(0)))),
            ("GET / HTTP/1.0\r\n\r\n".to_owned(), Ok(Some(Framing::Length(0)))),
            (post("Content-Length: 5\r\n"), Ok(Some(Framing::Length(5)))),
            (post("transfer-encoding: Chunked\r\n"), Ok(Some(Framing::Chunked))),
            ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), Ok(Some(Framing::Opaque))),
            (post("Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"), Ok(Some(Framing::Opaque))),
            (post("Upgrade: h2c\r\nConnection: Upgrade\r\n"), Ok(Some(Framing::Length(0)))),
            (post("Upgrade: websocket\r\n"), Ok(Some(Framing::Length(0)))),
            ("GET / HTTP/1.1\r\nHost: a\r\n".to_owned(), Ok(None)),
            ("G".to_owned(), Ok(None)),
            (String::new(), Ok(None)),
            (post("Content-Length: 5\r\nContent-Length: 5\r\n"), Err(HeadError::Length)),
            (post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Err(HeadError::Length)),
            (post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), Err(HeadError::Length)),
            (post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), Err(HeadError::Length)),
            (post("Transfer-Encoding: gzip, chunked\r\n"), Err(HeadError::Length)),
            (post("Transfer-Encoding: xchunked\r\n"), Err(HeadError::Length)),
            (post("Content-Length: +5\r\n"), Err(HeadError::Length)),
            (post("Content-Length: 5, 5\r\n"), Err(HeadError::Length)),
            (post("Content-Length: \r\n"), Err(HeadError::Length)),
            (post("Content-Length: 9999999999999999\r\n"), Err(HeadError::Length)),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(), Err(HeadError::Length)),
            (
                "CONNECT a:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n".to_owned(),
                Err(HeadError::Length),
            ),
            (post("X: a\r\n b\r\n"), Err(HeadError::HeaderLine)),
            (post("X : a\r\n"), Err(HeadError::HeaderLine)),
            (post(": a\r\n"), Err(HeadError::HeaderLine)),
            (post("X\r\n"), Err(HeadError::HeaderLine)),
            (post("Host: b\r\n"), Err(HeadError::Host)),
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), Err(HeadError::Host)),
            ("GET / HTTP/1.1\nHost: a\n\n".to_owned(), Err(HeadError::Control)),
            (post("X: a\nY: b\r\n"), Err(HeadError::Control)),
            (post("X: a\rY: b\r\n"), Err(HeadError::Control)),
            (post("X: a\0\r\n"), Err(HeadError::Control)),
            (post("Transfer-Encoding:\u{b}chunked\r\n"), Err(HeadError::Control)),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), Err(HeadError::RequestLine)),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n".to_owned(), Err(HeadError::RequestLine)),
            ("GET /\r\nHost: a\r\n\r\n".to_owned(), Err(HeadError::RequestLine)),
            ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), Err(HeadError::RequestLine)),
            ("G".repeat(40), Err(HeadError::RequestLine)),
            (format!("GET /{}", "a".repeat(MAX_LINE)), Err(HeadError::LongLine)),
            (post(&format!("X: {}\r\n", "a".repeat(70_000))), Err(HeadError::TooLarge)),
            (post(&"X: a\r\n".repeat(100)), Err(HeadError::TooLarge)),
        ];
        for (text, expected) in rows {
            assert_eq!(read(&text), expected, "{}", &text[..text.len().min(200)]);
        }
    }

    #[test]
    fn chunk_sizes() {
        let rows = [
            ("", Ok(None)),
            ("1a", Ok(None)),
            ("1a\r", Ok(None)),
            ("1A\r\nx", Ok(Some((26, 4)))),
            ("0\r\n", Ok(Some((0, 3)))),
            ("1\n", Err(HeadError::Chunk)),
            ("1;a=b\r\n", Err(HeadError::Chunk)),
            (" 1\r\n", Err(HeadError::Chunk)),
            ("0x1\r\n", Err(HeadError::Chunk)),
            ("+1\r\n", Err(HeadError::Chunk)),
            ("1\rX", Err(HeadError::Chunk)),
            ("00000000000000001\r\n", Err(HeadError::Chunk)),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_chunk_size(text.as_bytes()), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        /// A verdict on some bytes never changes when more arrive, up to the limit on bytes.
        #[test]
        fn a_verdict_is_final(
            text in "(GET|CONNECT) [a-z/:]{1,9} HTTP/1\\.[01]\r\n((Host|X|Content-Length|Upgrade): ?[0-9a-z]{0,3}\r?\n){0,4}\r\n[a-z]{0,4}",
            cut in 0_usize..120,
        ) {
            let part = &text[..cut.min(text.len())];
            if read(part) != Ok(None) {
                proptest::prop_assert_eq!(read(part), read(&text));
            }
        }
    }
}
