//! The host that a request is for. All places that name it must agree.

use hyper::header::HOST;
use hyper::{Request, Version};
use policy::{Code, Endpoint, Shown};

use crate::refusal::Refusal;

/// Returns the target of a `CONNECT`, which must have a port.
pub(super) fn of_connect<B>(request: &Request<B>) -> Result<Endpoint, Refusal> {
    let uri = request.uri();
    let plain = uri.scheme().is_none() && matches!(uri.path(), "" | "/") && uri.query().is_none();
    let authority = uri.authority().filter(|_| plain);
    let authority = authority.ok_or_else(|| Refusal::malformed("CONNECT needs HOST:PORT"))?;
    let endpoint = parse(authority.as_str(), 0)?;
    if endpoint.port == 0 {
        return Err(Refusal::malformed("CONNECT needs a port, as in HOST:443").about(&endpoint));
    }
    Ok(endpoint)
}

/// Refuses a `Host` header of a `CONNECT` that names another host. Its port may be left out.
pub(super) fn check_connect_host<B>(request: &Request<B>, endpoint: &Endpoint) -> Result<(), Refusal> {
    check_hosts(request, endpoint, endpoint.port)
}

/// Returns the target of a request to a proxy: `http://host/path` with a `Host` that agrees.
pub(super) fn of_proxied<B>(request: &Request<B>) -> Result<Endpoint, Refusal> {
    let uri = request.uri();
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") => {
            return Err(Refusal::malformed("the proxy takes https only through CONNECT"));
        }
        Some(_) => return Err(Refusal::malformed("the proxy takes http only")),
        None => {
            return Err(Refusal::malformed(
                "this is a proxy: the request must name its host, as in http://host/",
            ));
        }
    }
    let authority = uri.authority().ok_or_else(|| Refusal::malformed("the request names no host"))?;
    let endpoint = parse(authority.as_str(), 80)?;
    check_hosts(request, &endpoint, 80)?;
    Ok(endpoint)
}

/// Checks a request on a connection to one host: it must name that host.
pub(super) fn check_origin<B>(request: &Request<B>, endpoint: &Endpoint) -> Result<(), Refusal> {
    if let Some(authority) = request.uri().authority() {
        let named = parse(authority.as_str(), 80)?;
        let plain = request.uri().scheme_str().is_none_or(|scheme| scheme == "http");
        if named != *endpoint || !plain {
            return Err(mismatch(endpoint, authority.as_str()));
        }
    }
    check_hosts(request, endpoint, 80)
}

fn check_hosts<B>(request: &Request<B>, endpoint: &Endpoint, default_port: u16) -> Result<(), Refusal> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    if second.is_some() {
        return Err(Refusal::malformed("more than one Host header").about(endpoint));
    }
    let Some(host) = first else {
        let named = request.uri().authority().is_some() && request.version() != Version::HTTP_11;
        return if named { Ok(()) } else { Err(Refusal::malformed("no Host header").about(endpoint)) };
    };
    let text =
        std::str::from_utf8(host.as_bytes()).map_err(|_| Refusal::malformed("malformed Host header"))?;
    match Endpoint::parse(text, default_port) {
        Ok(named) if named == *endpoint => Ok(()),
        _ => Err(mismatch(endpoint, text)),
    }
}

fn mismatch(endpoint: &Endpoint, named: &str) -> Refusal {
    Refusal::mismatch(endpoint, format!("the request is for {endpoint}, but names {}", Shown::text(named)))
}

fn parse(authority: &str, default_port: u16) -> Result<Endpoint, Refusal> {
    Endpoint::parse(authority, default_port)
        .map_err(|error| Refusal::new(None, Code::BadHost, format!("{}: {error}", Shown::text(authority))))
}
