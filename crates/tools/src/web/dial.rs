//! One request to addresses that were judged. All of HTTP and TLS is `ureq`'s; who is connected to is not.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use ureq::config::Config;
use ureq::http::{HeaderMap, HeaderValue, Request, Response, Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, NextTimeout, RustlsConnector, TcpConnector, Transport,
};
use ureq::{Agent, Body};

use super::error::FetchError;
use super::url::Url;
use super::work::{Gone, Workers};
use super::{Fetch, Limits, Method};

/// The most bytes of headers.
const MAX_HEADERS: usize = 64 * 1024;
/// The longest that a connection may take to be made, TLS included.
const MAX_CONNECT: Duration = Duration::from_secs(10);
/// The most requests at a time.
const MAX_REQUESTS: usize = 64;
/// The most addresses of a name that are tried.
const MAX_TRIED: usize = 16;

const USER_AGENT: &str = concat!("ringfence/", env!("CARGO_PKG_VERSION"));

/// Makes requests.
#[derive(Debug)]
pub(super) struct Dialer {
    roots: Vec<CertificateDer<'static>>,
    /// Trusted certificates, read when they are needed first.
    trusted: OnceLock<TlsConfig>,
    tls: Tls,
    workers: Workers,
}

/// Answer to one request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
    pub(super) cut: bool,
    location: Option<Vec<u8>>,
}

impl Answer {
    /// Returns the target, if it is a redirect.
    pub(super) fn location(&self) -> Option<&[u8]> {
        self.location.as_deref()
    }
}

impl Dialer {
    pub(super) fn new(roots: Vec<CertificateDer<'static>>) -> Self {
        let (trusted, tls) = (OnceLock::new(), Tls(Arc::default()));
        Self { roots, trusted, tls, workers: Workers::new(MAX_REQUESTS) }
    }

    /// Sends one request to the first of these addresses that answers, and to no other.
    pub(super) fn exchange(
        &self,
        url: &Url,
        addresses: &[IpAddr],
        request: &Fetch,
        limits: &Limits<'_>,
    ) -> Result<Answer, FetchError> {
        let left = limits.left()?;
        let agent = self.agent(url, addresses, left)?;
        let (uri, method, max_bytes) = (url.to_string(), request.method, request.max_bytes);
        let mine = agent.clone();
        let done = self.workers.run(left, limits.abort, move || exchange(&mine, &uri, method, max_bytes));
        // Wakes the thread where it is still reading.
        agent.shutdown();
        match done {
            Ok(answer) => answer,
            Err(Gone::Busy) => Err(FetchError::Busy),
            Err(Gone::Timeout) => Err(FetchError::Timeout),
            Err(Gone::Aborted) => Err(FetchError::Aborted),
            Err(Gone::Broken) => Err(FetchError::Protocol("reading it broke off".into())),
        }
    }

    /// Creates an agent for this one request: it knows no other address, keeps no connection, and resolves nothing.
    fn agent(&self, url: &Url, addresses: &[IpAddr], left: Duration) -> Result<Agent, FetchError> {
        let config = Config::builder()
            .proxy(None)
            .https_only(url.is_https())
            .max_redirects(0)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .max_response_header_size(MAX_HEADERS)
            .user_agent(USER_AGENT)
            .timeout_global(Some(left))
            .timeout_connect(Some(left.min(MAX_CONNECT)));
        let config = if url.is_https() { config.tls_config(self.trusted()?) } else { config };
        let port = url.endpoint().port;
        let judged =
            addresses.iter().take(MAX_TRIED).map(|address| SocketAddr::new(*address, port)).collect();
        let connector = ().chain(TcpConnector::default()).chain(self.tls.clone());
        Ok(Agent::with_parts(config.build(), connector, Judged(judged)))
    }

    fn trusted(&self) -> Result<TlsConfig, FetchError> {
        if let Some(known) = self.trusted.get() {
            return Ok(known.clone());
        }
        let system = rustls_native_certs::load_native_certs();
        let roots: Vec<_> =
            self.roots.iter().chain(&system.certs).map(|it| Certificate::from_der(it).to_owned()).collect();
        if roots.is_empty() {
            let why = system.errors.first().map_or("the system has none".to_owned(), ToString::to_string);
            return Err(FetchError::Tls(format!("no certificates to trust: {why}")));
        }
        let config = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .build();
        Ok(self.trusted.get_or_init(|| config).clone())
    }
}

fn exchange(agent: &Agent, uri: &str, method: Method, max_bytes: usize) -> Result<Answer, FetchError> {
    let uri: Uri = uri.parse().map_err(|error| FetchError::Protocol(format!("{error}")))?;
    let request = match method {
        Method::Get => Request::get(uri),
        Method::Head => Request::head(uri),
    };
    let request = request.body(()).map_err(|error| FetchError::Protocol(error.to_string()))?;
    answer(agent.run(request).map_err(failure)?, max_bytes)
}

fn answer(response: Response<Body>, max_bytes: usize) -> Result<Answer, FetchError> {
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    let text = |name| value(&parts.headers, name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let location =
        value(&parts.headers, header::LOCATION).filter(|_| REDIRECTS.contains(&status)).map(<[u8]>::to_vec);
    let content_type = text(header::CONTENT_TYPE);
    if location.is_some() {
        return Ok(Answer { status, content_type, body: Vec::new(), cut: false, location });
    }
    // A body that `ureq` decompresses no longer has this header.
    if let Some(other) =
        text(header::CONTENT_ENCODING).filter(|it| !it.trim().eq_ignore_ascii_case("identity"))
    {
        return Err(FetchError::Encoding(other));
    }
    let taken =
        ringfence::source::read(body.into_reader(), max_bytes).map_err(|error| failure(error.into()))?;
    Ok(Answer { status, content_type, body: taken.bytes, cut: taken.more, location: None })
}

/// The answers that lead elsewhere.
const REDIRECTS: &[u16] = &[301, 302, 303, 307, 308];

fn value(headers: &HeaderMap, name: header::HeaderName) -> Option<&[u8]> {
    headers.get(name).map(HeaderValue::as_bytes)
}

fn failure(error: ureq::Error) -> FetchError {
    match error {
        ureq::Error::Timeout(_) => FetchError::Timeout,
        ureq::Error::LargeResponseHeader(..) => FetchError::Headers,
        ureq::Error::Rustls(error) => FetchError::Tls(error.to_string()),
        ureq::Error::Tls(why) => FetchError::Tls(why.to_owned()),
        ureq::Error::Decompress(_, error) => FetchError::Compressed(error.to_string()),
        ureq::Error::Io(error) => connection(&error),
        other => FetchError::Protocol(other.to_string()),
    }
}

fn connection(error: &io::Error) -> FetchError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => FetchError::Tls(inner.to_string()),
        None => FetchError::Connection(error.to_string()),
    }
}

/// The only addresses there are.
#[derive(Debug)]
struct Judged(Vec<SocketAddr>);

impl Resolver for Judged {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut addresses = self.empty();
        for address in &self.0 {
            addresses.push(*address);
        }
        if addresses.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(addresses) }
    }
}

/// TLS whose settings are made once and kept for all requests.
#[derive(Debug, Clone)]
struct Tls(Arc<RustlsConnector>);

impl<In: Transport> Connector<In> for Tls {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        self.0.connect(details, chained)
    }
}
