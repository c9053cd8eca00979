//! HTTP from inside: as a proxy (CONNECT and absolute requests, HTTP/1.1 and HTTP/2), and plain HTTP on a connection of its own.
//!
//! Every request is judged, also the second and the thousandth of a connection.

mod forward;
pub(crate) mod headers;
mod target;

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::header::ACCEPT;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use policy::{Code, Endpoint, Reason};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::connections::Connection;
use crate::dial::Dialed;
use crate::intercept::WINDOW;
use crate::record::Asked;
use crate::refusal::Refusal;
use crate::screen::{Malformed, REFUSED, Screened};
use crate::stream::{Client, ClientIo, Session, carry};
use crate::tunnel::until_closed;
use crate::{Body, Shared, socks};

use forward::Upstream;

/// One client connection that carries requests.
struct Front {
    shared: Arc<Shared>,
    session: Arc<Session>,
    door: Door,
    malformed: Malformed,
    /// The connection of the last request, for the next one to the same host.
    upstream: tokio::sync::Mutex<Option<Upstream>>,
    /// Endpoints that a person allowed for this connection.
    answered: Mutex<HashMap<Endpoint, Reason>>,
}

/// Meaning of the requests of a connection.
enum Door {
    /// To a proxy: each names its host.
    Proxy,
    /// To one host, which every request must name.
    Origin(Arc<Connection>),
}

/// Serves a proxy client, beginning with bytes that were read before.
pub(crate) async fn serve_proxy(shared: Arc<Shared>, session: Arc<Session>, stream: TcpStream, first: u8) {
    let preface = first == b'P' && timeout(shared.limits.head, is_preface(&stream)).await.unwrap_or(false);
    if preface {
        let screened = Screened::opaque(stream, &[], &shared.limits);
        serve_http2(Front::new(shared, session, Door::Proxy, screened.malformed()), screened).await;
    } else {
        let screened = Screened::requests(stream, &[], &shared.limits);
        serve_http1(Front::new(shared, session, Door::Proxy, screened.malformed()), screened).await;
    }
}

/// Serves plain HTTP to one host that is allowed and recorded. Boxed, because a tunnel may carry HTTP and HTTP may open a tunnel.
pub(crate) fn serve_origin(
    shared: &Arc<Shared>,
    session: &Arc<Session>,
    client: Client,
    connection: Arc<Connection>,
    dialed: Option<Dialed>,
) -> Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send>> {
    let screened = Screened::requests(client, &[], &shared.limits);
    let door = Door::Origin(Arc::clone(&connection));
    let front = Front::new(Arc::clone(shared), Arc::clone(session), door, screened.malformed());
    Box::pin(async move {
        let idle = front.shared.limits.idle;
        if let Some(dialed) = dialed {
            *front.upstream.lock().await = Some(Upstream::new(dialed, Arc::clone(&connection), idle).await?);
        }
        until_closed(&connection, idle, serve_http1(front, screened)).await;
        Ok(())
    })
}

/// Returns true if a connection begins with the preface of HTTP/2, `PRI * HTTP/2.0`. No other method begins with these letters.
async fn is_preface(stream: &TcpStream) -> bool {
    const START: &[u8; 3] = b"PRI";
    let mut first = [0; START.len()];
    while let Ok(length @ 1..) = stream.peek(&mut first).await {
        if length == START.len() || !START.starts_with(&first[..length]) {
            return first == *START;
        }
        // `peek` does not wait for more than one byte.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    false
}

async fn serve_http1<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    front: Arc<Front>,
    stream: Screened<S>,
) {
    let service = {
        let front = Arc::clone(&front);
        service_fn(move |request| answer(Arc::clone(&front), request))
    };
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None).half_close(true).max_headers(front.shared.limits.headers + 1);
    // An error ends this connection and concerns no other.
    let _served = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await.is_ok();
}

async fn serve_http2(front: Arc<Front>, stream: Screened<TcpStream>) {
    let limits = front.shared.limits;
    let service = {
        let front = Arc::clone(&front);
        service_fn(move |request| answer(Arc::clone(&front), request))
    };
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(Some(limits.idle / 2))
        .keep_alive_timeout(limits.head)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    let _served = builder.serve_connection(TokioIo::new(stream), service).await.is_ok();
}

/// Answers one request: with what the host says, or with the refusal.
async fn answer(front: Arc<Front>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let (json, asked) = (wants_json(&request), Asked::of(&request));
    let answered = if request.method().as_str() == REFUSED {
        Err(front.malformed.take())
    } else if request.method() == Method::TRACE {
        // It would echo a secret that was put in.
        Err(Refusal::malformed("TRACE is not passed on").with_status(StatusCode::METHOD_NOT_ALLOWED))
    } else if request.method() == Method::CONNECT {
        connect(&front, request).await
    } else {
        forward::forward(&front, request).await
    };
    Ok(answered.unwrap_or_else(|refusal| {
        front.shared.recorder.refused_request(&refusal, front.session.program.now(), asked.as_ref());
        refusal.response(json)
    }))
}

/// Opens a tunnel.
async fn connect(front: &Arc<Front>, mut request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
    if matches!(front.door, Door::Origin(_)) {
        return Err(Refusal::malformed("CONNECT to a server that is no proxy"));
    }
    let endpoint = target::of_connect(&request)?;
    if let Some(denial) = front.shared.judge.denial(&endpoint) {
        return Err(denial);
    }
    target::check_connect_host(&request, &endpoint)?;
    let (connection, dialed) = socks::open(&front.shared, &front.session, &endpoint).await?;
    let (shared, session) = (Arc::clone(&front.shared), Arc::clone(&front.session));
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        if let Err(refusal) = carry(&shared, &session, into_client(upgraded), connection, dialed).await {
            shared.recorder.refused(&refusal, session.program.now());
        }
    });
    Ok(Response::new(Empty::new().map_err(|never| match never {}).boxed()))
}

/// Returns the socket behind a tunnel over HTTP/1.1, or the stream of one over HTTP/2.
fn into_client(upgraded: Upgraded) -> Client {
    match upgraded.downcast::<TokioIo<Screened<TcpStream>>>() {
        Ok(parts) => {
            let (stream, rest) = parts.io.into_inner().into_parts();
            let mut prefix = BytesMut::from(&parts.read_buf[..]);
            prefix.extend_from_slice(&rest);
            Client { io: ClientIo::Tcp(stream), prefix }
        }
        Err(upgraded) => Client { io: ClientIo::Stream(TokioIo::new(upgraded)), prefix: BytesMut::new() },
    }
}

pub(crate) fn wants_json<B>(request: &Request<B>) -> bool {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("application/json") && !accept.contains("text/html"))
}

impl Front {
    fn new(shared: Arc<Shared>, session: Arc<Session>, door: Door, malformed: Malformed) -> Arc<Self> {
        let (upstream, answered) = (tokio::sync::Mutex::default(), Mutex::default());
        Arc::new(Self { shared, session, door, malformed, upstream, answered })
    }

    /// Decides about a request. A person who allowed the endpoint is not asked again on the same connection, but a rule that denies it by
    /// now holds at once.
    async fn permission(&self, endpoint: &Endpoint) -> Result<Reason, Refusal> {
        let known = match &self.door {
            Door::Origin(connection) => Some(connection.reason.clone()),
            Door::Proxy => self.answered().get(endpoint).cloned(),
        };
        if let Some(reason) = known {
            return self.shared.judge.denial(endpoint).map_or(Ok(reason), Err);
        }
        let reason = self.shared.judge.judge(endpoint, &self.session.program).await?;
        if reason.code == Code::AnsweredYes {
            self.answered().insert(endpoint.clone(), reason.clone());
        }
        Ok(reason)
    }

    fn answered(&self) -> MutexGuard<'_, HashMap<Endpoint, Reason>> {
        // Entries are added in one step.
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
