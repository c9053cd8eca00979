//! Requests on a connection whose host was allowed: TLS is terminated, and every request is judged, completed and passed on.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use policy::{Endpoint, HostName, Scheme};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use crate::connections::Connection;
use crate::http::{headers, wants_json};
use crate::record::Asked;
use crate::refusal::Refusal;
use crate::screen::{Malformed, REFUSED, Screened};
use crate::scrub::Scrubber;
use crate::stream::Session;
use crate::tunnel::until_closed;
use crate::upstream::Upstream;
use crate::{Body, Shared};

/// Receive window of HTTP/2 for requests, for one stream and for all.
pub(crate) const WINDOW: u32 = 256 * 1024;
/// Bytes that are read at once after a change of protocol.
const CHUNK: usize = 16 * 1024;

/// The response to one request, on its way.
type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// One connection from inside.
struct Intercepted {
    shared: Arc<Shared>,
    session: Arc<Session>,
    endpoint: Endpoint,
    scheme: Scheme,
    connection: Arc<Connection>,
    upstream: Upstream,
}

/// Terminates TLS (or reads plain HTTP) and passes every request on, judged and with its secret.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    shared: &Arc<Shared>,
    session: &Arc<Session>,
    stream: S,
    connection: Arc<Connection>,
    scheme: Scheme,
) -> Result<(), Refusal> {
    let client = Arc::new(Intercepted {
        shared: shared.clone(),
        session: session.clone(),
        endpoint: connection.endpoint.clone(),
        scheme,
        connection: connection.clone(),
        upstream: Upstream::new(shared.clone(), scheme, connection.clone()),
    });
    let mut served = Ok(());
    let serving = async { served = client.serve(stream).await };
    until_closed(&connection, shared.limits.idle, serving).await;
    served
}

impl Intercepted {
    async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        self: &Arc<Self>,
        stream: S,
    ) -> Result<(), Refusal> {
        if self.scheme == Scheme::Http {
            self.serve_one(stream).await;
            return Ok(());
        }
        let own = self.clone();
        // Both handshakes run at the same time. Nothing is sent before a request is judged.
        let warm = tokio::spawn(async move { own.upstream.warm().await });
        let stream = self.accept(stream).await.inspect_err(|_| warm.abort())?;
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.serve_two(stream).await;
        } else {
            self.serve_one(stream).await;
        }
        Ok(())
    }

    /// Terminates TLS for a client that names the host it was let out to.
    async fn accept<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> Result<TlsStream<S>, Refusal> {
        let failed = |error: std::io::Error| {
            let text = format!("TLS with the program inside failed: {error}");
            Refusal::malformed(text).about(&self.endpoint)
        };
        let accepting = async {
            let start =
                LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream).await.map_err(failed)?;
            self.check_name(start.client_hello().server_name())?;
            let server = self.shared.credentials.server(&self.endpoint.host);
            let server = server.map_err(|error| Refusal::unreachable(&self.endpoint, error.to_string()))?;
            start.into_stream(server).await.map_err(failed)
        };
        let accepted = tokio::time::timeout(self.shared.limits.head, accepting).await;
        accepted.unwrap_or_else(|_| Err(Refusal::limit("no TLS connection in time").about(&self.endpoint)))
    }

    fn check_name(&self, name: Option<&str>) -> Result<(), Refusal> {
        let named = name.map(HostName::parse);
        match (&self.endpoint.host, named) {
            (HostName::Address(_), None) => Ok(()),
            (host, Some(Ok(named))) if *host == named => Ok(()),
            _ => Err(Refusal::mismatch(
                &self.endpoint,
                "TLS asks for another host than the one that was allowed",
            )),
        }
    }

    async fn serve_one<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self: &Arc<Self>, stream: S) {
        let stream = Screened::requests(stream, &[], &self.shared.limits);
        let (own, malformed) = (self.clone(), stream.malformed());
        let service = service_fn(move |request| own.clone().respond(request, malformed.clone()));
        let mut builder = http1::Builder::new();
        builder.header_read_timeout(None).half_close(true).max_headers(self.shared.limits.headers + 1);
        // An error ends this connection and concerns no other.
        let _served = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await.is_ok();
    }

    async fn serve_two<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self: &Arc<Self>, stream: S) {
        let own = self.clone();
        let service = service_fn(move |request| own.clone().respond(request, Malformed::default()));
        let limits = &self.shared.limits;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .keep_alive_interval(Some(limits.idle / 2))
            .keep_alive_timeout(limits.head)
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        let _served = builder.serve_connection(TokioIo::new(stream), service).await.is_ok();
    }

    /// Answers one request. Refusals are answers, too.
    fn respond(self: Arc<Self>, request: Request<Incoming>, malformed: Malformed) -> Answer {
        Box::pin(async move {
            let (json, asked) = (wants_json(&request), Asked::of(&request));
            let answered = if request.method().as_str() == REFUSED {
                Err(malformed.take().about(&self.endpoint))
            } else {
                self.pass_on(request).await
            };
            Ok(answered.unwrap_or_else(|refusal| {
                let program = self.session.program.now();
                self.shared.recorder.refused_request(&refusal, program, asked.as_ref());
                refusal.response(json)
            }))
        })
    }

    /// Judges a request, puts its secret in, sends it and cleans the response.
    async fn pass_on(self: &Arc<Self>, mut request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        self.check_target(&request)?;
        let web_socket = request.version() == Version::HTTP_11 && headers::is_websocket(request.headers());
        let upgrade = web_socket.then(|| hyper::upgrade::on(&mut request));
        let mut request = request.map(|body| body.map_err(Into::into).boxed());
        prepare(request.headers_mut(), web_socket);
        let applied = self.shared.credentials.apply(&mut request, &self.endpoint, self.scheme).await?;
        let asked = Asked::new(&request);
        let sent = self.upstream.send(request, web_socket).await;
        let mut response = sent.map_err(|refusal| applied.leaked(&self.endpoint).unwrap_or(refusal))?;
        applied.watch_rest(&self.shared, &self.connection);
        self.shared.recorder.request(&self.connection, &asked, applied.secret(), response.status())?;
        let switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        match (upgrade, switched) {
            (Some(inside), true) => {
                let scrubber = self.shared.credentials.scrubber(&self.endpoint)?;
                tokio::spawn(self.clone().carry(inside, hyper::upgrade::on(&mut response), scrubber));
            }
            (None, true) => {
                return Err(Refusal::unreachable(&self.endpoint, "the host changed the protocol unasked"));
            }
            (_, false) => {}
        }
        let response = response.map(|body| body.map_err(Into::into).boxed());
        let mut response = self.shared.credentials.scrub(response, &applied, &self.endpoint)?;
        headers::finish(&mut response, switched, web_socket);
        Ok(response)
    }

    /// Refuses a request for another host than the one that was allowed.
    fn check_target<B>(&self, request: &Request<B>) -> Result<(), Refusal> {
        let mismatch = || {
            Refusal::mismatch(&self.endpoint, "the request names another host than the one that was allowed")
        };
        let default = if self.scheme == Scheme::Https { 443 } else { 80 };
        let same = |text: &str| Endpoint::parse(text, default).is_ok_and(|named| named == self.endpoint);
        let uri = request.uri();
        let scheme = if self.scheme == Scheme::Https { "https" } else { "http" };
        if uri.scheme_str().is_some_and(|named| named != scheme)
            || uri.authority().is_some_and(|named| !same(named.as_str()))
        {
            return Err(mismatch());
        }
        let mut hosts = request.headers().get_all(header::HOST).iter();
        match (hosts.next(), hosts.next()) {
            (None, _) if uri.authority().is_some() || request.version() == Version::HTTP_10 => {}
            (Some(host), None) if host.to_str().is_ok_and(same) => {}
            (None, _) | (Some(_), Some(_)) => {
                return Err(Refusal::malformed("a request needs exactly one host").about(&self.endpoint));
            }
            (Some(_), None) => return Err(mismatch()),
        }
        match *request.method() {
            Method::CONNECT => {
                Err(Refusal::malformed("CONNECT to a server that is no proxy").about(&self.endpoint))
            }
            // It would echo the secret that was put in.
            Method::TRACE => Err(Refusal::malformed("TRACE is not passed on").about(&self.endpoint)),
            _ => Ok(()),
        }
    }

    /// Carries a WebSocket until one side ends it.
    async fn carry(self: Arc<Self>, inside: OnUpgrade, outside: OnUpgrade, scrubber: Scrubber) {
        let carrying = async {
            let (Ok(inside), Ok(outside)) = (inside.await, outside.await) else { return };
            // An error of one side ends both.
            let _ended = carry_web_socket(inside, outside, scrubber).await.is_ok();
        };
        until_closed(&self.connection, self.shared.limits.idle, carrying).await;
    }
}

/// Carries bytes both ways after a change of protocol. Those from the host are scrubbed as they pass.
pub(crate) async fn carry_web_socket(
    inside: Upgraded,
    outside: Upgraded,
    mut scrubber: Scrubber,
) -> io::Result<()> {
    let (mut from_inside, mut to_inside) = tokio::io::split(TokioIo::new(inside));
    let (mut from_outside, mut to_outside) = tokio::io::split(TokioIo::new(outside));
    let out = async {
        tokio::io::copy(&mut from_inside, &mut to_outside).await?;
        to_outside.shutdown().await
    };
    let back = async {
        let mut buffer = vec![0; CHUNK];
        loop {
            let length = from_outside.read(&mut buffer).await?;
            if length == 0 {
                to_inside.write_all(&scrubber.finish()).await?;
                return to_inside.shutdown().await;
            }
            to_inside.write_all(&scrubber.push(Bytes::copy_from_slice(&buffer[..length]))).await?;
            to_inside.flush().await?;
        }
    };
    tokio::try_join!(out, back).map(|_| ())
}

/// Removes headers that speak of the connection to the client. gRPC needs to be told that trailers are welcome.
fn prepare(headers: &mut HeaderMap, web_socket: bool) {
    let trailers = headers.get(header::TE).is_some_and(|te| te.as_bytes().eq_ignore_ascii_case(b"trailers"));
    headers::strip(headers);
    if trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
    }
    if web_socket {
        headers::set_websocket(headers);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;
