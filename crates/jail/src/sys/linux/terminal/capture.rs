//! Standard streams that lead to memory, as much of it as was asked for.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::relay::{Direction, make_openable};
use crate::launch::{Capture, Captured, Stream, Tee};

/// Both outputs of a command, and what it reads.
pub(crate) struct Collectors {
    outputs: [Collector; 2],
    input: Option<Feed>,
}

struct Collector {
    stream: Stream,
    from: Option<OwnedFd>,
    tee: Option<Arc<dyn Tee>>,
    keep: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Collectors {
    /// Makes the pipes: the command's ends, and ours.
    pub(crate) fn open(capture: &Capture) -> Result<([OwnedFd; 3], Self), Errno> {
        let (input, feed) = feed(&capture.input)?;
        let (output, to_output) = collector(Stream::Output, capture)?;
        let (error, to_error) = collector(Stream::Error, capture)?;
        Ok(([input, to_output, to_error], Self { outputs: [output, error], input: feed }))
    }

    pub(crate) fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        let outputs = self.outputs.iter().filter_map(|output| output.from.as_ref());
        fds.extend(outputs.map(|from| PollFd::new(from, PollFlags::IN)));
        fds.extend(self.input.as_ref().map(|(to, _)| PollFd::new(to, PollFlags::OUT)));
    }

    /// Moves what can be moved now. Says whether anything was written by the command.
    pub(crate) fn advance(&mut self) -> bool {
        self.feed();
        let [output, error] = &mut self.outputs;
        let written = [output.advance(), error.advance()];
        written.contains(&true)
    }

    fn feed(&mut self) {
        while let Some((to, rest)) = &mut self.input {
            match rustix::io::write(&*to, rest) {
                Ok(count) if count < rest.len() => drop(rest.drain(..count)),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                // All of it is written, or the pipe has no reader.
                Ok(_) | Err(_) => self.input = None,
            }
        }
    }

    /// Everything that is left of a command that has ended.
    pub(crate) fn finish(self) -> [Captured; 2] {
        self.outputs.map(Collector::finish).map(|output| Captured {
            head: output.head,
            tail: output.tail.into(),
            total: output.total,
        })
    }
}

/// Descriptor to write to, and what is left to be written.
type Feed = (OwnedFd, Vec<u8>);

fn feed(input: &[u8]) -> Result<(OwnedFd, Option<Feed>), Errno> {
    if input.is_empty() {
        let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        return Ok((high(&nothing)?, None));
    }
    let (theirs, ours) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    make_openable(&theirs, Direction::Read);
    Ok((high(&theirs)?, Some((ours, input.to_vec()))))
}

fn collector(stream: Stream, capture: &Capture) -> Result<(Collector, OwnedFd), Errno> {
    let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    make_openable(&theirs, Direction::Write);
    let collector = Collector {
        stream,
        from: Some(ours),
        tee: capture.tee.clone(),
        keep: capture.keep,
        head: Vec::new(),
        tail: VecDeque::new(),
        total: 0,
    };
    Ok((collector, high(&theirs)?))
}

/// Out of the way of the numbers 0 to 2, which the command's streams will have.
fn high(fd: &OwnedFd) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(fd.as_fd(), 10)
}

/// Number of bytes taken at once of a command that writes faster than it is read: limits and other streams have to be looked at.
const TURN: usize = 1 << 20;

impl Collector {
    /// Takes what is there. Says whether that was anything.
    fn advance(&mut self) -> bool {
        self.take(TURN) > 0
    }

    /// Takes at least so much, if it is there.
    fn take(&mut self, most: usize) -> u64 {
        let before = self.total;
        let mut buffer = [0; 16 << 10];
        while let Some(from) = self.from.as_ref().filter(|_| self.total - before < most as u64) {
            match rustix::io::read(from, &mut buffer) {
                Ok(0) => self.from = None,
                Ok(count) => self.keep(&buffer[..count]),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => self.from = None,
            }
        }
        self.total - before
    }

    /// Takes the rest after the command has ended: what it wrote is in the pipe. A process that still writes has got hold of
    /// it some other way.
    fn finish(mut self) -> Self {
        let left = self.from.as_ref().and_then(|from| rustix::io::ioctl_fionread(from).ok());
        self.take(left.and_then(|left| usize::try_from(left).ok()).unwrap_or(TURN));
        self
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if let Some(tee) = &self.tee {
            tee.write(self.stream, bytes);
        }
        let room = (self.keep / 2).saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..room]);
        let rest = &bytes[room..];
        let most = self.keep - self.keep / 2;
        self.tail.extend(&rest[rest.len().saturating_sub(most)..]);
        let excess = self.tail.len().saturating_sub(most);
        self.tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests;
