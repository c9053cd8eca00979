//! Headers that concern one connection only and are not passed on.

use hyper::ext::ReasonPhrase;
use hyper::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, UPGRADE};
use hyper::{Response, Version};

use crate::Body;

/// Headers of one hop (RFC 9110, 7.6.1), headers for proxies, and one that some servers take for a socket to forward to.
const HOP_BY_HOP: [&str; 12] = [
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-unix-socket",
];

/// Removes headers of one hop, and those that `Connection` names.
pub(crate) fn strip(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    for name in listed {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Returns true if a request or response changes to WebSocket.
pub(crate) fn is_websocket(headers: &HeaderMap) -> bool {
    let word = |value: &HeaderValue, word: &str| {
        value.to_str().is_ok_and(|text| text.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
    };
    headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
        && headers.get_all(CONNECTION).iter().any(|value| word(value, "upgrade"))
}

/// Asks for, or agrees to, a change to WebSocket.
pub(crate) fn set_websocket(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

/// Prepares a response for the client, after it was scrubbed.
pub(crate) fn finish(response: &mut Response<Body>, switched: bool, websocket: bool) {
    *response.version_mut() = Version::HTTP_11;
    // The words behind the status are the host's and are not searched.
    response.extensions_mut().remove::<ReasonPhrase>();
    strip(response.headers_mut());
    if switched {
        set_websocket(response.headers_mut());
    } else if websocket {
        // Bytes behind a request to upgrade are not screened, so they must not be read as requests.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_one_hop_are_removed() {
        let mut headers = HeaderMap::new();
        let all = [
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("proxy-authorization", "Basic x"),
            ("x-unix-socket", "/var/run/docker.sock"),
            ("upgrade", "h2c"),
            ("accept", "*/*"),
        ];
        for (name, value) in all {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        strip(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["accept"]);
    }
}
