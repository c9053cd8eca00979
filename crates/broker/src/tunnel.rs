//! Bytes in both directions. Long transfers go from socket to socket through a pipe and never enter this process.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::Shutdown;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, Interest, ReadBuf};
use tokio::net::TcpStream;

use crate::connections::Connection;
use crate::stream::{Client, ClientIo};

/// Bytes that are copied through a buffer before a pipe is worth its two descriptors.
const COPY_FIRST: usize = 64 * 1024;
/// Size of that buffer.
const BUFFER: usize = 8 * 1024;
/// Bytes that a pipe holds, where the kernel permits it.
const PIPE: usize = 512 * 1024;

/// Direction of bytes.
#[derive(Clone, Copy)]
enum Direction {
    Sent,
    Received,
}

impl Connection {
    fn add(&self, direction: Direction, bytes: usize) {
        match direction {
            Direction::Sent => self.add_sent(bytes),
            Direction::Received => self.add_received(bytes),
        }
    }
}

/// Carries bytes until both sides have closed, one fails, nothing moves for the idle time, or the connection is closed from outside.
pub(crate) async fn run(
    client: Client,
    mut upstream: TcpStream,
    connection: &Arc<Connection>,
    idle: Duration,
) {
    let Client { io, prefix } = client;
    let carried = async {
        upstream.write_all(&prefix).await?;
        connection.add_sent(prefix.len());
        drop(prefix);
        match io {
            ClientIo::Tcp(client) => {
                let sent = pump(&client, &upstream, connection, Direction::Sent);
                let received = pump(&upstream, &client, connection, Direction::Received);
                tokio::try_join!(sent, received).map(drop)
            }
            ClientIo::Stream(mut client) => {
                let mut upstream = Counted::new(upstream, Arc::clone(connection));
                tokio::io::copy_bidirectional(&mut client, &mut upstream).await.map(drop)
            }
        }
    };
    // An error of one side ends the connection like its close does.
    let _ended = until_closed(connection, idle, carried).await.is_some();
}

/// Runs a transfer until it ends, nothing moves for the idle time, or the connection is closed from outside. Returns its result if it
/// ended by itself.
pub(crate) async fn until_closed<T>(
    connection: &Connection,
    idle: Duration,
    transfer: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        ended = transfer => Some(ended),
        () = connection.cancelled() => None,
        () = idle_for(connection, idle) => None,
    }
}

/// Waits until no byte has moved for a time.
async fn idle_for(connection: &Connection, idle: Duration) {
    let mut before = connection.bytes();
    loop {
        tokio::time::sleep(idle).await;
        let now = connection.bytes();
        if now == before {
            return;
        }
        before = now;
    }
}

/// Carries one direction to its end and passes the end on.
async fn pump(
    from: &TcpStream,
    to: &TcpStream,
    connection: &Connection,
    direction: Direction,
) -> io::Result<()> {
    if copy_first(from, to, connection, direction).await? {
        match pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK) {
            Ok(pipe) => splice_rest(from, to, &pipe, connection, direction).await?,
            // Out of descriptors: a buffer carries as well.
            Err(_) => while copy_first(from, to, connection, direction).await? {},
        }
    }
    match rustix::net::shutdown(to, Shutdown::Write) {
        // The peer is gone already.
        Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Copies through a buffer. Returns true if there may be more, false at the end.
async fn copy_first(
    from: &TcpStream,
    to: &TcpStream,
    connection: &Connection,
    direction: Direction,
) -> io::Result<bool> {
    let mut buffer = vec![0; BUFFER];
    let mut copied = 0;
    while copied < COPY_FIRST {
        let read = from.async_io(Interest::READABLE, || from.try_read(&mut buffer)).await?;
        if read == 0 {
            return Ok(false);
        }
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            let written = to.async_io(Interest::WRITABLE, || to.try_write(rest)).await?;
            rest = &rest[written..];
        }
        connection.add(direction, read);
        copied += read;
    }
    Ok(true)
}

/// Moves bytes through a pipe to the end.
async fn splice_rest(
    from: &TcpStream,
    to: &TcpStream,
    (out, into): &(OwnedFd, OwnedFd),
    connection: &Connection,
    direction: Direction,
) -> io::Result<()> {
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    // The size is a wish: a smaller pipe only costs more calls.
    let size = fcntl_setpipe_size(into, PIPE).unwrap_or(BUFFER.max(4096));
    loop {
        let fill = || Ok(splice(from, None, into, None, size.max(BUFFER), flags)?);
        let mut held = from.async_io(Interest::READABLE, fill).await?;
        if held == 0 {
            return Ok(());
        }
        while held > 0 {
            let drain = || Ok(splice(out, None, to, None, held, flags)?);
            let moved = to.async_io(Interest::WRITABLE, drain).await?;
            connection.add(direction, moved);
            held -= moved;
        }
    }
}

/// A stream to a host whose bytes are counted.
pub(crate) struct Counted<S> {
    inner: S,
    connection: Arc<Connection>,
}

impl<S> Counted<S> {
    pub(crate) fn new(inner: S, connection: Arc<Connection>) -> Self {
        Self { inner, connection }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        self.connection.add_received(buf.filled().len() - before);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, buf);
        if let Poll::Ready(Ok(written)) = &polled {
            self.connection.add_sent(*written);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
