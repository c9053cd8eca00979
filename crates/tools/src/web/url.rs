//! Addresses, read once: what was read is what is asked for, looked up, dialled and sent.

use std::fmt;

use ringfence::policy::{Endpoint, HostError, HostName, Shown};

/// The longest address that is read.
const MAX_URL: usize = 8 * 1024;

/// An absolute address, in its plain form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Url {
    https: bool,
    endpoint: Endpoint,
    /// Path and query, as they are sent.
    target: String,
}

/// Reason why a text is not an address that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is too long.
    #[error("it is longer than {MAX_URL} bytes")]
    TooLong,
    /// Blanks, line breaks, NUL and other control characters.
    #[error("it contains a blank or a control character")]
    Blank,
    /// Some programs read it as `/`.
    #[error("it contains `\\`")]
    Backslash,
    /// Neither `http://` nor `https://`.
    #[error("only http:// and https:// are fetched")]
    Scheme,
    /// The host or the port.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Url {
    /// Reads an absolute address. Everything two programs could read differently is refused.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        check(text.as_bytes())?;
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(UrlError::Scheme),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        Self { https, endpoint: endpoint(authority, https)?, target: normal(target) }.within_limit()
    }

    /// Resolves a `Location` header against this URL. It need not be UTF-8.
    pub fn join(&self, location: &[u8]) -> Result<Self, UrlError> {
        check(location)?;
        let location = encoded(location);
        if has_scheme(&location) {
            return Self::parse(&location);
        }
        if location.starts_with("//") {
            return Self::parse(&format!("{}:{location}", self.scheme()));
        }
        let path = self.target.split('?').next().unwrap_or_default();
        let directory = path.rfind('/').map_or("/", |at| &path[..=at]);
        let target = match location.chars().next() {
            None | Some('#') => self.target.clone(),
            Some('?') => format!("{path}{location}"),
            Some('/') => location,
            Some(_) => format!("{directory}{location}"),
        };
        Self { target: normal(&target), ..self.clone() }.within_limit()
    }

    /// Holds the limit for the plain form, too: encoding makes three bytes of one.
    fn within_limit(self) -> Result<Self, UrlError> {
        if self.to_string().len() > MAX_URL { Err(UrlError::TooLong) } else { Ok(self) }
    }

    /// Returns true if the connection is to be encrypted, and the server to prove who it is.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// The host and the port.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn scheme(&self) -> &'static str {
        if self.https { "https" } else { "http" }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme())?;
        match &self.endpoint.host {
            HostName::Address(address) if address.is_ipv6() => write!(f, "[{address}]")?,
            host => write!(f, "{host}")?,
        }
        if self.endpoint.port != default_port(self.https) {
            write!(f, ":{}", self.endpoint.port)?;
        }
        Shown::text(&self.target).fmt(f)
    }
}

fn check(text: &[u8]) -> Result<(), UrlError> {
    match text {
        _ if text.len() > MAX_URL => Err(UrlError::TooLong),
        _ if text.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) => Err(UrlError::Blank),
        _ if text.contains(&b'\\') => Err(UrlError::Backslash),
        _ => Ok(()),
    }
}

fn endpoint(authority: &str, https: bool) -> Result<Endpoint, HostError> {
    // An IPv6 address without brackets: the start of its port is ambiguous.
    if !authority.starts_with('[') && authority.matches(':').count() > 1 && !authority.contains('@') {
        return Err(HostError::Brackets);
    }
    Endpoint::parse(authority, default_port(https))
}

const fn default_port(https: bool) -> u16 {
    if https { 443 } else { 80 }
}

/// Returns true if a reference begins with a scheme of its own.
fn has_scheme(text: &str) -> bool {
    let end = text.find([':', '/', '?', '#']);
    end.is_some_and(|at| text[at..].starts_with(':')) && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Path and query as they are sent: without fragment, without `.` and `..`, and with everything encoded that has to be.
fn normal(target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let path = encoded(without_dots(path).as_bytes());
    match query {
        Some(query) => format!("{path}?{}", encoded(query.as_bytes())),
        None => path,
    }
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        let (up, here) = (is_dots(segment, 2), is_dots(segment, 1));
        if up {
            kept.pop();
        }
        if !up && !here {
            kept.push(segment);
        } else if last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// Returns true if a segment is so many dots, plain or encoded.
fn is_dots(segment: &str, count: usize) -> bool {
    segment.len() <= 6 && segment.to_ascii_lowercase().replace("%2e", ".") == ".".repeat(count)
}

/// Encodes what cannot stand in a request, and leaves what is encoded.
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && !b"\"<>^`{|}".contains(&byte) {
            text.push(byte.into());
        } else {
            text.push('%');
            text.extend(
                [byte >> 4, byte & 15].iter().map(|half| char::from(b"0123456789ABCDEF"[usize::from(*half)])),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_their_plain_form() {
        let rows = [
            ("http://a.example", "http://a.example/"),
            ("HTTPS://A.Example.:443/B?c#d", "https://a.example/B?c"),
            ("http://a.example:8080?q", "http://a.example:8080/?q"),
            ("https://a.example:80/", "https://a.example:80/"),
            ("http://[::1]:81/x", "http://[::1]:81/x"),
            ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"),
            ("http://127.0.0.1/", "http://127.0.0.1/"),
            ("http://a.example/a/./b/../c/%2E%2e/d/..", "http://a.example/a/"),
            ("http://a.example/../../x", "http://a.example/x"),
            ("http://a.example//b", "http://a.example//b"),
            ("http://a.example/\u{e9}?\u{e9}=<\">", "http://a.example/%C3%A9?%C3%A9=%3C%22%3E"),
            ("http://a.example/%00%zz", "http://a.example/%00%zz"),
            ("http://a.example/?x=../..", "http://a.example/?x=../.."),
        ];
        for (text, expected) in rows {
            assert_eq!(Url::parse(text).map(|url| url.to_string()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn addresses_that_are_refused() {
        use HostError::{Brackets, Empty, EmptyLabel, NotAscii, Number, Percent, Port, UserInfo};
        let rows = [
            ("", UrlError::Scheme),
            ("a.example", UrlError::Scheme),
            ("//a.example/", UrlError::Scheme),
            ("http:/a.example", UrlError::Scheme),
            ("http:a.example", UrlError::Scheme),
            ("file:///etc/passwd", UrlError::Scheme),
            ("ftp://a.example/", UrlError::Scheme),
            ("gopher://a.example/", UrlError::Scheme),
            ("data:text/html,x", UrlError::Scheme),
            ("javascript://a.example/%0aalert(1)", UrlError::Scheme),
            ("unix://a.example", UrlError::Scheme),
            (" http://a.example/", UrlError::Blank),
            ("http://a.example/ ", UrlError::Blank),
            ("http://a.example/a b", UrlError::Blank),
            ("http://a.example/\r\nHost: b", UrlError::Blank),
            ("http://a.example\t/", UrlError::Blank),
            ("http://a.example/\0", UrlError::Blank),
            ("http://a.example/\u{7f}", UrlError::Blank),
            ("http://a.example\\@b.example/", UrlError::Backslash),
            ("http:\\\\a.example/", UrlError::Backslash),
            ("http://", UrlError::Host(Empty)),
            ("http:///x", UrlError::Host(Empty)),
            ("http://?x", UrlError::Host(Empty)),
            ("http://user@a.example/", UrlError::Host(UserInfo)),
            ("http://user:pw@a.example:80/", UrlError::Host(UserInfo)),
            ("http://a.example@127.0.0.1/", UrlError::Host(UserInfo)),
            ("http://a.example:0/", UrlError::Host(Port)),
            ("http://a.example:/", UrlError::Host(Port)),
            ("http://a.example:65536/", UrlError::Host(Port)),
            ("http://a.example:80a/", UrlError::Host(Port)),
            ("http://2130706433/", UrlError::Host(Number)),
            ("http://127.1/", UrlError::Host(Number)),
            ("http://0x7f.1/", UrlError::Host(Number)),
            ("http://0177.0.0.1/", UrlError::Host(Number)),
            ("http://127.0.0.1./", UrlError::Host(Number)),
            ("http://a..example/", UrlError::Host(EmptyLabel)),
            ("http://a%2eexample/", UrlError::Host(Percent)),
            ("http://\u{ff41}.example/", UrlError::Host(NotAscii)),
            ("http://127.0.0.1\u{3002}example/", UrlError::Host(NotAscii)),
            ("http://::1/", UrlError::Host(Brackets)),
            ("http://[::1/", UrlError::Host(Brackets)),
            ("http://[fe80::1%25eth0]/", UrlError::Host(Brackets)),
            ("http://[::1]x/", UrlError::Host(Brackets)),
        ];
        for (text, expected) in rows {
            assert_eq!(Url::parse(text), Err(expected), "{text:?}");
        }
        assert_eq!(Url::parse(&format!("http://a.example/{}", "x".repeat(MAX_URL))), Err(UrlError::TooLong));
    }

    /// Encoded, a byte becomes three: the limit holds for the form that is sent and read again.
    #[test]
    fn the_plain_form_keeps_to_the_limit() {
        let base = Url::parse("https://a.example/b/c?d").unwrap();
        let rows: &[(&[u8], usize, Result<(), UrlError>)] = &[
            (b"\xd6", 2723, Ok(())),
            (b"\xd6", 2800, Err(UrlError::TooLong)),
            (b"x", 8173, Ok(())),
            (b"x", 8190, Err(UrlError::TooLong)),
        ];
        for (byte, count, expected) in rows {
            let joined = base.join(&[b"/".as_slice(), &byte.repeat(*count)].concat());
            assert_eq!(joined.is_ok(), expected.is_ok(), "{byte:?} {count}");
            assert!(joined.is_ok_and(|url| Url::parse(&url.to_string()) == Ok(url)) == expected.is_ok());
        }
        let long = format!("http://a.example/{}", "\u{e9}".repeat(4000));
        assert_eq!(Url::parse(&long), Err(UrlError::TooLong));
    }

    #[test]
    fn where_redirects_lead() {
        let base = Url::parse("https://a.example:444/one/two?three").unwrap();
        let rows: &[(&[u8], &str)] = &[
            (b"https://b.example/x", "https://b.example/x"),
            (b"HTTP://b.example", "http://b.example/"),
            (b"//b.example/x", "https://b.example/x"),
            (b"/x?y", "https://a.example:444/x?y"),
            (b"x", "https://a.example:444/one/x"),
            (b"./x/", "https://a.example:444/one/x/"),
            (b"../../../x", "https://a.example:444/x"),
            (b"?q", "https://a.example:444/one/two?q"),
            (b"", "https://a.example:444/one/two?three"),
            (b"#top", "https://a.example:444/one/two?three"),
            (b"/caf\xe9", "https://a.example:444/caf%E9"),
            (b"x/a:b", "https://a.example:444/one/x/a:b"),
            (b"1:b", "https://a.example:444/one/1:b"),
        ];
        for (location, expected) in rows {
            assert_eq!(base.join(location).map(|url| url.to_string()).as_deref(), Ok(*expected));
        }
        let rows: &[(&[u8], UrlError)] = &[
            (b"file:///etc/passwd", UrlError::Scheme),
            (b"javascript:x", UrlError::Scheme),
            (b"a:b", UrlError::Scheme),
            (b"https:/x", UrlError::Scheme),
            (b"/a b", UrlError::Blank),
            (b"/\\b.example", UrlError::Backslash),
            (b"//user@b.example", UrlError::Host(HostError::UserInfo)),
            (b"//127.1/", UrlError::Host(HostError::Number)),
            (b"https://b\xe9.example/", UrlError::Host(HostError::Percent)),
        ];
        for (location, expected) in rows {
            assert_eq!(base.join(location), Err(expected.clone()), "{}", String::from_utf8_lossy(location));
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_reads_again_as_itself(text in "https?://[a-c.:@\\[\\]0-9%\\\\]{0,12}[/?#a-c.%é\"{} ]{0,20}", location in "\\PC{0,20}") {
            if let Ok(url) = Url::parse(&text) {
                proptest::prop_assert_eq!(Url::parse(&url.to_string()), Ok(url.clone()));
                if let Ok(next) = url.join(location.as_bytes()) {
                    proptest::prop_assert_eq!(Url::parse(&next.to_string()), Ok(next));
                }
            }
        }
    }
}
