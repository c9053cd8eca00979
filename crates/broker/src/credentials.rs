//! Secrets of a run: which request gets which, which requests are permitted, and responses without secrets.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Body as _;
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue, IF_RANGE, RANGE,
    SEC_WEBSOCKET_EXTENSIONS,
};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use policy::{
    Code, Effect, Endpoint, HostIndex, HostName, Inject, RequestRule, Route, Scheme, SecretSource,
    permits_request,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::authority::{Authority, AuthorityError, Roots};
use crate::bodies::{Coding, Leak, ScanBody, ScrubBody};
use crate::connections::Connection;
use crate::inject::inject;
use crate::lease::Lease;
use crate::placeholder::{PlaceholderScan, TooMany};
use crate::refusal::Refusal;
use crate::scrub::{Needles, Scrubber};
use crate::secret::{Secret, SecretError, SecretName, SecretStore};
use crate::sigv4::{self, Claim, Keys};
use crate::{Body, Shared};

/// A value that a service refuses is read again, but not more often than this.
const RELOAD: Duration = Duration::from_secs(10);
/// Bytes of all bodies together that are held to be signed.
const HELD_BODIES: usize = 64 * 1024 * 1024;

/// Everything that the secrets of a run are made from.
pub struct CredentialsSettings {
    /// Secrets and the requests that they are put into.
    pub routes: Vec<Route>,
    /// Rules on methods and paths.
    pub requests: Vec<RequestRule>,
    /// Values of secrets.
    pub secrets: Arc<dyn SecretStore>,
    /// Certificate authorities that servers are verified with.
    pub roots: Roots,
    /// Time for which the run may use its secrets; `None` until it ends.
    pub lifetime: Option<Duration>,
}

/// Explains why the secrets of a run cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// A secret cannot be had.
    #[error("secret {name}: {error}", name = policy::Shown::text(name))]
    Secret {
        /// Name of the secret.
        name: Box<str>,
        /// The cause.
        error: SecretError,
    },
    /// Two routes give one secret different sources.
    #[error("secret {0}: two routes name different sources for it")]
    Sources(SecretName),
    /// The certificate authority of the run cannot be made.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// More than the search can hold.
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

/// The secrets of one run, with placeholders for them and a certificate authority for the hosts that they go to.
pub struct Credentials {
    routes: Vec<(Route, Arc<Lease>)>,
    leases: Vec<Arc<Lease>>,
    requests: Vec<RequestRule>,
    /// Finds the rules on requests to a host.
    index: HostIndex,
    authority: Option<Authority>,
    roots: Roots,
    client: OnceLock<Arc<rustls::ClientConfig>>,
    scan: PlaceholderScan,
    /// The search for secrets, and the number of values in it.
    needles: Mutex<(usize, Arc<Needles>)>,
    /// Bytes that bodies may still take which are held to be signed.
    room: Arc<Semaphore>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("leases", &self.leases).finish_non_exhaustive()
    }
}

/// Result of putting a secret into a request.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// The secret that went in.
    pub(crate) lease: Option<Arc<Lease>>,
    /// Set when a placeholder of another host turns up in the body.
    leaked: Arc<Leak>,
}

impl Applied {
    /// Name of the secret that went in.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.lease.as_ref().map(|lease| lease.name.as_str())
    }

    /// Returns the refusal of a request whose body held a placeholder of another host.
    pub(crate) fn leaked(&self, endpoint: &Endpoint) -> Option<Refusal> {
        self.leaked.is_found().then(|| elsewhere(endpoint, None))
    }

    /// Records a placeholder that turns up in the body after the host has answered.
    pub(crate) fn watch_rest(&self, shared: &Arc<Shared>, connection: &Connection) {
        let (shared, caller) = (shared.clone(), connection.caller.clone());
        let refusal = elsewhere(&connection.endpoint, None);
        self.leaked.then(move || shared.recorder.refused(&refusal, caller.now()));
    }
}

impl Credentials {
    /// Reads the secrets and makes placeholders, and a certificate authority if a host is intercepted. Sources that are commands are run
    /// with the first request instead.
    pub fn prepare(settings: CredentialsSettings) -> Result<Self, CredentialsError> {
        let CredentialsSettings { routes, requests, secrets, roots, lifetime } = settings;
        let mut leases: Vec<Arc<Lease>> = Vec::new();
        let mut granted = Vec::with_capacity(routes.len());
        for route in routes {
            let lease = grant(&mut leases, &route, &secrets, lifetime)?;
            granted.push((route, lease));
        }
        let mut index = HostIndex::default();
        for (id, rule) in requests.iter().enumerate() {
            index.add(id, &rule.host, Effect::Allow);
        }
        let authority = match intercepted(&granted, &requests) {
            Intercepted::None => None,
            Intercepted::Listed(hosts) => Some(Authority::generate(Some(&hosts))?),
            Intercepted::Unlisted => Some(Authority::generate(None)?),
        };
        let scan = PlaceholderScan::new(leases.iter().map(|lease| &lease.placeholder))?;
        let needles = Mutex::new((0, Arc::new(Needles::new([])?)));
        let (client, room) = (OnceLock::new(), Arc::new(Semaphore::new(HELD_BODIES)));
        Ok(Self { routes: granted, leases, requests, index, authority, roots, client, scan, needles, room })
    }

    /// Prepares a run without secrets and rules on requests.
    pub fn none() -> Result<Self, CredentialsError> {
        Self::prepare(CredentialsSettings {
            routes: Vec::new(),
            requests: Vec::new(),
            secrets: Arc::new(NoSecrets),
            roots: Roots::default(),
            lifetime: None,
        })
    }

    /// Returns the variables that programs inside see, with placeholders as values.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for (route, lease) in &self.routes {
            let names = route.placeholder.iter().map(ToString::to_string);
            // A client of AWS signs with both; either of them is worthless.
            let pair = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(str::to_owned);
            let signs = route.inject == Inject::AwsSigV4 && route.placeholder.is_some();
            let names = names.chain(signs.then_some(pair).into_iter().flatten());
            all.extend(names.map(|name| (name, lease.placeholder.to_string())));
        }
        all.sort();
        all.dedup();
        all
    }

    /// Returns the secrets without a value, each with the reason. Requests that need one are refused.
    pub fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        self.leases.iter().filter_map(|lease| Some((lease.name.as_str(), lease.missing.as_deref()?)))
    }

    /// The certificate of the run in PEM; `None` if nothing is intercepted.
    #[must_use]
    pub fn certificate_pem(&self) -> Option<&str> {
        self.authority.as_ref().map(Authority::certificate_pem)
    }

    /// Returns the certificate authorities of the machine and that of the run as one file in PEM; `None` if nothing is intercepted.
    pub fn bundle(&self) -> Result<Option<String>, CredentialsError> {
        Ok(self.authority.as_ref().map(|own| self.roots.bundle(Some(own))).transpose()?)
    }

    /// Returns true if TLS to an endpoint is terminated, so that its requests are seen.
    pub(crate) fn intercepts(&self, endpoint: &Endpoint) -> bool {
        self.authority.is_some()
            && (self.routes_to(endpoint, Scheme::Https).next().is_some()
                || self.rules_on(endpoint).next().is_some())
    }

    /// Returns the server side of TLS for a host.
    pub(crate) fn server(&self, host: &HostName) -> Result<Arc<rustls::ServerConfig>, AuthorityError> {
        self.authority.as_ref().ok_or(AuthorityError::NoRoots)?.server(host)
    }

    /// Returns the client side of TLS. The certificates of the machine are read with the first use.
    pub(crate) fn client(&self) -> Result<Arc<rustls::ClientConfig>, AuthorityError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = Arc::new(self.roots.client()?);
        Ok(self.client.get_or_init(|| made).clone())
    }

    /// Ends the use of a secret and returns the endpoints whose connections must be closed.
    pub(crate) fn revoke(&self, secret: &str) -> Vec<Endpoint> {
        let own = self.routes.iter().filter(|(route, _)| *route.secret == *secret);
        own.map(|(route, lease)| {
            lease.revoke();
            route.endpoint.clone()
        })
        .collect()
    }

    fn routes_to(&self, endpoint: &Endpoint, scheme: Scheme) -> impl Iterator<Item = &(Route, Arc<Lease>)> {
        self.routes.iter().filter(move |(route, _)| route.endpoint == *endpoint && route.scheme == scheme)
    }

    fn rules_on(&self, endpoint: &Endpoint) -> impl Iterator<Item = &RequestRule> {
        let mut hits = Vec::new();
        self.index.matches(endpoint, |id| hits.push(id));
        hits.into_iter().filter_map(|id| self.requests.get(id))
    }

    /// Judges a request by method, path and placeholders, and puts the secret of its route in.
    pub(crate) async fn apply(
        &self,
        request: &mut Request<Body>,
        endpoint: &Endpoint,
        scheme: Scheme,
    ) -> Result<Applied, Refusal> {
        let (method, path) = (request.method().as_str(), request.uri().path());
        if !permits_request(self.rules_on(endpoint), endpoint, method, path) {
            return Err(outside(endpoint, method, path));
        }
        let mut routes = self.routes_to(endpoint, scheme).peekable();
        let own = routes.peek().is_some();
        let route = routes.find(|(route, _)| route.requests.contains(method, path));
        if own && route.is_none() {
            return Err(outside(endpoint, method, path));
        }
        if self.leases.is_empty() {
            return Ok(Applied::default());
        }
        self.check_head(request, endpoint, scheme)?;
        if route.is_some() {
            // An answer in parts could show a secret in parts, none of which is the whole.
            request.headers_mut().remove(RANGE);
            request.headers_mut().remove(IF_RANGE);
        }
        limit_codings(request.headers_mut());
        // Compressed messages of a WebSocket could not be searched.
        request.headers_mut().remove(SEC_WEBSOCKET_EXTENSIONS);
        let mut applied = Applied::default();
        if !own {
            self.watch_body(request, &applied);
        }
        if let Some((route, lease)) = route
            && put_in(request, route, lease, &self.room).await?
        {
            applied.lease = Some(lease.clone());
        }
        Ok(applied)
    }

    /// Refuses a request with a placeholder that belongs to another host.
    fn check_head<B>(
        &self,
        request: &Request<B>,
        endpoint: &Endpoint,
        scheme: Scheme,
    ) -> Result<(), Refusal> {
        let target = request.uri().path_and_query().map_or("", |target| target.as_str());
        let values = request.headers().values().map(HeaderValue::as_bytes);
        for text in values.chain([target.as_bytes()]) {
            for hit in self.scan.find(text) {
                let Some(lease) = self.leases.get(hit) else { continue };
                if !self.routes_to(endpoint, scheme).any(|(_, own)| Arc::ptr_eq(own, lease)) {
                    return Err(elsewhere(endpoint, Some(lease.name.as_str())));
                }
            }
        }
        Ok(())
    }

    /// Ends a body in which a placeholder turns up. A host with a route of its own may be told about others: an agent quotes its
    /// environment to its model.
    fn watch_body(&self, request: &mut Request<Body>, applied: &Applied) {
        if !request.body().is_end_stream() {
            let body = std::mem::take(request.body_mut());
            *request.body_mut() = ScanBody::new(body, self.scan.clone(), applied.leaked.clone()).boxed();
        }
    }

    /// Removes every secret of the run from a response.
    pub(crate) fn scrub(
        &self,
        response: Response<Body>,
        applied: &Applied,
        endpoint: &Endpoint,
    ) -> Result<Response<Body>, Refusal> {
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(lease) = &applied.lease
        {
            lease.forget(RELOAD);
        }
        let needles = self.needles(endpoint)?;
        if needles.is_empty() {
            return Ok(response);
        }
        let (mut head, body) = response.into_parts();
        needles.scrub_headers(&mut head.headers);
        if body.is_end_stream() {
            return Ok(Response::from_parts(head, body));
        }
        let coding = Coding::of(&head.headers)
            .filter(|coding| *coding == Coding::Identity || head.status != StatusCode::PARTIAL_CONTENT);
        let coding = coding.ok_or_else(|| {
            let text = "the host compressed its answer in a way that was not asked for, so it cannot be searched for secrets";
            Refusal::unreachable(endpoint, text)
        })?;
        if coding != Coding::Identity {
            head.headers.remove(CONTENT_ENCODING);
            head.headers.remove(CONTENT_LENGTH);
        }
        Ok(Response::from_parts(head, ScrubBody::new(body, coding, needles).boxed()))
    }

    /// Starts to remove secrets from bytes that a host sends.
    pub(crate) fn scrubber(&self, endpoint: &Endpoint) -> Result<Scrubber, Refusal> {
        Ok(Scrubber::new(self.needles(endpoint)?))
    }

    /// Returns the search for every value that was used so far.
    fn needles(&self, endpoint: &Endpoint) -> Result<Arc<Needles>, Refusal> {
        // The pair is replaced in one step.
        let mut known = self.needles.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.leases.iter().map(|lease| lease.used().len()).sum();
        if known.0 != count {
            let all: Vec<_> =
                self.routes.iter().flat_map(|(route, lease)| confidential(route, lease)).collect();
            let pairs = all.iter().map(|(secret, lease)| (secret, &lease.placeholder));
            let made =
                Needles::new(pairs).map_err(|error| Refusal::limit(error.to_string()).about(endpoint))?;
            *known = (count, Arc::new(made));
        }
        Ok(known.1.clone())
    }
}

/// A store for a run without secrets.
struct NoSecrets;

impl SecretStore for NoSecrets {
    fn load(&self, name: &SecretName, _: &SecretSource) -> Result<Secret, SecretError> {
        Err(SecretError::NotSet(name.clone()))
    }
}

/// Returns the lease of a secret, and makes it for the first route.
fn grant(
    leases: &mut Vec<Arc<Lease>>,
    route: &Route,
    secrets: &Arc<dyn SecretStore>,
    lifetime: Option<Duration>,
) -> Result<Arc<Lease>, CredentialsError> {
    let failed = |error| CredentialsError::Secret { name: route.secret.clone(), error };
    let name = SecretName::parse(&route.secret).map_err(failed)?;
    if let Some(known) = leases.iter().find(|lease| lease.name == name) {
        return if known.source == route.source {
            Ok(known.clone())
        } else {
            Err(CredentialsError::Sources(name))
        };
    }
    let lease = Lease::new(name, route.source.clone(), secrets.clone(), lifetime).map_err(failed)?;
    leases.push(Arc::new(lease));
    Ok(leases[leases.len() - 1].clone())
}

/// Hosts that are intercepted.
enum Intercepted {
    None,
    Listed(Vec<HostName>),
    /// A pattern names hosts that cannot be listed.
    Unlisted,
}

fn intercepted(routes: &[(Route, Arc<Lease>)], requests: &[RequestRule]) -> Intercepted {
    let secure = routes.iter().filter(|(route, _)| route.scheme == Scheme::Https);
    let mut hosts: Vec<HostName> = secure.map(|(route, _)| route.endpoint.host.clone()).collect();
    if hosts.is_empty() && requests.is_empty() {
        return Intercepted::None;
    }
    for rule in requests {
        let exact = Endpoint::parse(rule.host.as_str(), 443);
        let Ok(exact) = exact else { return Intercepted::Unlisted };
        hosts.push(exact.host);
    }
    Intercepted::Listed(hosts)
}

/// Returns the values of a lease that must not be seen inside.
fn confidential<'a>(route: &Route, lease: &'a Arc<Lease>) -> Vec<(Secret, &'a Arc<Lease>)> {
    let mut all = Vec::new();
    for value in lease.used().iter() {
        let keys = if route.inject == Inject::AwsSigV4 { Keys::read(value).ok() } else { None };
        match keys {
            // Parts that are too short to be told from text are no keys of AWS.
            Some(keys) => all.extend(keys.confidential().filter_map(|part| Secret::new(part.to_vec()).ok())),
            None => all.push(Secret::clone(value)),
        }
    }
    all.into_iter().map(|secret| (secret, lease)).collect()
}

async fn put_in(
    request: &mut Request<Body>,
    route: &Route,
    lease: &Lease,
    room: &Arc<Semaphore>,
) -> Result<bool, Refusal> {
    let unavailable = |text: String| Refusal::new(Some(&route.endpoint), Code::SecretUnavailable, text);
    let secret = lease.secret().await.map_err(|error| unavailable(error.to_string()))?;
    if route.inject == Inject::AwsSigV4 {
        return sign(request, route, &secret, room).await;
    }
    let (mut head, body) = std::mem::take(request).into_parts();
    let done = inject(&mut head, &route.inject, &secret, &lease.placeholder);
    *request = Request::from_parts(head, body);
    done.map_err(|error| unavailable(format!("secret {}: {error}", lease.name)))
}

/// Signs a request anew. A body without a hash is read first.
async fn sign(
    request: &mut Request<Body>,
    route: &Route,
    secret: &Secret,
    room: &Arc<Semaphore>,
) -> Result<bool, Refusal> {
    let endpoint = &route.endpoint;
    let refuse =
        |error: sigv4::SignError| Refusal::new(Some(endpoint), Code::SecretUnavailable, error.to_string());
    let keys = Keys::read(secret).map_err(refuse)?;
    let (mut head, mut body) = std::mem::take(request).into_parts();
    let Some(claim) = Claim::read(&head).map_err(refuse)? else {
        *request = Request::from_parts(head, body);
        return Ok(false);
    };
    let payload = match Claim::payload(&head).map_err(refuse)? {
        Some(given) => given,
        None if claim.accepts_unsigned() && is_large(&head) => sigv4::UNSIGNED.to_owned(),
        None => {
            let read = read_bounded(body, room, endpoint).await?;
            let hash = sigv4::hash(&read);
            body = Full::new(read).map_err(|never| match never {}).boxed();
            hash
        }
    };
    let host = authority_of(endpoint, route.scheme);
    claim.sign(&mut head, &host, &keys, &payload).map_err(refuse)?;
    *request = Request::from_parts(head, body);
    Ok(true)
}

/// A body that is held, with its share of the room for all of them.
struct Held {
    bytes: BytesMut,
    share: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body that is to be hashed. Its share of the room is free again when its last bytes are sent.
async fn read_bounded(mut body: Body, room: &Arc<Semaphore>, endpoint: &Endpoint) -> Result<Bytes, Refusal> {
    let full = |_| Refusal::limit("too many bodies wait to be signed").about(endpoint);
    let share = room.clone().try_acquire_many_owned(0).map_err(full)?;
    let mut held = Held { bytes: BytesMut::new(), share };
    while let Some(frame) = body.frame().await {
        // Trailers are not part of a signature of this kind.
        let Ok(piece) = frame.map_err(|_| too_large(endpoint))?.into_data() else { continue };
        if held.bytes.len() + piece.len() > sigv4::MAX_BODY {
            return Err(too_large(endpoint));
        }
        let length = u32::try_from(piece.len()).map_err(|_| too_large(endpoint))?;
        held.share.merge(room.clone().try_acquire_many_owned(length).map_err(full)?);
        held.bytes.extend_from_slice(&piece);
    }
    Ok(Bytes::from_owner(held))
}

fn is_large(head: &Parts) -> bool {
    let length =
        head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    length.is_none_or(|length| length > sigv4::MAX_BODY)
        && !matches!(head.method.as_str(), "GET" | "HEAD" | "DELETE")
}

fn too_large(endpoint: &Endpoint) -> Refusal {
    let text = "the body is too large to be signed, or did not arrive";
    Refusal::limit(text).about(endpoint).with_status(StatusCode::PAYLOAD_TOO_LARGE)
}

/// Returns host and port as a request names them: without the port that the scheme implies.
pub(crate) fn authority_of(endpoint: &Endpoint, scheme: Scheme) -> String {
    let whole = endpoint.to_string();
    let implied = match scheme {
        Scheme::Https => ":443",
        Scheme::Http => ":80",
    };
    whole.strip_suffix(implied).map(str::to_owned).unwrap_or(whole)
}

/// Asks for a coding that can be searched: gzip if the client takes it, or none.
fn limit_codings(headers: &mut HeaderMap) {
    let gzip = headers.get_all(ACCEPT_ENCODING).iter().any(|value| accepts_gzip(value.as_bytes()));
    let coding = if gzip && !headers.contains_key(RANGE) { "gzip" } else { "identity" };
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(coding));
}

fn accepts_gzip(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    text.split(',').any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let refused = weight
            .trim()
            .strip_prefix("q=")
            .is_some_and(|weight| weight.trim().trim_matches(['0', '.']).is_empty());
        matches!(name.trim(), "gzip" | "x-gzip") && !refused
    })
}

fn outside(endpoint: &Endpoint, method: &str, path: &str) -> Refusal {
    let text = format!("no rule permits {} {}", policy::Shown::text(method), policy::Shown::text(path));
    Refusal::new(Some(endpoint), Code::RequestScope, text)
}

fn elsewhere(endpoint: &Endpoint, secret: Option<&str>) -> Refusal {
    let of = secret.map_or_else(String::new, |name| format!(" {name}"));
    let text = format!("the request holds the placeholder of the secret{of}, which belongs to another host");
    Refusal::new(Some(endpoint), Code::PlaceholderElsewhere, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn held_bodies_share_one_room() {
        let endpoint = Endpoint::parse("a.test:443", 443).unwrap();
        let room = Arc::new(Semaphore::new(10));
        let body = |length| Full::new(Bytes::from(vec![7; length])).map_err(|never| match never {}).boxed();
        let first = read_bounded(body(8), &room, &endpoint).await.unwrap();
        assert_eq!((first.len(), room.available_permits()), (8, 2));
        let refused = read_bounded(body(3), &room, &endpoint).await.unwrap_err();
        assert_eq!((refused.code, room.available_permits()), (Code::TrafficLimit, 2));
        drop(first);
        assert_eq!(read_bounded(body(3), &room, &endpoint).await.unwrap().len(), 3);
        assert_eq!(room.available_permits(), 10);
        let refused = read_bounded(body(sigv4::MAX_BODY + 1), &room, &endpoint).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
    }
}
