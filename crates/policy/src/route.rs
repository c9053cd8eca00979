//! Requests that the broker sees: which secret goes where, and which methods and paths are permitted.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use crate::decision::RuleRef;
use crate::host::{Endpoint, HostError, HostName};
use crate::host_pattern::HostPattern;

/// Most bytes of a path glob.
const MAX_GLOB: usize = 1024;

/// Which secret goes to which requests, and how it is put in. Names the secret, never holds its value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Route {
    /// Name of the secret.
    pub secret: Box<str>,
    /// Origin of its value.
    pub source: SecretSource,
    /// The one host and port that it is sent to.
    pub endpoint: Endpoint,
    /// Protocol that it is sent over.
    pub scheme: Scheme,
    /// Requests that it is put into. Others to the same host are refused.
    pub requests: RequestScope,
    /// Position in the request.
    pub inject: Inject,
    /// Variable that programs inside see, with a value that is worthless elsewhere.
    pub placeholder: Option<Box<str>>,
    /// File and line of the rule; `None` for a recipe of a known agent.
    pub rule: Option<RuleRef>,
}

impl Route {
    /// Creates a route over TLS for every request to a host.
    #[must_use]
    pub fn new(secret: &str, source: SecretSource, endpoint: Endpoint, inject: Inject) -> Self {
        Self {
            secret: secret.into(),
            source,
            endpoint,
            scheme: Scheme::Https,
            requests: RequestScope::default(),
            inject,
            placeholder: None,
            rule: None,
        }
    }
}

/// Protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// HTTP over TLS.
    Https,
    /// Plain HTTP.
    Http,
}

/// Origin of the value of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SecretSource {
    /// The store of Ringfence, by the name of the secret.
    Store,
    /// A variable of the caller's environment.
    Environment(Box<str>),
    /// The output of a command that is run outside the jail.
    Command(Box<[Box<str>]>),
    /// A value in a JSON file, by its JSON pointer.
    JsonFile {
        /// Path, with `~` for the home directory.
        path: Box<str>,
        /// JSON pointer to the value.
        pointer: Box<str>,
    },
}

/// Explains why a text is no source of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretSourceError {
    /// It begins with none of the three words.
    #[error("a source is `env:NAME`, `cmd:PROGRAM ARGUMENT…` or `file:PATH#/JSON/POINTER`")]
    Unknown,
    /// The text behind `env:` is not the name of a variable.
    #[error("a variable has letters, digits and `_`")]
    Variable,
    /// No program stands behind `cmd:`, or it needs a shell.
    #[error("a command is a program and its arguments, without quotes or other syntax of a shell")]
    Command,
    /// The path is relative, or the pointer is missing.
    #[error("a file is `file:~/PATH#/JSON/POINTER` or `file:/PATH#/JSON/POINTER`")]
    File,
}

impl SecretSource {
    /// Reads `env:NAME`, `cmd:PROGRAM ARGUMENT…` or `file:PATH#/JSON/POINTER`.
    pub fn parse(text: &str) -> Result<Self, SecretSourceError> {
        if let Some(name) = text.strip_prefix("env:") {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
            return if plain && begins {
                Ok(Self::Environment(name.into()))
            } else {
                Err(SecretSourceError::Variable)
            };
        }
        if let Some(line) = text.strip_prefix("cmd:") {
            let words: Box<[Box<str>]> = line.split_ascii_whitespace().map(Into::into).collect();
            let syntax = line.contains(['"', '\'', '\\', '$', '`', '|', '&', ';', '<', '>', '(', ')', '\0']);
            return if words.is_empty() || syntax {
                Err(SecretSourceError::Command)
            } else {
                Ok(Self::Command(words))
            };
        }
        let Some(file) = text.strip_prefix("file:") else { return Err(SecretSourceError::Unknown) };
        let (path, pointer) = file.split_once('#').ok_or(SecretSourceError::File)?;
        let rooted = path.starts_with('/') || path.starts_with("~/");
        let plain = path.split('/').all(|part| !matches!(part, "." | ".."));
        if rooted && plain && pointer.starts_with('/') {
            Ok(Self::JsonFile { path: path.into(), pointer: pointer.into() })
        } else {
            Err(SecretSourceError::File)
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store => f.write_str("the store"),
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::Command(words) => write!(f, "cmd:{}", words.join(" ")),
            Self::JsonFile { path, pointer } => write!(f, "file:{path}#{pointer}"),
        }
    }
}

/// Position of a secret in a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Inject {
    /// A header that holds the value alone. Another `authorization` header is removed.
    Header(Box<str>),
    /// `authorization: Bearer …`.
    Bearer,
    /// `authorization: Basic …`, as the password of this user.
    Basic(Box<str>),
    /// A query parameter.
    Query(Box<str>),
    /// Every occurrence of the placeholder in headers and query.
    Replace,
    /// AWS Signature Version 4: the request is signed anew. The value is `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`.
    AwsSigV4,
}

impl Inject {
    /// Reads the form of the tables: `header:NAME`, `bearer`, `basic:USER`, `query:NAME`, `replace` or `aws-sigv4`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (way, name) = text.split_once(':').unwrap_or((text, ""));
        match (way, name) {
            ("bearer", "") => Some(Self::Bearer),
            ("replace", "") => Some(Self::Replace),
            ("aws-sigv4", "") => Some(Self::AwsSigV4),
            (_, "") => None,
            ("header", name) => Some(Self::Header(name.into())),
            ("basic", user) => Some(Self::Basic(user.into())),
            ("query", name) => Some(Self::Query(name.into())),
            _ => None,
        }
    }
}

/// Methods and paths of requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestScope {
    /// Methods in upper case; `None` for every method.
    pub methods: Option<Vec<Box<str>>>,
    /// Globs on paths; `None` for every path, empty for none.
    pub paths: Option<Vec<PathGlob>>,
}

impl RequestScope {
    /// Returns true if a request is in the scope. The path is without its query.
    #[must_use]
    pub fn contains(&self, method: &str, path: &str) -> bool {
        let method = self.methods.as_ref().is_none_or(|all| all.iter().any(|own| **own == *method));
        method && self.paths.as_ref().is_none_or(|all| all.iter().any(|glob| glob.matches(path)))
    }

    /// Returns true if every request is in the scope.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.methods.is_none() && self.paths.is_none()
    }

    /// Returns true if every request of the scope is in another one, as far as that can be proven.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        let methods = match (&self.methods, &wide.methods) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(wide)) => own.iter().all(|method| wide.contains(method)),
        };
        let paths = match (&self.paths, &wide.paths) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(wide)) => own.iter().all(|glob| wide.iter().any(|other| glob.is_within(other))),
        };
        methods && paths
    }

    /// Returns true unless no request can be in both scopes. Globs that cannot be told apart count as overlapping.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let methods = self.methods.as_ref().zip(other.methods.as_ref());
        let paths = self.paths.as_ref().zip(other.paths.as_ref());
        methods.is_none_or(|(own, other)| own.iter().any(|method| other.contains(method)))
            && paths
                .is_none_or(|(own, other)| own.iter().any(|glob| other.iter().any(|to| glob.overlaps(to))))
    }
}

/// A rule on the requests to a host: those that are not in the scope are refused.
#[derive(Debug, Clone)]
pub struct RequestRule {
    /// Hosts that the rule is about.
    pub host: HostPattern,
    /// Requests that are permitted.
    pub requests: RequestScope,
    /// File and line of the rule.
    pub rule: Option<RuleRef>,
}

/// Returns true if rules on requests permit a request. Rules of one file on one host add up, and every file has to permit; a host
/// without a rule permits every request.
pub fn permits_request<'a>(
    rules: impl IntoIterator<Item = &'a RequestRule>,
    endpoint: &Endpoint,
    method: &str,
    path: &str,
) -> bool {
    let mut files: Vec<(Option<&Path>, bool)> = Vec::new();
    for rule in rules.into_iter().filter(|rule| rule.host.matches(endpoint)) {
        let (file, permits) =
            (rule.rule.as_ref().map(|own| &*own.file), rule.requests.contains(method, path));
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, permitted)) => *permitted |= permits,
            None => files.push((file, permits)),
        }
    }
    files.iter().all(|(_, permitted)| *permitted)
}

/// A proxy of a company through which connections leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyAddress {
    /// Protocol of the proxy.
    pub scheme: ProxyScheme,
    /// Host and port of the proxy.
    pub endpoint: Endpoint,
    /// Name of the secret with `USER:PASSWORD`, if it wants a login.
    pub secret: Option<Box<str>>,
}

/// Protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyScheme {
    /// HTTP with CONNECT.
    Http,
    /// SOCKS5, with names resolved by the proxy.
    Socks5h,
}

/// Explains why a text is no address of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyAddressError {
    /// It begins with another scheme or none.
    #[error("a proxy is `http://HOST:PORT` or `socks5h://HOST:PORT`")]
    Scheme,
    /// User and password stand in the text.
    #[error("a login does not stand in the policy: name the secret in `network.proxy-secret`")]
    Login,
    /// The rest is no host and port.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl ProxyAddress {
    /// Reads `http://HOST:PORT` or `socks5h://HOST:PORT`.
    pub fn parse(text: &str) -> Result<Self, ProxyAddressError> {
        let http = text.strip_prefix("http://").map(|rest| (ProxyScheme::Http, rest, 3128));
        let socks = || text.strip_prefix("socks5h://").map(|rest| (ProxyScheme::Socks5h, rest, 1080));
        let (scheme, rest, port) = http.or_else(socks).ok_or(ProxyAddressError::Scheme)?;
        if rest.contains('@') {
            return Err(ProxyAddressError::Login);
        }
        let endpoint = Endpoint::parse(rest.strip_suffix('/').unwrap_or(rest), port)?;
        Ok(Self { scheme, endpoint, secret: None })
    }
}

/// A fixed address of a name, which may lie on a private network because this says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    /// The name.
    pub name: HostName,
    /// Its address.
    pub address: IpAddr,
    /// Port that is connected to instead of the one that was asked for.
    pub port: Option<u16>,
}

impl HostAddress {
    /// Returns the address to connect to for a port of the name.
    #[must_use]
    pub fn socket(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(port))
    }
}

/// A glob on the path of a URL: `*` stands for any bytes but `/`, a final `*` or `**` for any bytes.
///
/// A path that a server could read in another way (dot segments, encoded slashes or dots, backslashes, empty segments,
/// control characters) matches no glob.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathGlob(Box<str>);

/// Explains why a text is no glob on paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathGlobError {
    /// It does not begin with `/`.
    #[error("a path begins with `/`, as in `/v1/*`")]
    Relative,
    /// It is too long to be read by a person.
    #[error("the path is longer than {MAX_GLOB} bytes")]
    TooLong,
    /// No path of a request matches it.
    #[error(
        "no path of a request matches this: leave out `?`, `#`, `//`, `.` and `..` segments, `%2f` and blanks"
    )]
    Ambiguous,
}

impl PathGlob {
    /// Reads a glob.
    pub fn parse(text: &str) -> Result<Self, PathGlobError> {
        match text {
            _ if !text.starts_with('/') => Err(PathGlobError::Relative),
            _ if text.len() > MAX_GLOB => Err(PathGlobError::TooLong),
            _ if is_ambiguous(text) => Err(PathGlobError::Ambiguous),
            _ => Ok(Self(text.into())),
        }
    }

    /// The glob as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if a path matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        !is_ambiguous(path) && matches(self.0.as_bytes(), path.as_bytes())
    }

    /// Returns true if every path that matches also matches another glob, as far as that can be proven.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        let prefix = wide.0.strip_suffix("**").or_else(|| wide.0.strip_suffix('*'));
        let below =
            |prefix: &str| !prefix.contains('*') && self.0.len() > prefix.len() && self.0.starts_with(prefix);
        // `/v1*/a` matches `/v1/a`, which needs a byte behind `/v1` as `/v1*` does.
        self == wide || prefix.is_some_and(below)
    }

    /// Returns true unless the globs begin with texts that exclude each other.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self.0.contains('*'), other.0.contains('*')) {
            (false, _) => other.matches(&self.0),
            (true, false) => self.matches(&other.0),
            (true, true) => {
                let (own, other) = (self.literal(), other.literal());
                own.starts_with(other) || other.starts_with(own)
            }
        }
    }

    /// The text before the first star.
    fn literal(&self) -> &str {
        self.0.split('*').next().unwrap_or_default()
    }
}

impl fmt::Display for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns true if two servers could take a path for different resources.
fn is_ambiguous(path: &str) -> bool {
    let encoded = |wanted: &[u8]| {
        let mut triples = path.as_bytes().windows(3);
        triples.any(|triple| triple[0] == b'%' && triple[1..].eq_ignore_ascii_case(wanted))
    };
    let segments = || path.split('/').skip(1).map(|segment| segment.split(';').next().unwrap_or(segment));
    path.bytes().any(|byte| byte <= b' ' || byte == 0x7f || matches!(byte, b'\\' | b'?' | b'#'))
        || path.contains("//")
        || segments().any(|segment| matches!(segment, "." | ".."))
        || [&b"2f"[..], b"2e", b"5c", b"25", b"00"].into_iter().any(encoded)
}

/// Matches by backtracking to the last star of a segment only, so the time is bounded by glob times path.
fn matches(glob: &[u8], path: &[u8]) -> bool {
    let (mut at, mut on, mut star) = (0, 0, None);
    while on < path.len() {
        if glob[at..] == *b"*" || glob[at..] == *b"**" {
            return true;
        }
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at + 1, on));
                at += 1;
            }
            Some(byte) if *byte == path[on] => (at, on) = (at + 1, on + 1),
            _ => match star {
                Some((after, taken)) if path[taken] != b'/' => {
                    star = Some((after, taken + 1));
                    (at, on) = (after, taken + 1);
                }
                _ => return false,
            },
        }
    }
    // `/v1/*` needs one more byte; a star in the middle of a glob may stand for nothing.
    glob[at..].is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_on_paths() {
        let rows = [
            ("/v1/*", "/v1/messages", true),
            ("/v1/*", "/v1/messages/1", true),
            ("/v1/*", "/v1/", false),
            ("/v1/*", "/v1", false),
            ("/v1/*", "/v10/a", false),
            ("/v1/**", "/v1/a/b", true),
            ("/*", "/a", true),
            ("/*", "/", false),
            ("/", "/", true),
            ("/repos/*/issues", "/repos/a/issues", true),
            ("/repos/*/issues", "/repos/a/b/issues", false),
            ("/repos/*/*/issues", "/repos/a/b/issues", true),
            ("/a*c", "/abc", true),
            ("/a*c", "/ac", true),
            ("/a*c", "/a/c", false),
            ("/a*c", "/abcd", false),
            ("/v1/*", "/v1/../admin", false),
            ("/v1/*", "/v1/%2e%2e/admin", false),
            ("/v1/*", "/v1/..%2Fadmin", false),
            ("/v1/*", "/v1/..;/admin", false),
            ("/v1/*", "/v1//admin", false),
            ("/v1/*", "/v1/a\\..\\b", false),
            ("/v1/*", "/v1/a%5cb", false),
            ("/v1/*", "/v1/%252e%252e/admin", false),
            ("/v1/*", "/v1/a b", false),
            ("/v1/*", "/v1/a%00", false),
            ("/v1/*", "/V1/messages", false),
            ("/v1/*", "/v1/a%20b", true),
            ("/v1/*", "/v1/..a", true),
        ];
        for (glob, path, expected) in rows {
            assert_eq!(PathGlob::parse(glob).unwrap().matches(path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn globs_within_globs_and_beside_them() {
        // own, other, own is within other, both overlap
        let rows = [
            ("/v1/*", "/v1/*", true, true),
            ("/v1/a", "/v1/*", true, true),
            ("/v1/a/*", "/v1/*", true, true),
            ("/v1/**", "/v1/*", true, true),
            ("/v1/", "/v1/*", false, false),
            ("/v1/*", "/v1/a", false, true),
            ("/v1/*", "/v2/*", false, false),
            ("/*", "/v1/*", false, true),
            ("/a/*/b", "/a/*/c", false, true),
            ("/a/x", "/a/*/c", false, false),
            ("/v1/*", "/v1*", true, true),
        ];
        for (own, other, within, overlap) in rows {
            let (own, other) = (PathGlob::parse(own).unwrap(), PathGlob::parse(other).unwrap());
            assert_eq!(own.is_within(&other), within, "{own} in {other}");
            assert_eq!((own.overlaps(&other), other.overlaps(&own)), (overlap, overlap), "{own} and {other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_glob_within_another_matches_no_more(own in "/[ab/*]{0,5}", wide in "/[ab/*]{0,5}", path in "/[ab/]{0,5}") {
            let globs = PathGlob::parse(&own).ok().zip(PathGlob::parse(&wide).ok());
            if let Some((own, wide)) = globs {
                proptest::prop_assert!(!own.is_within(&wide) || !own.matches(&path) || wide.matches(&path));
                proptest::prop_assert!(own.overlaps(&wide) || !(own.matches(&path) && wide.matches(&path)));
            }
        }
    }

    #[test]
    fn rules_on_one_host_add_up() {
        let rule = |host: &str, methods: &[&str], path: Option<&str>| RequestRule {
            host: HostPattern::parse(host).unwrap(),
            requests: RequestScope {
                methods: Some(methods.iter().map(|method| (*method).into()).collect()),
                paths: path.map(|path| vec![PathGlob::parse(path).unwrap()]),
            },
            rule: None,
        };
        let rules = [rule("a.x.example:443", &["GET"], None), rule("*.x.example", &["POST"], Some("/v1/*"))];
        let rows = [
            ("a.x.example:443", "GET", "/x", true),
            ("a.x.example:443", "POST", "/v1/x", true),
            ("a.x.example:443", "POST", "/x", false),
            ("a.x.example:443", "PUT", "/v1/x", false),
            ("a.x.example:80", "GET", "/x", false),
            ("b.x.example:80", "POST", "/v1/x", true),
            ("x.example:443", "PUT", "/x", true),
        ];
        for (host, method, path, expected) in rows {
            let endpoint = Endpoint::parse(host, 443).unwrap();
            assert_eq!(permits_request(&rules, &endpoint, method, path), expected, "{method} {host} {path}");
        }
    }

    #[test]
    fn sources_of_secrets() {
        let rows = ["env:A_B", "cmd:pass show key", "file:~/.a/b.json#/c/d", "file:/etc/x#/y"];
        for text in rows {
            assert_eq!(SecretSource::parse(text).unwrap().to_string(), text);
        }
        let rows = [
            ("", SecretSourceError::Unknown),
            ("A", SecretSourceError::Unknown),
            ("env:", SecretSourceError::Variable),
            ("env:1A", SecretSourceError::Variable),
            ("env:A B", SecretSourceError::Variable),
            ("cmd:", SecretSourceError::Command),
            ("cmd: a | b", SecretSourceError::Command),
            ("file:~/a", SecretSourceError::File),
            ("file:a#/b", SecretSourceError::File),
            ("file:/a#b", SecretSourceError::File),
            ("file:/a/../b#/c", SecretSourceError::File),
        ];
        for (text, error) in rows {
            assert_eq!(SecretSource::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn proxies() {
        let rows = [
            ("http://proxy.corp:8080", Ok((ProxyScheme::Http, "proxy.corp:8080"))),
            ("http://proxy.corp/", Ok((ProxyScheme::Http, "proxy.corp:3128"))),
            ("socks5h://10.0.0.1:1080", Ok((ProxyScheme::Socks5h, "10.0.0.1:1080"))),
            ("https://proxy.corp", Err(ProxyAddressError::Scheme)),
            ("proxy.corp:8080", Err(ProxyAddressError::Scheme)),
            ("http://me:pw@proxy.corp", Err(ProxyAddressError::Login)),
            ("http://proxy.corp/x", Err(ProxyAddressError::Host(HostError::Url))),
        ];
        for (text, expected) in rows {
            let found = ProxyAddress::parse(text).map(|proxy| (proxy.scheme, proxy.endpoint.to_string()));
            assert_eq!(found, expected.map(|(scheme, host)| (scheme, host.to_owned())), "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_globs() {
        let rows = [
            ("v1", PathGlobError::Relative),
            ("", PathGlobError::Relative),
            ("/a?b=*", PathGlobError::Ambiguous),
            ("/a/../b", PathGlobError::Ambiguous),
            ("/a//b", PathGlobError::Ambiguous),
            ("/a%2Fb", PathGlobError::Ambiguous),
        ];
        for (text, expected) in rows {
            assert_eq!(PathGlob::parse(text), Err(expected), "{text}");
        }
        assert_eq!(PathGlob::parse(&format!("/{}", "a".repeat(MAX_GLOB))), Err(PathGlobError::TooLong));
    }

    #[test]
    fn scopes() {
        let glob = |text| PathGlob::parse(text).unwrap();
        let scope = RequestScope { methods: Some(vec!["GET".into()]), paths: Some(vec![glob("/a/*")]) };
        assert!(scope.contains("GET", "/a/b"));
        assert!(!scope.contains("POST", "/a/b"));
        assert!(!scope.contains("get", "/a/b"), "methods are case-sensitive");
        assert!(!scope.contains("GET", "/b"));
        assert!(RequestScope::default().contains("X", "/../b"), "no path rule, no judgement of the path");
        assert!(!RequestScope { paths: Some(vec![]), methods: None }.contains("GET", "/"));
    }
}
