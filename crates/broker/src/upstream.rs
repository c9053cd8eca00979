//! Connections to a host, kept for the requests of one client connection.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use policy::{Endpoint, HostName, Scheme};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::connections::Connection;
use crate::credentials::authority_of;
use crate::refusal::Refusal;
use crate::tunnel::Counted;
use crate::{Body, Shared};

/// Receive window of HTTP/2, for one stream and for all: the most that a client inside can make the broker hold of it.
const WINDOW: u32 = 1024 * 1024;

/// The connections of one client connection to its host.
pub(crate) struct Upstream {
    shared: Arc<Shared>,
    endpoint: Endpoint,
    scheme: Scheme,
    connection: Arc<Connection>,
    /// Connections of HTTP/1.1 that are free or will be.
    kept: Mutex<Vec<http1::SendRequest<Body>>>,
    /// Failure of the first connection, until a request hears of it.
    failure: Mutex<Option<Refusal>>,
    /// The connection of HTTP/2, once the host has chosen it.
    shared_h2: tokio::sync::Mutex<Option<http2::SendRequest<Body>>>,
}

enum Sender {
    One(http1::SendRequest<Body>),
    Two(http2::SendRequest<Body>),
}

impl Upstream {
    pub(crate) fn new(shared: Arc<Shared>, scheme: Scheme, connection: Arc<Connection>) -> Self {
        let endpoint = connection.endpoint.clone();
        Self {
            shared,
            endpoint,
            scheme,
            connection,
            kept: Mutex::default(),
            failure: Mutex::default(),
            shared_h2: tokio::sync::Mutex::default(),
        }
    }

    /// Sends a request and returns the head of the response. A kept connection that the host has closed is replaced once; a request
    /// that may change the protocol gets one of its own.
    pub(crate) async fn send(
        &self,
        request: Request<Body>,
        upgrade: bool,
    ) -> Result<Response<Incoming>, Refusal> {
        if upgrade {
            return self.send_upgrade(request).await;
        }
        let sender = self.sender().await?;
        match self.send_on(sender, request).await {
            Ok(response) => Ok(response),
            Err(mut error) => match error.take_message() {
                Some(request) => {
                    let sender = self.connect(true).await?;
                    self.send_on(sender, request).await.map_err(|error| self.failed(error.error()))
                }
                None => Err(self.failed(error.error())),
            },
        }
    }

    async fn send_upgrade(&self, request: Request<Body>) -> Result<Response<Incoming>, Refusal> {
        let Sender::One(mut sender) = self.connect(false).await? else {
            return Err(Refusal::unreachable(
                &self.endpoint,
                "the host speaks HTTP/2 where it was not offered",
            ));
        };
        sender.send_request(self.for_one(request)).await.map_err(|error| self.failed(&error))
    }

    async fn send_on(
        &self,
        sender: Sender,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Body>>> {
        match sender {
            Sender::Two(mut sender) => sender.try_send_request(self.for_two(request)).await,
            Sender::One(mut sender) => {
                let response = sender.try_send_request(self.for_one(request)).await?;
                self.kept().push(sender);
                Ok(response)
            }
        }
    }

    /// Connects while the client is still busy with its handshake. The first request hears of a failure.
    pub(crate) async fn warm(&self) {
        let mut shared = self.shared_h2.lock().await;
        match self.connect(true).await {
            Ok(Sender::Two(sender)) => *shared = Some(sender),
            Ok(Sender::One(mut sender)) => {
                if sender.ready().await.is_ok() {
                    self.kept().push(sender);
                }
            }
            Err(refusal) => *self.failure() = Some(refusal),
        }
    }

    fn failure(&self) -> std::sync::MutexGuard<'_, Option<Refusal>> {
        // One value, replaced in one step.
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a connection that is free, or a new one.
    async fn sender(&self) -> Result<Sender, Refusal> {
        if let Some(sender) = self.free() {
            return Ok(Sender::One(sender));
        }
        let mut shared = self.shared_h2.lock().await;
        if let Some(sender) = shared.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(Sender::Two(sender.clone()));
        }
        if let Some(refusal) = self.failure().take() {
            return Err(refusal);
        }
        // Another request may have ended while this one waited.
        if let Some(sender) = self.free() {
            return Ok(Sender::One(sender));
        }
        let sender = self.connect(true).await?;
        if let Sender::Two(sender) = &sender {
            *shared = Some(sender.clone());
        }
        Ok(sender)
    }

    fn free(&self) -> Option<http1::SendRequest<Body>> {
        let mut kept = self.kept();
        kept.retain(|sender| !sender.is_closed());
        let ready = kept.iter().position(http1::SendRequest::is_ready)?;
        Some(kept.swap_remove(ready))
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<http1::SendRequest<Body>>> {
        // Connections are added and removed one by one, so the list is whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to the host, verified by its name.
    async fn connect(&self, offer_h2: bool) -> Result<Sender, Refusal> {
        let dialed = self.shared.dialer.connect(&self.endpoint).await?;
        self.connection.set_address(dialed.address);
        let stream = Counted::new(dialed.stream, self.connection.clone());
        match self.scheme {
            Scheme::Http => self.handshake(stream, false).await,
            Scheme::Https => {
                let stream = self.secure(stream, offer_h2).await?;
                let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                self.handshake(stream, h2).await
            }
        }
    }

    async fn secure(
        &self,
        stream: Counted<TcpStream>,
        offer_h2: bool,
    ) -> Result<tokio_rustls::client::TlsStream<Counted<TcpStream>>, Refusal> {
        let client = self.shared.credentials.client().map_err(|error| self.failed(&error))?;
        let client = if offer_h2 {
            client
        } else {
            let mut one = (*client).clone();
            one.alpn_protocols.retain(|name| name != b"h2");
            Arc::new(one)
        };
        let name = match &self.endpoint.host {
            HostName::Name(name) => {
                ServerName::try_from(name.to_string()).map_err(|error| self.failed(&error))?
            }
            HostName::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let connected = TlsConnector::from(client).connect(name, stream);
        let connected = tokio::time::timeout(self.shared.limits.connect, connected).await;
        let connected =
            connected.map_err(|_| Refusal::unreachable(&self.endpoint, "no TLS connection in time"))?;
        connected
            .map_err(|error| Refusal::unreachable(&self.endpoint, format!("TLS to the host failed: {error}")))
    }

    async fn handshake<S>(&self, stream: S, h2: bool) -> Result<Sender, Refusal>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let io = TokioIo::new(stream);
        if h2 {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
            let made = builder.handshake(io).await;
            let (sender, connection) = made.map_err(|error| self.failed(&error))?;
            self.drive(connection);
            return Ok(Sender::Two(sender));
        }
        let (sender, connection) = http1::handshake(io).await.map_err(|error| self.failed(&error))?;
        self.drive(connection.with_upgrades());
        Ok(Sender::One(sender))
    }

    /// Runs a connection until it ends or is closed from outside.
    fn drive<E>(&self, driver: impl Future<Output = Result<(), E>> + Send + 'static) {
        let own = self.connection.clone();
        tokio::spawn(async move {
            tokio::select! {
                // The request in flight learns of an error by itself.
                _ended = driver => {}
                () = own.cancelled() => {}
            }
        });
    }

    /// Gives a request the form of HTTP/1.1: the target without host, the host in its header.
    fn for_one(&self, mut request: Request<Body>) -> Request<Body> {
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target.map_or_else(Uri::default, Uri::from);
        *request.version_mut() = Version::HTTP_11;
        // Both parts of an endpoint are visible ASCII.
        let host = HeaderValue::try_from(authority_of(&self.endpoint, self.scheme));
        request.headers_mut().remove(HOST);
        if let Ok(host) = host {
            request.headers_mut().insert(HOST, host);
        }
        request
    }

    /// Gives a request the form of HTTP/2: scheme and host in its target.
    fn for_two(&self, mut request: Request<Body>) -> Request<Body> {
        let target = request.uri().path_and_query().cloned();
        let uri = Uri::builder()
            .scheme("https")
            .authority(authority_of(&self.endpoint, self.scheme))
            .path_and_query(target.map_or_else(|| "/".to_owned(), |target| target.to_string()));
        if let Ok(uri) = uri.build() {
            *request.uri_mut() = uri;
        }
        *request.version_mut() = Version::HTTP_2;
        request.headers_mut().remove(HOST);
        request
    }

    fn failed(&self, error: &(dyn std::error::Error + 'static)) -> Refusal {
        let mut text = error.to_string();
        if let Some(cause) = error.source() {
            text.push_str(": ");
            text.push_str(&cause.to_string());
        }
        Refusal::unreachable(&self.endpoint, text)
    }
}
