//! A stream of HTTP/1.1 requests from inside, screened before hyper parses it, with the timeouts of the broker.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use hyper::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::Limits;
use crate::refusal::Refusal;
use crate::wire::http_head::{self, Framing, HeadError};

/// Method of the request that stands for a malformed one. Clients cannot send it: it is longer than any method that passes.
pub(crate) const REFUSED: &str = "RINGFENCE-REFUSED-A-MALFORMED-REQUEST";
/// Bytes that are read at once.
const CHUNK: usize = 16 * 1024;

/// Bytes after which an incomplete head is searched only line by line.
const FIRST_LOOK: usize = 64;

/// Position in a stream of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Body(u64),
    ChunkSize,
    ChunkData(u64),
    LastLine,
    Opaque,
    Refused,
}

/// Splits a stream into requests and passes on only strict ones.
pub(crate) struct Screen {
    state: State,
    held: BytesMut,
    passed: BytesMut,
    max: usize,
    lines: usize,
}

impl Screen {
    fn new(state: State, limits: &Limits) -> Self {
        let (max, lines) = (limits.head_bytes, limits.headers);
        Self { state, held: BytesMut::new(), passed: BytesMut::new(), max, lines }
    }

    /// Takes bytes that have arrived and moves those to `passed` that are part of a strict request.
    fn push(&mut self, bytes: &[u8]) -> Result<(), HeadError> {
        let before = self.held.len();
        self.held.extend_from_slice(bytes);
        // A head is searched again only when a line ended, so that single bytes do not cost a search each.
        let complete = before < FIRST_LOOK || self.held.len() >= self.max || bytes.contains(&b'\n');
        if self.state == State::Head && !complete {
            return Ok(());
        }
        while !self.held.is_empty() && self.step()? {}
        Ok(())
    }

    /// Makes one step. Returns false if more bytes are needed.
    fn step(&mut self) -> Result<bool, HeadError> {
        match self.state {
            State::Head => {
                let Some(head) = http_head::parse(&self.held, self.max, self.lines)? else {
                    return Ok(false);
                };
                self.pass(head.length);
                self.state = match head.framing {
                    Framing::Length(0) => State::Head,
                    Framing::Length(length) => State::Body(length),
                    Framing::Chunked => State::ChunkSize,
                    Framing::Opaque => State::Opaque,
                };
            }
            State::Body(left) => match self.pass_some(left) {
                0 => self.state = State::Head,
                left => self.state = State::Body(left),
            },
            State::ChunkSize => {
                let Some((size, length)) = http_head::parse_chunk_size(&self.held)? else { return Ok(false) };
                self.pass(length);
                // The line end behind the data is part of the chunk.
                self.state = if size == 0 { State::LastLine } else { State::ChunkData(size) };
            }
            State::ChunkData(0) => {
                if !self.pass_line_end()? {
                    return Ok(false);
                }
                self.state = State::ChunkSize;
            }
            State::ChunkData(left) => self.state = State::ChunkData(self.pass_some(left)),
            State::LastLine => {
                if !self.pass_line_end()? {
                    return Ok(false);
                }
                self.state = State::Head;
            }
            State::Opaque => self.pass(self.held.len()),
            State::Refused => self.held.clear(),
        }
        Ok(true)
    }

    fn pass(&mut self, length: usize) {
        let part = self.held.split_to(length);
        if self.passed.is_empty() { self.passed = part } else { self.passed.extend_from_slice(&part) }
    }

    /// Passes at most `left` bytes and returns the number that is still to come.
    fn pass_some(&mut self, left: u64) -> u64 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.held.len());
        self.pass(length);
        left - length as u64
    }

    fn pass_line_end(&mut self) -> Result<bool, HeadError> {
        match self.held[..] {
            [b'\r', b'\n', ..] => self.pass(2),
            [b'\r'] => return Ok(false),
            _ => return Err(HeadError::Chunk),
        }
        Ok(true)
    }

    /// Replaces everything that is not yet passed by a request that stands for the refusal.
    fn refuse(&mut self) {
        self.held.clear();
        self.state = State::Refused;
        self.passed.extend_from_slice(REFUSED.as_bytes());
        self.passed.extend_from_slice(b" / HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n");
    }

    /// Returns true between requests, when a client may be silent for long.
    fn is_between(&self) -> bool {
        self.state != State::Head || self.held.is_empty()
    }
}

/// Refusal of a malformed request, for the service that answers in its place.
#[derive(Clone, Default)]
pub(crate) struct Malformed(Arc<Mutex<Option<Refusal>>>);

impl Malformed {
    /// Returns the refusal behind a request with the method [`REFUSED`].
    pub(crate) fn take(&self) -> Refusal {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.unwrap_or_else(|| Refusal::malformed("malformed request"))
    }

    fn put(&self, error: HeadError) {
        let refusal = Refusal::malformed(error.to_string());
        let refusal = match error {
            HeadError::LongLine => refusal.with_status(StatusCode::URI_TOO_LONG),
            HeadError::TooLarge => refusal.with_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
            _ => refusal,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
    }
}

/// A stream from inside with its screen and timeouts.
pub(crate) struct Screened<S> {
    inner: S,
    screen: Screen,
    malformed: Malformed,
    timer: Pin<Box<Sleep>>,
    head: Duration,
    idle: Duration,
    /// A head has begun, and the timer counts its time.
    in_head: bool,
    /// Time that a client has left to read, while it reads nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Screened<S> {
    /// Screens HTTP/1.1 requests, beginning with bytes that were read before.
    pub(crate) fn requests(inner: S, prefix: &[u8], limits: &Limits) -> Self {
        let mut screened = Self::new(inner, State::Head, limits);
        screened.push(prefix);
        screened
    }

    /// Passes everything on, with the idle timeout.
    pub(crate) fn opaque(inner: S, prefix: &[u8], limits: &Limits) -> Self {
        let mut screened = Self::new(inner, State::Opaque, limits);
        screened.push(prefix);
        screened
    }

    fn new(inner: S, state: State, limits: &Limits) -> Self {
        let timer = Box::pin(tokio::time::sleep(limits.idle));
        let (screen, malformed) = (Screen::new(state, limits), Malformed::default());
        let (head, idle) = (limits.head, limits.idle);
        Self { inner, screen, malformed, timer, head, idle, in_head: false, stalled: None }
    }

    pub(crate) fn malformed(&self) -> Malformed {
        self.malformed.clone()
    }

    /// Returns the stream and the bytes that were read from it and not passed on.
    pub(crate) fn into_parts(self) -> (S, BytesMut) {
        let mut rest = self.screen.passed;
        rest.extend_from_slice(&self.screen.held);
        (self.inner, rest)
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Err(error) = self.screen.push(bytes) {
            self.malformed.put(error);
            self.screen.refuse();
        }
        let in_head = !self.screen.is_between();
        if !in_head || !self.in_head {
            let time = if in_head { self.head } else { self.idle };
            self.timer.as_mut().reset(Instant::now() + time);
        }
        self.in_head = in_head;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Screened<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if !this.screen.passed.is_empty() {
                let length = this.screen.passed.len().min(buf.remaining());
                buf.put_slice(&this.screen.passed[..length]);
                this.screen.passed.advance(length);
                return Poll::Ready(Ok(()));
            }
            if this.screen.state == State::Refused {
                return Poll::Ready(Ok(()));
            }
            let mut chunk = [std::mem::MaybeUninit::uninit(); CHUNK];
            let mut read = ReadBuf::uninit(&mut chunk);
            if Pin::new(&mut this.inner).poll_read(cx, &mut read)?.is_pending() {
                ready!(this.timer.as_mut().poll(cx));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            let filled = read.filled().to_vec();
            this.push(&filled);
        }
    }
}

impl<S> Screened<S> {
    /// Turns a wait for the client into an error when it has lasted for the idle time.
    fn bounded<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let idle = self.idle;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Screened<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.bounded(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(cx);
        self.bounded(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPELINE: &str = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc\
        POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n\
        GET /c HTTP/1.1\r\nHost: a\r\n\r\n";

    fn screen(parts: &[&[u8]]) -> (Vec<u8>, Option<HeadError>) {
        let mut screen = Screen::new(State::Head, &Limits::STANDARD);
        let error = parts.iter().find_map(|part| screen.push(part).err());
        (screen.passed.to_vec(), error)
    }

    #[test]
    fn a_strict_stream_passes_unchanged() {
        assert_eq!(screen(&[PIPELINE.as_bytes()]), (PIPELINE.as_bytes().to_vec(), None));
        let single: Vec<_> = PIPELINE.as_bytes().chunks(1).collect();
        assert_eq!(screen(&single), (PIPELINE.as_bytes().to_vec(), None));
    }

    #[test]
    fn a_request_behind_a_strict_one_is_screened() {
        let rows = [
            ("GET / HTTP/1.1\nHost: a\n\n", HeadError::Control),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
                HeadError::Length,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
                HeadError::Chunk,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
                HeadError::Chunk,
            ),
        ];
        for (text, expected) in rows {
            let (passed, error) = screen(&[PIPELINE.as_bytes(), text.as_bytes()]);
            assert_eq!(error, Some(expected), "{text}");
            assert!(passed.starts_with(PIPELINE.as_bytes()));
        }
    }

    #[test]
    fn no_byte_of_an_incomplete_head_passes() {
        assert_eq!(screen(&[b"GET / HTTP/1.1\r\nHost: a\r\n"]), (Vec::new(), None));
    }
}
