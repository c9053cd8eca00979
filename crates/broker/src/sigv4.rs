//! AWS Signature Version 4: a request that the client signed with a worthless key is signed anew.
//!
//! Date, region, service and the list of signed headers are taken from the client's own `authorization` header.

use hyper::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::forms::{Digits, in_digits, percent_encoded};
use crate::placeholder::percent_decoded;
use crate::secret::Secret;

/// Name of the algorithm.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// End of a credential scope.
const TERMINATOR: &str = "aws4_request";
/// Block of SHA-256.
const BLOCK: usize = 64;
/// Most bytes of a body that is hashed.
pub(crate) const MAX_BODY: usize = 10 * 1024 * 1024;
/// Hash of a body that is not part of the signature.
pub(crate) const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
const CONTENT_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// Explains why a request cannot be signed. Never holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SignError {
    /// The secret has another form.
    #[error("the secret of an AWS route has the form ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]")]
    Keys,
    /// The client signed in another way.
    #[error("the request is not signed with {ALGORITHM}, so its region and service are not known")]
    Algorithm,
    /// The scope of the client has another form.
    #[error("the credential scope of the request cannot be read")]
    Scope,
    /// No date, or another than that of the scope.
    #[error("the request has no `x-amz-date` that fits its credential scope")]
    Date,
    /// Every chunk carries a signature of the client.
    #[error(
        "the body is signed chunk by chunk, which cannot be repeated outside; set AWS_REQUEST_CHECKSUM_CALCULATION=when_required"
    )]
    Streaming,
    /// The hash of the body has another form.
    #[error("`x-amz-content-sha256` is neither a hash nor a known word")]
    ContentHash,
    /// A header cannot be signed.
    #[error("a signed header is not text")]
    Header,
}

/// The keys of an account.
pub(crate) struct Keys {
    id: Zeroizing<String>,
    secret: Zeroizing<String>,
    token: Option<Zeroizing<String>>,
}

impl Keys {
    /// Reads `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`.
    pub(crate) fn read(secret: &Secret) -> Result<Self, SignError> {
        let text = std::str::from_utf8(secret.expose()).map_err(|_| SignError::Keys)?;
        let mut parts = text.splitn(3, ':').map(|part| Zeroizing::new(part.to_owned()));
        let (id, secret) = (parts.next(), parts.next());
        let (id, secret) = id.zip(secret).ok_or(SignError::Keys)?;
        let keys = Self { id, secret, token: parts.next() };
        let plain = !keys.id.is_empty() && keys.id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if plain && !keys.secret.is_empty() { Ok(keys) } else { Err(SignError::Keys) }
    }

    /// The parts that must not be seen inside, for scrubbing.
    pub(crate) fn confidential(&self) -> impl Iterator<Item = &[u8]> {
        [Some(&self.secret), self.token.as_ref()].into_iter().flatten().map(|part| part.as_bytes())
    }
}

/// The terms of a signature, as the client chose them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    day: String,
    region: String,
    service: String,
    signed: Vec<String>,
}

impl Claim {
    /// Reads the `authorization` header of a client; `None` if the request is not signed.
    pub(crate) fn read(head: &Parts) -> Result<Option<Self>, SignError> {
        let Some(value) = head.headers.get(AUTHORIZATION) else { return Ok(None) };
        let text = value.to_str().map_err(|_| SignError::Scope)?;
        let terms = text.strip_prefix(ALGORITHM).ok_or(SignError::Algorithm)?;
        let term =
            |name: &str| terms.split(',').find_map(|term| term.trim().strip_prefix(name)?.strip_prefix('='));
        let scope = term("Credential").ok_or(SignError::Scope)?;
        let signed = term("SignedHeaders").ok_or(SignError::Scope)?;
        let mut scope = scope.rsplitn(5, '/');
        if scope.next() != Some(TERMINATOR) {
            return Err(SignError::Scope);
        }
        let mut part =
            || scope.next().filter(|part| is_word(part)).map(str::to_owned).ok_or(SignError::Scope);
        let (service, region, day) = (part()?, part()?, part()?);
        let signed = signed.split(';').map(str::to_ascii_lowercase).collect();
        Ok(Some(Self { day, region, service, signed }))
    }

    /// Returns the hash of the body that stands in the signature; `None` if the body has to be read for it.
    pub(crate) fn payload(head: &Parts) -> Result<Option<String>, SignError> {
        let Some(value) = head.headers.get(CONTENT_HASH) else { return Ok(None) };
        let text = value.to_str().map_err(|_| SignError::ContentHash)?;
        let hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text {
            _ if hash => Ok(Some(text.to_owned())),
            UNSIGNED | "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => Ok(Some(text.to_owned())),
            _ if text.starts_with("STREAMING-") => Err(SignError::Streaming),
            _ => Err(SignError::ContentHash),
        }
    }

    /// Returns true for the one service that accepts a body that is not part of the signature.
    pub(crate) fn accepts_unsigned(&self) -> bool {
        self.service == "s3"
    }

    /// Signs a request. `payload` is the hash of its body.
    pub(crate) fn sign(
        &self,
        head: &mut Parts,
        host: &str,
        keys: &Keys,
        payload: &str,
    ) -> Result<(), SignError> {
        head.headers.remove(TOKEN);
        if let Some(token) = &keys.token {
            head.headers.insert(TOKEN, sensitive(token)?);
        }
        if payload == UNSIGNED {
            head.headers.insert(CONTENT_HASH, HeaderValue::from_static(UNSIGNED));
        }
        let time =
            head.headers.get(DATE).and_then(|value| value.to_str().ok()).ok_or(SignError::Date)?.to_owned();
        if !time.starts_with(&self.day) || time.len() != 16 {
            return Err(SignError::Date);
        }
        let names = self.names(head, keys.token.is_some());
        let canonical = Zeroizing::new(self.canonical(head, host, &names, payload)?);
        let scope = format!("{}/{}/{}/{TERMINATOR}", self.day, self.region, self.service);
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical.as_bytes())));
        let signature = hex(&mac(&self.key(keys)[..], text.as_bytes())[..]);
        let (id, names) = (&*keys.id, names.join(";"));
        let value =
            format!("{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}");
        head.headers.insert(AUTHORIZATION, sensitive(&value)?);
        Ok(())
    }

    /// Returns the names of the headers to sign: those of the client that are still there, and those that have to be.
    fn names(&self, head: &Parts, token: bool) -> Vec<String> {
        let present = |name: &&String| {
            head.headers.contains_key(&***name)
                && **name != *TOKEN.as_str()
                && **name != *AUTHORIZATION.as_str()
        };
        let mut names: Vec<String> = self.signed.iter().filter(present).cloned().collect();
        names.extend([HOST, DATE].map(|name| name.to_string()));
        names.extend(token.then(|| TOKEN.to_string()));
        names.extend(head.headers.contains_key(CONTENT_HASH).then(|| CONTENT_HASH.to_string()));
        names.sort();
        names.dedup();
        names
    }

    fn canonical(
        &self,
        head: &Parts,
        host: &str,
        names: &[String],
        payload: &str,
    ) -> Result<String, SignError> {
        let mut text = format!("{}\n{}\n", head.method, self.path(head.uri.path()));
        text.push_str(&query(head.uri.query().unwrap_or_default()));
        text.push('\n');
        for name in names {
            let value = if *name == HOST.as_str() { host.to_owned() } else { joined(head, name)? };
            for part in [name, ":", &value, "\n"] {
                text.push_str(part);
            }
        }
        Ok(text + "\n" + &names.join(";") + "\n" + payload)
    }

    /// Returns the path as the service signs it. S3 takes it as it was sent; every other service normalises it and encodes it again.
    fn path(&self, path: &str) -> String {
        if self.service == "s3" {
            return path.to_owned();
        }
        let mut segments: Vec<&str> = Vec::new();
        for segment in path.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                _ => segments.push(segment),
            }
        }
        let end = if path.ends_with('/') && !segments.is_empty() { "/" } else { "" };
        let encoded: Vec<String> = segments.iter().map(|segment| encode(segment.as_bytes())).collect();
        format!("/{}{end}", encoded.join("/"))
    }

    fn key(&self, keys: &Keys) -> Zeroizing<[u8; 32]> {
        let first = Zeroizing::new(format!("AWS4{}", &*keys.secret));
        let parts = [&self.day, &self.region, &self.service, TERMINATOR];
        let day = mac(first.as_bytes(), parts[0].as_bytes());
        parts[1..].iter().fold(day, |key, part| mac(&key[..], part.as_bytes()))
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn sensitive(text: &str) -> Result<HeaderValue, SignError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| SignError::Keys)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Joins the values of a header, each without blanks at its ends and with single ones inside.
fn joined(head: &Parts, name: &str) -> Result<String, SignError> {
    let mut values = Vec::new();
    for value in head.headers.get_all(name) {
        let text = std::str::from_utf8(value.as_bytes()).map_err(|_| SignError::Header)?;
        values.push(text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    }
    Ok(values.join(","))
}

/// Returns the query with every name and value encoded in one way, sorted.
fn query(query: &str) -> String {
    let encoded = |text: &str| encode(&percent_decoded(text.as_bytes()));
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (encoded(name), encoded(value))
    };
    let mut pairs: Vec<_> = query.split('&').filter(|part| !part.is_empty()).map(pair).collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

fn encode(text: &[u8]) -> String {
    percent_encoded(text, Digits::Upper).into_iter().map(char::from).collect()
}

/// Returns the hash of a body.
pub(crate) fn hash(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}

fn hex(bytes: &[u8]) -> String {
    in_digits(bytes, Digits::Lower).into_iter().map(char::from).collect()
}

/// HMAC with SHA-256 (RFC 2104).
fn mac(key: &[u8], text: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut block = Zeroizing::new([0; BLOCK]);
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let pad = |byte: u8| Zeroizing::new(block.map(|own| own ^ byte));
    let inner = Sha256::new().chain_update(&pad(0x36)[..]).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(&pad(0x5c)[..]).chain_update(inner).finalize();
    Zeroizing::new(outer.into())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    const TIME: &str = "20150830T123600Z";

    fn head(method: &str, uri: &str, service: &str, headers: &[(&str, &str)]) -> Parts {
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let signed = [&["host", "x-amz-date"], &names[..]].concat().join(";").to_lowercase();
        let claim = format!(
            "{ALGORITHM} Credential=placeholder/20150830/us-east-1/{service}/aws4_request, SignedHeaders={signed}, Signature=00"
        );
        let mut request =
            Request::builder().method(method).uri(uri).header(DATE, TIME).header(AUTHORIZATION, claim);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn keys(text: &str) -> Keys {
        Keys::read(&Secret::new(text.into()).unwrap()).unwrap()
    }

    const ACCOUNT: &str = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn signed(mut head: Parts, body: &[u8], account: &str) -> Result<(Parts, String), SignError> {
        let claim = Claim::read(&head)?.unwrap();
        let payload = Claim::payload(&head)?.unwrap_or_else(|| hash(body));
        claim.sign(&mut head, "example.amazonaws.com", &keys(account), &payload)?;
        let value = head.headers[AUTHORIZATION].to_str().unwrap().to_owned();
        Ok((head, value))
    }

    /// Method, target, headers, body and signature.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

    /// Signatures that AWS publishes for the account above (suite of Signature Version 4).
    #[test]
    fn published_vectors() {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let rows: &[Row] = &[
            ("GET", "/", &[], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "/", &[], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "GET",
                "/?Param2=value2&Param1=value1",
                &[],
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            ("GET", "/\u{1234}", &[], "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
            (
                "GET",
                "/",
                &[("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
                "",
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
            (
                "POST",
                "/",
                &form,
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ];
        for (method, uri, headers, body, expected) in rows {
            let (_, value) = signed(head(method, uri, "service", headers), body.as_bytes(), ACCOUNT).unwrap();
            assert!(
                value.contains("Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"),
                "{value}"
            );
            assert!(value.ends_with(&format!("Signature={expected}")), "{method} {uri}: {value}");
        }
    }

    #[test]
    fn paths_by_service() {
        let claim = |service: &str| Claim {
            service: service.into(),
            day: String::new(),
            region: String::new(),
            signed: vec![],
        };
        let rows = [
            ("service", "/a/../b/./c", "/b/c"),
            ("service", "//a//", "/a/"),
            ("service", "/..", "/"),
            ("service", "/a%20b", "/a%2520b"),
            ("service", "/-._~x", "/-._~x"),
            ("s3", "/a/../b//c%20d", "/a/../b//c%20d"),
        ];
        for (service, path, expected) in rows {
            assert_eq!(claim(service).path(path), expected, "{service} {path}");
        }
        assert_eq!(query("b=2&a=1&a=0&c&d=%7e%2f+"), "a=0&a=1&b=2&c=&d=~%2F%2B");
    }

    #[test]
    fn a_session_token_is_set_and_signed() {
        let account = format!("{ACCOUNT}:token-of-the-session");
        let sent = head("GET", "/", "s3", &[("x-amz-security-token", "rf-placeholder")]);
        let (head, value) = signed(sent, b"", &account).unwrap();
        assert_eq!(head.headers.get_all(TOKEN).iter().collect::<Vec<_>>(), ["token-of-the-session"]);
        assert!(value.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"), "{value}");
        let (head, value) = signed(
            super::tests::head("GET", "/", "s3", &[("x-amz-security-token", "rf-placeholder")]),
            b"",
            ACCOUNT,
        )
        .unwrap();
        assert!(
            !head.headers.contains_key(TOKEN) && value.contains("SignedHeaders=host;x-amz-date,"),
            "{value}"
        );
    }

    #[test]
    fn bodies_that_are_not_read() {
        let of = |value: &str| {
            signed(head("PUT", "/", "s3", &[("x-amz-content-sha256", value)]), b"ignored", ACCOUNT)
        };
        assert!(of(UNSIGNED).unwrap().1.contains("x-amz-content-sha256"));
        assert!(of(&hash(b"body")).is_ok());
        assert_eq!(of("STREAMING-AWS4-HMAC-SHA256-PAYLOAD").unwrap_err(), SignError::Streaming);
        assert_eq!(of("other").unwrap_err(), SignError::ContentHash);
    }

    #[test]
    fn refusals() {
        let with = |value: &str| {
            let request = Request::builder().header(AUTHORIZATION, value).header(DATE, TIME);
            let mut head = request.body(()).unwrap().into_parts().0;
            Claim::read(&head)?.unwrap().sign(&mut head, "h", &keys(ACCOUNT), UNSIGNED)
        };
        let rows = [
            ("Bearer a", SignError::Algorithm),
            ("AWS4-ECDSA-P256-SHA256 Credential=a/20150830/s3/aws4_request", SignError::Algorithm),
            ("AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/s3/aws4_request", SignError::Scope),
            (
                "AWS4-HMAC-SHA256 Credential=a/20150830/us east/s3/aws4_request, SignedHeaders=host",
                SignError::Scope,
            ),
            (
                "AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/s3/other, SignedHeaders=host",
                SignError::Scope,
            ),
            (
                "AWS4-HMAC-SHA256 Credential=a/20150831/us-east-1/s3/aws4_request, SignedHeaders=host",
                SignError::Date,
            ),
        ];
        for (value, expected) in rows {
            assert_eq!(with(value), Err(expected), "{value}");
        }
        for bad in ["nocolonhere", ":secretsecret", "AKIDEXAMPLE:", "AK ID:secret"] {
            assert!(Keys::read(&Secret::new(bad.into()).unwrap()).is_err(), "{bad}");
        }
    }
}
