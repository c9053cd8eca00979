//! Accepts connections on the sockets of the jail, within the limit, and hands each to its protocol.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::stream::{Session, reset};
use crate::transparent::{self, Destination, drain};
use crate::{Shared, Sockets, http, resolver, socks};

/// Pause after a failed accept, which is due to a lack of descriptors or memory.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Protocol of a listener.
#[derive(Clone, Copy)]
enum Listener {
    Proxy,
    Transparent(Destination),
    Resolver,
}

/// Serves every socket until the broker is stopped.
pub(crate) async fn run(
    shared: Arc<Shared>,
    sockets: Sockets,
    destination: Destination,
    mut stopped: watch::Receiver<bool>,
) {
    let permits = Arc::new(Semaphore::new(shared.limits.connections));
    let Sockets { proxy, transparent, resolver_udp, resolver_tcp } = sockets;
    let proxy = proxy.into_iter().map(|listener| (listener, Listener::Proxy));
    let transparent = transparent.into_iter().map(|listener| (listener, Listener::Transparent(destination)));
    let resolver = resolver_tcp.into_iter().map(|listener| (listener, Listener::Resolver));
    for (listener, service) in proxy.chain(transparent).chain(resolver) {
        if let Ok(listener) = tcp(listener) {
            tokio::spawn(accept(Arc::clone(&shared), listener, service, Arc::clone(&permits)));
        }
    }
    if let Some(Ok(socket)) = resolver_udp.map(udp) {
        tokio::spawn(resolver::serve_udp(shared, socket));
    }
    // An error means that the broker is gone, which ends this as well.
    let _gone = stopped.wait_for(|stop| *stop).await.is_err();
}

fn tcp(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    // A second call only changes the queue: a burst must not wait for connection attempts to be repeated.
    rustix::net::listen(&listener, BACKLOG)?;
    TcpListener::from_std(listener)
}

fn udp(socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket)
}

async fn accept(shared: Arc<Shared>, listener: TcpListener, service: Listener, permits: Arc<Semaphore>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
            reset(&stream);
            shared.recorder.refused(&Refusal::limit("too many connections at once"), None);
            continue;
        };
        let program = caller(&shared, &stream, service);
        let session = Arc::new(Session { program, _permit: permit });
        tokio::spawn(serve(Arc::clone(&shared), session, stream, service));
    }
}

/// Starts to look for the program behind a connection.
fn caller(shared: &Shared, stream: &TcpStream, service: Listener) -> Caller {
    let destination = match service {
        Listener::Proxy => stream.local_addr(),
        Listener::Transparent(destination) => destination.of(stream),
        Listener::Resolver => return Caller::unknown(),
    };
    match (&shared.find_program, stream.peer_addr().ok().zip(destination.ok())) {
        (Some(find), Some((client, destination))) => Caller::find(find, client, destination),
        _ => Caller::unknown(),
    }
}

async fn serve(shared: Arc<Shared>, session: Arc<Session>, stream: TcpStream, service: Listener) {
    // Small messages must not wait for each other; without it they are only slower.
    let _set = stream.set_nodelay(true).is_ok();
    match service {
        Listener::Proxy => serve_proxy(shared, session, stream).await,
        Listener::Transparent(destination) => transparent::serve(shared, session, stream, destination).await,
        Listener::Resolver => resolver::serve_tcp(shared, session, stream).await,
    }
}

/// Tells the protocols of the proxy port apart by the first byte.
async fn serve_proxy(shared: Arc<Shared>, session: Arc<Session>, mut stream: TcpStream) {
    let mut first = [0];
    match timeout(shared.limits.head, stream.peek(&mut first)).await {
        Ok(Ok(0) | Err(_)) => {}
        Ok(Ok(_)) if first[0] == 5 => socks::serve(shared, session, stream).await,
        Ok(Ok(_)) if first[0].is_ascii_graphic() => {
            http::serve_proxy(shared, session, stream, first[0]).await;
        }
        Ok(Ok(_)) => {
            let refusal = Refusal::malformed("neither HTTP nor SOCKS5");
            shared.recorder.refused(&refusal, session.program.now());
            // The client may be gone; the refusal stands.
            let told = stream.write_all(refusal.page().as_bytes()).await.is_ok();
            if told && stream.shutdown().await.is_ok() {
                drain(&mut stream).await;
            }
        }
        Err(_) => {
            let refusal = Refusal::limit("no request in time");
            shared.recorder.refused(&refusal, session.program.now());
        }
    }
}
