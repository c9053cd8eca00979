//! Bodies on their way through: requests that are searched for placeholders, responses that are searched for secrets.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use hyper::body::{Body as _, Frame, SizeHint};
use hyper::header::{CONTENT_ENCODING, HeaderMap};

use crate::placeholder::{PlaceholderScan, StreamScan};
use crate::scrub::{Needles, Scrubber};
use crate::{Body, BodyError};

/// Compressed bytes that are decoded in one step. They become at most about a thousand times as many.
const STEP: usize = 2048;

/// Tells of a placeholder in a request body, before the response or after it.
#[derive(Default)]
pub(crate) struct Leak {
    found: AtomicBool,
    late: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Leak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leak").field("found", &self.found).finish_non_exhaustive()
    }
}

impl Leak {
    /// Returns true if a placeholder turned up.
    pub(crate) fn is_found(&self) -> bool {
        self.found.load(Ordering::Acquire)
    }

    /// Calls once when a placeholder turns up, or at once if it has.
    pub(crate) fn then(&self, call: impl FnOnce() + Send + 'static) {
        *self.late() = Some(Box::new(call));
        if self.is_found() {
            self.tell();
        }
    }

    fn tell(&self) {
        self.found.store(true, Ordering::Release);
        let call = self.late().take();
        if let Some(call) = call {
            call();
        }
    }

    fn late(&self) -> MutexGuard<'_, Option<Box<dyn FnOnce() + Send>>> {
        // One value, replaced in one step.
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request body that ends with an error when a placeholder turns up.
pub(crate) struct ScanBody {
    inner: Body,
    scan: PlaceholderScan,
    stream: StreamScan,
    found: Arc<Leak>,
}

impl ScanBody {
    pub(crate) fn new(inner: Body, scan: PlaceholderScan, found: Arc<Leak>) -> Self {
        Self { inner, stream: scan.stream(), scan, found }
    }
}

impl hyper::body::Body for ScanBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        let piece = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        if piece.is_some_and(|piece| !this.stream.push(&this.scan, piece).is_empty()) {
            this.found.tell();
            return Poll::Ready(Some(Err("a placeholder of another host".into())));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Coding of a response body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// None.
    Identity,
    /// gzip.
    Gzip,
    /// deflate, in the form of zlib.
    Deflate,
}

impl Coding {
    /// Reads the coding of a response; `None` if it cannot be undone.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Some(Self::Identity) };
        if values.next().is_some() {
            return None;
        }
        match &*value.to_str().ok()?.trim().to_ascii_lowercase() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            _ => None,
        }
    }
}

enum Decoder {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Decoder {
    /// Decodes some of the bytes and returns what came out.
    fn push(&mut self, bytes: &mut Bytes) -> io::Result<Bytes> {
        let step = bytes.split_to(bytes.len().min(STEP));
        let out = match self {
            Self::Gzip(decoder) => {
                decoder.write_all(&step)?;
                decoder.flush()?;
                std::mem::take(decoder.get_mut())
            }
            Self::Deflate(decoder) => {
                decoder.write_all(&step)?;
                decoder.flush()?;
                std::mem::take(decoder.get_mut())
            }
        };
        Ok(out.into())
    }

    /// Checks that the body was whole.
    fn finish(&mut self) -> io::Result<Bytes> {
        let out = match self {
            Self::Gzip(decoder) => {
                decoder.try_finish()?;
                std::mem::take(decoder.get_mut())
            }
            Self::Deflate(decoder) => {
                decoder.try_finish()?;
                std::mem::take(decoder.get_mut())
            }
        };
        Ok(out.into())
    }
}

/// A response body without secrets.
pub(crate) struct ScrubBody {
    inner: Body,
    decoder: Option<Decoder>,
    /// Bytes that are not decoded yet.
    coded: Bytes,
    scrubber: Scrubber,
    needles: Arc<Needles>,
    /// Trailers that wait for the last bytes.
    trailers: Option<HeaderMap>,
    ended: bool,
}

impl ScrubBody {
    pub(crate) fn new(inner: Body, coding: Coding, needles: Arc<Needles>) -> Self {
        let decoder = match coding {
            Coding::Identity => None,
            Coding::Gzip => Some(Decoder::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            Coding::Deflate => Some(Decoder::Deflate(Box::new(ZlibDecoder::new(Vec::new())))),
        };
        let scrubber = Scrubber::new(needles.clone());
        Self { inner, decoder, coded: Bytes::new(), scrubber, needles, trailers: None, ended: false }
    }

    /// Takes a piece as it arrived and returns clean bytes, possibly none.
    fn push(&mut self, piece: Bytes) -> io::Result<Bytes> {
        match &mut self.decoder {
            None => Ok(self.scrubber.push(piece)),
            Some(decoder) => {
                self.coded = piece;
                let bytes = decoder.push(&mut self.coded)?;
                Ok(self.scrubber.push(bytes))
            }
        }
    }

    /// Returns the last bytes.
    fn finish(&mut self) -> io::Result<Bytes> {
        self.ended = true;
        let decoded = self.decoder.as_mut().map(Decoder::finish).transpose()?.unwrap_or_default();
        let (clean, held) = (self.scrubber.push(decoded), self.scrubber.finish());
        Ok(if clean.is_empty() { held } else { [clean, held].concat().into() })
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            if self.ended {
                return Poll::Ready(self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
            }
            let clean = if self.coded.has_remaining() {
                let coded = std::mem::take(&mut self.coded);
                self.push(coded)?
            } else {
                match ready!(Pin::new(&mut self.inner).poll_frame(cx)?) {
                    None => self.finish()?,
                    Some(frame) => match frame.into_data() {
                        Ok(piece) => self.push(piece)?,
                        Err(frame) => {
                            self.trailers = frame.into_trailers().ok();
                            self.trailers.as_mut().map(|trailers| self.needles.scrub_headers(trailers));
                            self.finish()?
                        }
                    },
                }
            };
            if !clean.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(clean))));
            }
        }
    }
}

impl hyper::body::Body for ScrubBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.get_mut().next(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.decoder {
            // Replacing does not change the length; bytes that are held back are still to come.
            None => self
                .inner
                .size_hint()
                .exact()
                .map_or_else(SizeHint::default, |left| SizeHint::with_exact(left + self.scrubber.held())),
            Some(_) => SizeHint::default(),
        }
    }
}
