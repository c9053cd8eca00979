//! A connection from inside whose host was allowed: its first bytes say what it is, and that decides how it is carried.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use policy::{Endpoint, HostName, Scheme};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::caller::Caller;
use crate::connections::Connection;
use crate::dial::Dialed;
use crate::intercept;
use crate::refusal::Refusal;
use crate::wire::client_hello::{self, ClientHello};
use crate::{Limits, Shared, http, tunnel};

/// Time that a client gets to speak first where a rule names the port; then the server may.
const SPEAK_FIRST: Duration = Duration::from_millis(150);
/// Most reads until the first message must be complete.
const MAX_READS: usize = 4096;
/// Methods of HTTP/1.1 that begin a plain connection.
const METHODS: [&str; 8] = ["GET ", "HEAD ", "POST ", "PUT ", "PATCH ", "DELETE ", "OPTIONS ", "TRACE "];

/// One client connection: its share of the limit, and the program behind it.
pub(crate) struct Session {
    pub(crate) program: Caller,
    /// Released when the last use of the connection ends.
    pub(crate) _permit: OwnedSemaphorePermit,
}

/// Bytes from and to a program inside.
pub(crate) struct Client {
    pub(crate) io: ClientIo,
    /// Bytes that were read and not yet used.
    pub(crate) prefix: BytesMut,
}

/// Carrier of a client.
pub(crate) enum ClientIo {
    /// A socket of its own.
    Tcp(TcpStream),
    /// A stream inside an HTTP/2 connection.
    Stream(TokioIo<Upgraded>),
}

/// First message of a client.
enum FirstBytes {
    Tls(ClientHello),
    Http,
    Other,
    Silent,
    Closed,
}

/// Carries a connection to its end. The host is allowed and the connection recorded; `dialed` is the way out if it is there already.
pub(crate) async fn carry(
    shared: &Arc<Shared>,
    session: &Arc<Session>,
    mut client: Client,
    connection: Arc<Connection>,
    dialed: Option<Dialed>,
) -> Result<(), Refusal> {
    let endpoint = connection.endpoint.clone();
    let intercepted = shared.credentials.intercepts(&endpoint);
    let opaque = !intercepted && !is_web(&endpoint) && shared.judge.names_port(&endpoint);
    let (first, dialed) = first_message(shared, &mut client, &connection, dialed, opaque)
        .await
        .inspect_err(|_| client.reset())?;
    match first {
        FirstBytes::Closed => return Ok(()),
        FirstBytes::Http => {
            return http::serve_origin(shared, session, client, connection, dialed).await;
        }
        FirstBytes::Tls(hello) => {
            check_server_name(&endpoint, &hello, opaque).inspect_err(|_| client.reset())?;
        }
        FirstBytes::Other | FirstBytes::Silent if opaque => {}
        FirstBytes::Other | FirstBytes::Silent => {
            client.reset();
            return Err(Refusal::unreadable(&endpoint));
        }
    }
    if intercepted {
        return intercept::serve(shared, session, client, connection, Scheme::Https).await;
    }
    let dialed = match dialed {
        Some(dialed) => dialed,
        None => shared.dialer.connect(&endpoint).await.inspect_err(|_| client.reset())?,
    };
    connection.set_address(dialed.address);
    tunnel::run(client, dialed.stream, &connection, shared.limits.idle).await;
    Ok(())
}

/// Returns true for ports that carry TLS and HTTP only. A rule that names one of them says nothing about other protocols.
fn is_web(endpoint: &Endpoint) -> bool {
    matches!(endpoint.port, 80 | 443)
}

/// Reads the first message of a client. Where the host may speak first, it does so through a connection that is opened for it.
async fn first_message(
    shared: &Shared,
    client: &mut Client,
    connection: &Connection,
    dialed: Option<Dialed>,
    opaque: bool,
) -> Result<(FirstBytes, Option<Dialed>), Refusal> {
    let endpoint = &connection.endpoint;
    let first = client.first_bytes(endpoint, &shared.limits, opaque).await?;
    if !matches!(first, FirstBytes::Silent) {
        return Ok((first, dialed));
    }
    let mut dialed = match dialed {
        Some(dialed) => dialed,
        None => shared.dialer.connect(endpoint).await?,
    };
    connection.set_address(dialed.address);
    let listening = client.listen(&mut dialed.stream, connection, &shared.limits);
    let first = tunnel::until_closed(connection, shared.limits.idle, listening).await;
    Ok((first.unwrap_or(Ok(FirstBytes::Closed))?, Some(dialed)))
}

/// Refuses a server name that is not the allowed host. It may be missing for an address, or where a rule names the port (not 443).
fn check_server_name(endpoint: &Endpoint, hello: &ClientHello, opaque: bool) -> Result<(), Refusal> {
    match (&hello.server_name, &endpoint.host) {
        (Some(name), host) if name == host => Ok(()),
        (Some(name), _) => {
            let text = format!("the TLS handshake is for {name}, the connection for {}", endpoint.host);
            Err(Refusal::mismatch(endpoint, text))
        }
        (None, HostName::Address(_)) => Ok(()),
        (None, HostName::Name(_)) if opaque && endpoint.port != 443 => Ok(()),
        (None, HostName::Name(_)) => {
            Err(Refusal::mismatch(endpoint, "the TLS handshake names no server (SNI)"))
        }
    }
}

impl Client {
    pub(crate) fn tcp(stream: TcpStream) -> Self {
        Self { io: ClientIo::Tcp(stream), prefix: BytesMut::new() }
    }

    /// Makes the next close a reset, so that the program inside fails at once.
    pub(crate) fn reset(&self) {
        if let ClientIo::Tcp(stream) = &self.io {
            reset(stream);
        }
    }

    /// Reads until the first message is complete.
    async fn first_bytes(
        &mut self,
        endpoint: &Endpoint,
        limits: &Limits,
        opaque: bool,
    ) -> Result<FirstBytes, Refusal> {
        let wait = if opaque { SPEAK_FIRST.min(limits.head) } else { limits.head };
        if self.prefix.is_empty() {
            match timeout(wait, self.read_more()).await {
                Ok(Ok(0) | Err(_)) => return Ok(FirstBytes::Closed),
                Ok(Ok(_)) => {}
                Err(_) if opaque => return Ok(FirstBytes::Silent),
                Err(_) => return Err(Refusal::limit("no bytes from the client in time").about(endpoint)),
            }
        }
        let read = timeout(limits.head, self.complete_first(endpoint)).await;
        read.unwrap_or_else(|_| Err(Refusal::limit("the first message was too slow").about(endpoint)))
    }

    /// Passes on what the host says until the client speaks, whose first message is read like any other before it goes out.
    async fn listen(
        &mut self,
        host: &mut TcpStream,
        connection: &Connection,
        limits: &Limits,
    ) -> Result<FirstBytes, Refusal> {
        let (mut chunk, mut spoke, mut ended) = (vec![0; 8 * 1024], false, false);
        loop {
            tokio::select! {
                biased;
                read = self.read_more() => match read {
                    Ok(0) => return Ok(FirstBytes::Silent),
                    Ok(_) => break,
                    Err(_) => return Ok(FirstBytes::Closed),
                },
                read = host.read(&mut chunk), if !ended => {
                    let Ok(length) = read else { return Ok(FirstBytes::Closed) };
                    (ended, spoke) = (length == 0, spoke || length > 0);
                    let passed =
                        if ended { self.shutdown().await } else { self.write_all(&chunk[..length]).await };
                    if passed.is_err() || self.flush().await.is_err() {
                        return Ok(FirstBytes::Closed);
                    }
                    connection.add_received(length);
                }
            }
        }
        match self.first_bytes(&connection.endpoint, limits, true).await? {
            // The host has begun another protocol, so this cannot be served as HTTP, with the name in each request.
            FirstBytes::Http if spoke || ended => Err(Refusal::unreadable(&connection.endpoint)),
            first => Ok(first),
        }
    }

    async fn complete_first(&mut self, endpoint: &Endpoint) -> Result<FirstBytes, Refusal> {
        for _ in 0..MAX_READS {
            if client_hello::is_tls(&self.prefix) {
                let malformed =
                    |error: client_hello::HelloError| Refusal::mismatch(endpoint, error.to_string());
                if let Some(hello) = client_hello::parse(&self.prefix).map_err(malformed)? {
                    return Ok(FirstBytes::Tls(hello));
                }
            } else if METHODS.iter().any(|method| self.prefix.starts_with(method.as_bytes())) {
                return Ok(FirstBytes::Http);
            } else if !METHODS.iter().any(|method| method.as_bytes().starts_with(&self.prefix)) {
                return Ok(FirstBytes::Other);
            }
            if !matches!(self.read_more().await, Ok(1..)) {
                return Ok(FirstBytes::Closed);
            }
        }
        Err(Refusal::limit("the first message came in too many pieces").about(endpoint))
    }

    async fn read_more(&mut self) -> io::Result<usize> {
        match &mut self.io {
            ClientIo::Tcp(stream) => stream.read_buf(&mut self.prefix).await,
            ClientIo::Stream(stream) => stream.read_buf(&mut self.prefix).await,
        }
    }
}

/// Makes the next close of a socket a reset.
pub(crate) fn reset(stream: &TcpStream) {
    // Without it the close is an orderly one, which refuses as well.
    let _set = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).is_ok();
}

impl AsyncRead for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.prefix.is_empty() {
            let length = self.prefix.len().min(buf.remaining());
            buf.put_slice(&self.prefix[..length]);
            self.prefix.advance(length);
            return Poll::Ready(Ok(()));
        }
        match &mut self.io {
            ClientIo::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            ClientIo::Stream(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Client {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.io {
            ClientIo::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            ClientIo::Stream(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            ClientIo::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            ClientIo::Stream(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            ClientIo::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            ClientIo::Stream(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
