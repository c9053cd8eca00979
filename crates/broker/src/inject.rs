//! Puts a secret into a request. Credentials that the client sent in the same position are replaced, never added to.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TE, TRANSFER_ENCODING,
    UPGRADE,
};
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use policy::Inject;
use zeroize::Zeroizing;

use crate::forms::{Digits, percent_encoded};
use crate::placeholder::{Placeholder, percent_decoded};
use crate::secret::Secret;

/// Headers that decide where a request ends or goes.
const FRAMING: [HeaderName; 7] = [CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRANSFER_ENCODING, UPGRADE];

/// Explains why a secret cannot be put into a request. Never holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum InjectError {
    /// The value cannot stand in a header.
    #[error("the value of the secret cannot stand in a header")]
    Value,
    /// The header has no valid name.
    #[error("the header of the route has no valid name")]
    Header,
    /// The request has no target that could be changed.
    #[error("the target of the request cannot be changed")]
    Target,
    /// This position needs the body.
    #[error("the request has to be signed as a whole")]
    Signature,
}

/// Puts a secret into the head of a request. Returns true if it went in.
pub(crate) fn inject(
    head: &mut Parts,
    how: &Inject,
    secret: &Secret,
    placeholder: &Placeholder,
) -> Result<bool, InjectError> {
    match how {
        Inject::Header(name) => {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| InjectError::Header)?;
            if FRAMING.contains(&name) {
                return Err(InjectError::Header);
            }
            head.headers.remove(AUTHORIZATION);
            head.headers.insert(name, sensitive(secret.expose())?);
        }
        Inject::Bearer => {
            let value = Zeroizing::new([b"Bearer ", secret.expose()].concat());
            head.headers.insert(AUTHORIZATION, sensitive(&value)?);
        }
        Inject::Basic(user) => {
            head.headers.insert(AUTHORIZATION, basic(user.as_bytes(), secret.expose())?);
        }
        Inject::Query(name) => set_parameter(head, name, secret)?,
        Inject::Replace => return replace(head, secret, placeholder),
        _ => return Err(InjectError::Signature),
    }
    Ok(true)
}

/// Makes a value that no log shows and that HTTP/2 does not keep in its table.
fn sensitive(value: &[u8]) -> Result<HeaderValue, InjectError> {
    let mut value = HeaderValue::from_bytes(value).map_err(|_| InjectError::Value)?;
    value.set_sensitive(true);
    Ok(value)
}

fn basic(user: &[u8], password: &[u8]) -> Result<HeaderValue, InjectError> {
    let pair = Zeroizing::new([user, b":", password].concat());
    let text = Zeroizing::new(format!("Basic {}", &*Zeroizing::new(BASE64_STANDARD.encode(&*pair))));
    sensitive(text.as_bytes())
}

/// Sets a query parameter. Every other parameter of this name is removed, also when its name is encoded.
fn set_parameter(head: &mut Parts, name: &str, secret: &Secret) -> Result<(), InjectError> {
    let query = head.uri.query().unwrap_or_default();
    let decoded = |text: &str| percent_decoded(text.replace('+', " ").as_bytes());
    let own = |part: &&str| decoded(part.split('=').next().unwrap_or_default()) != name.as_bytes();
    let mut query: Zeroizing<String> =
        query.split('&').filter(|part| !part.is_empty()).filter(own).collect::<Vec<_>>().join("&").into();
    if !query.is_empty() {
        query.push('&');
    }
    query.extend(percent_encoded(name.as_bytes(), Digits::Upper).into_iter().map(char::from));
    query.push('=');
    query.extend(percent_encoded(secret.expose(), Digits::Upper).into_iter().map(char::from));
    set_query(head, &query)
}

fn set_query(head: &mut Parts, query: &str) -> Result<(), InjectError> {
    let target = Zeroizing::new(format!("{}?{query}", head.uri.path()));
    let target = PathAndQuery::try_from(target.as_bytes()).map_err(|_| InjectError::Target)?;
    let mut uri = std::mem::take(&mut head.uri).into_parts();
    uri.path_and_query = Some(target);
    head.uri = uri.try_into().map_err(|_| InjectError::Target)?;
    Ok(())
}

/// Replaces the placeholder in headers (also inside of Basic credentials) and in the query.
fn replace(head: &mut Parts, secret: &Secret, placeholder: &Placeholder) -> Result<bool, InjectError> {
    let own = placeholder.as_str().as_bytes();
    let mut replaced = false;
    for value in head.headers.values_mut() {
        if let Some(new) = swapped(value.as_bytes(), own, secret.expose()) {
            *value = sensitive(&new)?;
            replaced = true;
        } else if let Some(new) = in_basic(value.as_bytes(), own, secret.expose()) {
            *value = sensitive(&new)?;
            replaced = true;
        }
    }
    let encoded = Zeroizing::new(percent_encoded(secret.expose(), Digits::Upper));
    let query = head.uri.query().unwrap_or_default();
    if let Some(new) = swapped(query.as_bytes(), own, &encoded) {
        let new = Zeroizing::new(String::from_utf8_lossy(&new).into_owned());
        set_query(head, &new)?;
        replaced = true;
    }
    Ok(replaced)
}

/// Replaces every occurrence; `None` if there is none.
fn swapped(text: &[u8], from: &[u8], to: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut new = Zeroizing::new(Vec::new());
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|part| part == from) {
        new.extend_from_slice(&rest[..at]);
        new.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    if rest.len() == text.len() {
        return None;
    }
    new.extend_from_slice(rest);
    Some(new)
}

fn in_basic(value: &[u8], from: &[u8], to: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (scheme, text) = value.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return None;
    }
    let pair = Zeroizing::new(BASE64_STANDARD.decode(text.trim_ascii()).ok()?);
    let pair = swapped(&pair, from, to)?;
    let text = Zeroizing::new(BASE64_STANDARD.encode(&*pair));
    Some(Zeroizing::new([b"Basic ", text.as_bytes()].concat()))
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    const VALUE: &str = "top/secret value+1";

    struct Injected {
        uri: String,
        headers: Vec<(String, String)>,
        went_in: bool,
    }

    fn run(how: &Inject, uri: &str, headers: &[(&str, &str)]) -> Result<Injected, InjectError> {
        run_with(how, uri, headers, &Placeholder::generic().unwrap(), VALUE)
    }

    fn run_with(
        how: &Inject,
        uri: &str,
        headers: &[(&str, &str)],
        placeholder: &Placeholder,
        value: &str,
    ) -> Result<Injected, InjectError> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut head = request.body(()).unwrap().into_parts().0;
        let secret = Secret::new(value.into()).unwrap();
        let went_in = inject(&mut head, how, &secret, placeholder)?;
        assert!(!format!("{:?}", head.headers).contains(value), "values are sensitive");
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Ok(Injected { uri: head.uri.to_string(), headers, went_in })
    }

    #[test]
    fn headers_are_replaced_never_added() {
        let own = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let twice = [
            ("authorization", "Bearer a"),
            ("authorization", "Bearer b"),
            ("x-api-key", "c"),
            ("X-Api-Key", "d"),
        ];
        let header = run(&Inject::Header("x-api-key".into()), "/", &twice).unwrap();
        assert_eq!(header.headers, own("x-api-key", VALUE));
        let bearer = run(&Inject::Bearer, "/", &twice[..2]).unwrap();
        assert_eq!(bearer.headers, own("authorization", &format!("Bearer {VALUE}")));
        let basic = run(&Inject::Basic("me".into()), "/", &twice[..2]).unwrap();
        let pair = BASE64_STANDARD.encode(format!("me:{VALUE}"));
        assert_eq!(basic.headers, own("authorization", &format!("Basic {pair}")));
        for name in ["a b", "Host", "content-length", "transfer-encoding"] {
            assert!(
                matches!(run(&Inject::Header(name.into()), "/", &[]), Err(InjectError::Header)),
                "{name}"
            );
        }
    }

    #[test]
    fn a_query_parameter_is_set_once() {
        let rows = [
            ("/a", "/a?key=top%2Fsecret%20value%2B1"),
            ("/a?", "/a?key=top%2Fsecret%20value%2B1"),
            ("/a?b=1&key=x&c", "/a?b=1&c&key=top%2Fsecret%20value%2B1"),
            ("/a?key&%6bey=2&keys=3", "/a?keys=3&key=top%2Fsecret%20value%2B1"),
            ("https://h.example/a?key=1", "https://h.example/a?key=top%2Fsecret%20value%2B1"),
        ];
        for (uri, expected) in rows {
            assert_eq!(run(&Inject::Query("key".into()), uri, &[]).unwrap().uri, expected, "{uri}");
        }
    }

    #[test]
    fn a_placeholder_is_replaced_in_headers_and_query() {
        let placeholder = Placeholder::generic().unwrap();
        let basic = format!("basic {}", BASE64_STANDARD.encode(format!("u:{placeholder}")));
        let headers =
            [("authorization", &*basic), ("x-a", &format!("1 {placeholder} {placeholder}")), ("x-b", "2")];
        let uri = format!("/{placeholder}?a={placeholder}");
        let done = run_with(&Inject::Replace, &uri, &headers, &placeholder, VALUE).unwrap();
        let pair = BASE64_STANDARD.encode(format!("u:{VALUE}"));
        let expected = [
            ("authorization".into(), format!("Basic {pair}")),
            ("x-a".into(), format!("1 {VALUE} {VALUE}")),
            ("x-b".into(), "2".into()),
        ];
        assert_eq!(done.headers, expected);
        assert_eq!(done.uri, format!("/{placeholder}?a=top%2Fsecret%20value%2B1"), "never into the path");
        assert!(done.went_in && !run(&Inject::Replace, "/", &headers[2..]).unwrap().went_in);
    }
}
