//! Fetching over HTTP: every address is checked before it is connected to, and what was checked is what is dialled.
//!
//! **Invariant.** A connection is made only to an endpoint that the gate let through, and only to an address that was judged:
//! a name is looked up once for each hop, and TLS holds the server to the name.
//! **Invariant.** Redirects are hops like the first: read, asked for, looked up and judged again.
//! **Invariant.** Time, bytes, headers and hops have limits, and reaching one is an error or a cut that is told.
//!
//! Nothing of the environment takes part: no proxy variables, no cookies, no credentials.

mod admit;
mod dial;
mod error;
mod resolve;
mod url;
mod work;

use std::collections::HashSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;

pub use admit::{Gate, GateRefusal};
pub use error::FetchError;
pub use resolve::{LookupError, Resolver, SystemResolver};
pub use url::{Url, UrlError};

use dial::{Answer, Dialer};

/// The most redirects that are followed.
pub const MAX_REDIRECTS: usize = 10;

/// The most time that one fetch may have.
const MAX_TIME: Duration = Duration::from_secs(600);

/// A request, and its limits.
#[derive(Debug, Clone)]
pub struct Fetch {
    /// An absolute address, `http` or `https`.
    pub url: String,
    /// Method.
    pub method: Method,
    /// The most time for all of it: lookups, redirects and the body. Time that the gate takes does not count.
    pub timeout: Duration,
    /// The most bytes of the body, after decompression.
    pub max_bytes: usize,
}

/// Method of a request. Nothing here changes anything at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// With its body.
    Get,
    /// Only what it would be.
    Head,
}

/// The response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchResponse {
    /// URL after redirects.
    pub url: String,
    /// The status of the answer. One that says "not found" is an answer, too.
    pub status: u16,
    /// Type that the server states.
    pub content_type: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// True if there was more.
    pub cut: bool,
    /// The way there, the last hop included.
    pub hops: Vec<Hop>,
}

/// One request on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hop {
    /// Requested URL.
    pub url: String,
    /// The addresses that were judged; the connection went to one of them.
    pub addresses: Vec<IpAddr>,
    /// The status of the answer.
    pub status: u16,
}

/// Fetches. Built once: it keeps the certificates that are trusted.
#[derive(Debug)]
pub struct Fetcher {
    dialer: Dialer,
}

impl Fetcher {
    /// One that trusts what the system trusts, and these certificates.
    #[must_use]
    pub fn new(roots: Vec<CertificateDer<'static>>) -> Self {
        Self { dialer: Dialer::new(roots) }
    }

    /// Fetches something, hop by hop. `abort` is polled for cancellation.
    pub fn fetch(
        &self,
        request: &Fetch,
        gate: &dyn Gate,
        resolver: &dyn Resolver,
        abort: &dyn Fn() -> bool,
    ) -> Result<FetchResponse, FetchError> {
        let mut url = Url::parse(&request.url)?;
        let (mut hops, mut seen) = (Vec::new(), HashSet::new());
        let mut limits = Limits { until: Instant::now() + request.timeout.min(MAX_TIME), abort };
        loop {
            if !seen.insert(url.to_string()) {
                return Err(FetchError::Loop(url.to_string()));
            }
            let addresses = admit::addresses(&url, gate, resolver, &mut limits)?;
            let answer = self.dialer.exchange(&url, &addresses, request, &limits)?;
            hops.push(Hop { url: url.to_string(), addresses, status: answer.status });
            match next(&url, &answer, hops.len())? {
                Some(next) => url = next,
                None => return Ok(fetched(&url, answer, hops)),
            }
        }
    }
}

/// Time that is left, and the cancellation token.
struct Limits<'a> {
    until: Instant,
    abort: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    /// The time that is left, or why there is none.
    fn left(&self) -> Result<Duration, FetchError> {
        if (self.abort)() {
            return Err(FetchError::Aborted);
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(FetchError::Timeout) } else { Ok(left) }
    }

    /// Does something that costs no time: people answer when they answer.
    fn pause<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = work();
        self.until += begin.elapsed();
        done
    }
}

/// Returns the next URL, if the answer redirects.
fn next(url: &Url, answer: &Answer, hops: usize) -> Result<Option<Url>, FetchError> {
    let Some(location) = answer.location() else { return Ok(None) };
    let next = url.join(location).map_err(FetchError::Redirect)?;
    if url.is_https() && !next.is_https() {
        return Err(FetchError::Downgrade(next.to_string()));
    }
    if hops > MAX_REDIRECTS {
        return Err(FetchError::TooManyRedirects);
    }
    Ok(Some(next))
}

fn fetched(url: &Url, answer: Answer, hops: Vec<Hop>) -> FetchResponse {
    let Answer { status, content_type, body, cut, .. } = answer;
    FetchResponse { url: url.to_string(), status, content_type, body, cut, hops }
}
