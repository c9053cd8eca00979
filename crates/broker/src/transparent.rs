//! Connections that the kernel redirected here: the original destination tells the name.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use policy::{Code, Endpoint, HostName};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Shared;
use crate::connections::Connection;
use crate::names::is_synthetic;
use crate::refusal::Refusal;
use crate::stream::{Client, ClientIo, Session, carry, reset};

/// Time that a refused client gets to show that it speaks HTTP and can read why.
const SHOW_HTTP: Duration = Duration::from_millis(200);

/// Source of the original destination of a redirected connection.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Destination {
    /// The kernel, which redirected the connection.
    Redirected,
    /// One address for all.
    Fixed(SocketAddr),
}

impl Destination {
    pub(crate) fn of(self, stream: &TcpStream) -> io::Result<SocketAddr> {
        match (self, stream.local_addr()?) {
            (Self::Fixed(address), _) => Ok(address),
            (Self::Redirected, SocketAddr::V4(_)) => {
                Ok(rustix::net::sockopt::ip_original_dst(stream)?.into())
            }
            (Self::Redirected, SocketAddr::V6(_)) => {
                Ok(rustix::net::sockopt::ipv6_original_dst(stream)?.into())
            }
        }
    }
}

/// Serves one redirected connection.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    session: Arc<Session>,
    stream: TcpStream,
    destination: Destination,
) {
    let endpoint = destination.of(&stream).map_err(|_| unknown(None)).and_then(|to| name(&shared, to));
    let opened = match &endpoint {
        Ok(endpoint) => open(&shared, &session, endpoint).await,
        Err(refusal) => Err(refusal.clone()),
    };
    let served = match opened {
        Ok(connection) => carry(&shared, &session, Client::tcp(stream), connection, None).await,
        Err(refusal) => {
            refuse(stream, &refusal).await;
            Err(refusal)
        }
    };
    if let Err(refusal) = served {
        shared.recorder.refused(&refusal, session.program.now());
    }
}

async fn open(
    shared: &Arc<Shared>,
    session: &Session,
    endpoint: &Endpoint,
) -> Result<Arc<Connection>, Refusal> {
    let reason = shared.judge.judge(endpoint, &session.program).await?;
    Connection::open(shared, endpoint, &reason, &session.program)
}

/// Finds the name behind a destination. An address that was not looked up here is judged as that address.
fn name(shared: &Shared, to: SocketAddr) -> Result<Endpoint, Refusal> {
    let host = match to {
        SocketAddr::V4(v4) if is_synthetic(*v4.ip()) => {
            shared.names.name(*v4.ip()).ok_or_else(|| unknown(Some(to)))?
        }
        _ => HostName::Address(to.ip()),
    };
    Ok(Endpoint { host, port: to.port() })
}

fn unknown(to: Option<SocketAddr>) -> Refusal {
    let endpoint = to.map(|to| Endpoint { host: HostName::Address(to.ip()), port: to.port() });
    Refusal::new(endpoint.as_ref(), Code::UnknownHost, "no name was looked up that leads to this address")
}

/// Answers a client that speaks HTTP with the reason, and resets any other.
async fn refuse(mut stream: TcpStream, refusal: &Refusal) {
    let mut first = [0; 8];
    let spoke = timeout(SHOW_HTTP, stream.peek(&mut first)).await;
    let http = matches!(spoke, Ok(Ok(1..))) && first[0].is_ascii_uppercase();
    if http {
        let page = refusal.page();
        // The client may be gone; the refusal stands.
        let _told = stream.write_all(page.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok();
        drain(&mut stream).await;
    } else {
        reset(&stream);
    }
    drop(ClientIo::Tcp(stream));
}

/// Reads for a moment what the client still sends, since unread bytes would turn the close into a reset that destroys the answer.
pub(crate) async fn drain(stream: &mut TcpStream) {
    let mut sink = tokio::io::sink();
    let mut bounded = tokio::io::AsyncReadExt::take(stream, 256 * 1024);
    let _read = timeout(SHOW_HTTP, tokio::io::copy(&mut bounded, &mut sink)).await.is_ok();
}
