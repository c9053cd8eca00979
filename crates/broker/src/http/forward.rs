//! Plain requests that are passed on, and WebSocket.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use policy::{Endpoint, Reason, Scheme};
use tokio::time::timeout;

use super::{Door, Front, headers, target};
use crate::connections::Connection;
use crate::dial::Dialed;
use crate::intercept::carry_web_socket;
use crate::record::Asked;
use crate::refusal::Refusal;
use crate::tunnel::{Counted, until_closed};
use crate::{Body, BodyError};

/// Time that a kept connection gets to be free for the next request; then a new one is opened.
const REUSE: Duration = Duration::from_millis(100);

/// A connection to a host that carries requests one after the other.
pub(super) struct Upstream {
    sender: SendRequest<Body>,
    connection: Arc<Connection>,
}

impl Upstream {
    /// Begins HTTP/1.1 on a connection. It ends when it is closed from outside or nothing moves for the idle time, and the request in
    /// flight with it.
    pub(super) async fn new(
        dialed: Dialed,
        connection: Arc<Connection>,
        idle: Duration,
    ) -> Result<Self, Refusal> {
        connection.set_address(dialed.address);
        let stream = TokioIo::new(Counted::new(dialed.stream, Arc::clone(&connection)));
        let failed = |error: hyper::Error| Refusal::unreachable(&connection.endpoint, error.to_string());
        let (sender, driver) = http1::handshake(stream).await.map_err(failed)?;
        let own = Arc::clone(&connection);
        // The request in flight learns of an error by itself.
        tokio::spawn(async move { until_closed(&own, idle, driver.with_upgrades()).await.is_some() });
        Ok(Self { sender, connection })
    }
}

/// Passes a request on and returns the answer.
pub(super) async fn forward(
    front: &Arc<Front>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    let endpoint = match &front.door {
        Door::Proxy => target::of_proxied(&request)?,
        Door::Origin(connection) => {
            target::check_origin(&request, &connection.endpoint)?;
            connection.endpoint.clone()
        }
    };
    let (reason, asked) = (front.permission(&endpoint).await?, Asked::new(&request));
    let websocket = request.version() == Version::HTTP_11 && headers::is_websocket(request.headers());
    let mut request = request.map(|body| body.map_err(BodyError::from).boxed());
    let upgrade = websocket.then(|| hyper::upgrade::on(&mut request));
    rewrite(&mut request, &endpoint, websocket)?;
    let applied = front.shared.credentials.apply(&mut request, &endpoint, Scheme::Http).await?;
    let upstream = front.upstream_for(&endpoint, &reason).await?;
    let sent = front.send(upstream, request, &reason).await;
    let (mut response, upstream) = sent.map_err(|refusal| applied.leaked(&endpoint).unwrap_or(refusal))?;
    applied.watch_rest(&front.shared, &upstream.connection);
    front.shared.recorder.request(&upstream.connection, &asked, applied.secret(), response.status())?;
    let switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    match (upgrade, switched) {
        (Some(client), true) => {
            let host = hyper::upgrade::on(&mut response);
            let scrubber = front.shared.credentials.scrubber(&endpoint)?;
            let (idle, session) = (front.shared.limits.idle, Arc::clone(&front.session));
            tokio::spawn(async move {
                let (Ok(client), Ok(host)) = (client.await, host.await) else { return };
                let carried = carry_web_socket(client, host, scrubber);
                until_closed(&upstream.connection, idle, carried).await;
                drop(session);
            });
        }
        (None, true) => return Err(Refusal::unreachable(&endpoint, "the host changed the protocol unasked")),
        _ => *front.upstream.lock().await = Some(upstream),
    }
    let response = response.map(|body| body.map_err(BodyError::from).boxed());
    // Before headers are removed: those that tell the coding of the body could be among them.
    let mut response = front.shared.credentials.scrub(response, &applied, &endpoint)?;
    headers::finish(&mut response, switched, websocket);
    Ok(response)
}

/// Turns a request to a proxy into one to the host.
fn rewrite(request: &mut Request<Body>, endpoint: &Endpoint, websocket: bool) -> Result<(), Refusal> {
    let malformed = || Refusal::malformed("malformed path").about(endpoint);
    let path = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    *request.version_mut() = Version::HTTP_11;
    headers::strip(request.headers_mut());
    let host = if endpoint.port == 80 { host_text(endpoint) } else { endpoint.to_string() };
    request.headers_mut().insert(HOST, HeaderValue::try_from(host).map_err(|_| malformed())?);
    if websocket {
        headers::set_websocket(request.headers_mut());
    }
    Ok(())
}

/// Returns the host without its port, an IPv6 address in brackets.
fn host_text(endpoint: &Endpoint) -> String {
    let whole = endpoint.to_string();
    whole.strip_suffix(&format!(":{}", endpoint.port)).map(str::to_owned).unwrap_or(whole)
}

impl Front {
    /// Returns the connection of the last request if it leads to the same host and is free, or a new one.
    async fn upstream_for(&self, endpoint: &Endpoint, reason: &Reason) -> Result<Upstream, Refusal> {
        let kept = self.upstream.lock().await.take();
        if let Some(mut kept) = kept
            && kept.connection.endpoint == *endpoint
            && timeout(REUSE, kept.sender.ready()).await.is_ok_and(|ready| ready.is_ok())
        {
            return Ok(kept);
        }
        self.open_upstream(endpoint, reason).await
    }

    async fn open_upstream(&self, endpoint: &Endpoint, reason: &Reason) -> Result<Upstream, Refusal> {
        let connection = match &self.door {
            Door::Origin(connection) => Arc::clone(connection),
            Door::Proxy => Connection::open(&self.shared, endpoint, reason, &self.session.program)?,
        };
        let dialed = self.shared.dialer.connect(endpoint).await?;
        Upstream::new(dialed, connection, self.shared.limits.idle).await
    }

    /// Sends a request; once more on a new connection if the host closed the kept one before a byte of it was sent.
    async fn send(
        &self,
        mut upstream: Upstream,
        request: Request<Body>,
        reason: &Reason,
    ) -> Result<(Response<Incoming>, Upstream), Refusal> {
        let endpoint = &upstream.connection.endpoint.clone();
        let failed =
            |error: &hyper::Error| Refusal::unreachable(endpoint, format!("the host failed: {error}"));
        let mut error = match upstream.sender.try_send_request(request).await {
            Ok(response) => return Ok((response, upstream)),
            Err(error) => error,
        };
        let Some(unsent) = error.take_message() else { return Err(failed(error.error())) };
        let mut fresh = self.open_upstream(endpoint, reason).await?;
        match fresh.sender.try_send_request(unsent).await {
            Ok(response) => Ok((response, fresh)),
            Err(error) => Err(failed(error.error())),
        }
    }
}
