//! One direction: bytes from a source to a sink, never more of them held than fit a pipe.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, ioctl_fionread};

use super::port::{Direction, Port, reopen};
use crate::terminal::Filter;

/// Bytes on their way in one direction.
///
/// It reads only when everything read before is written, so a sink that is full stops the source. When the source ends the
/// sink is closed; when the sink is closed so is the source, and the process that writes to it learns.
#[derive(Debug)]
pub(crate) struct Channel {
    source: Option<Port>,
    sink: Option<Port>,
    /// Read and not yet written, from `written` on.
    waiting: Vec<u8>,
    written: usize,
    filter: Option<Filter>,
    end: End,
    /// True if the source is left alone for now.
    paused: bool,
    failure: Option<Errno>,
    moved: Option<Instant>,
    /// A source that has ended, and the pipe we wrote to: what was not read is still in it.
    unread: Option<(Port, OwnedFd)>,
}

/// Effect of the end of the source on the sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The sink is closed.
    Close,
    /// The sink is closed, and what was read in vain is given back to a source that can be read again.
    GiveBack,
    /// A terminal says "end" by a key and goes on; so does the sink.
    Type(u8),
}

/// Result of an attempt to move bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There may be more to do at once.
    More,
    /// The source is empty or ended, and everything is written.
    Empty,
    /// The sink is full.
    Full,
}

/// The most bytes held.
const ROOM: usize = 64 * 1024;
/// Number of times that one call fills and empties, so that others get their turn.
const ROUNDS: usize = 16;

impl Channel {
    pub(crate) fn new(source: Port, sink: Port, end: End) -> Self {
        Self {
            source: Some(source),
            sink: Some(sink),
            waiting: Vec::new(),
            written: 0,
            filter: None,
            end,
            paused: false,
            failure: None,
            moved: None,
            unread: None,
        }
    }

    /// The same channel with everything on its way to a terminal filtered.
    pub(crate) fn filtered(self) -> Self {
        Self { filter: Some(Filter::default()), ..self }
    }

    /// Leaves the source alone, or not.
    pub(crate) fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Adds the descriptor that has to become ready before there is something to do.
    pub(crate) fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        let source = self.source.as_ref().filter(|_| !self.paused).map(|port| (port, PollFlags::IN));
        let sink = self.sink.as_ref().map(|port| (port, PollFlags::OUT));
        if let Some((port, flags)) = if self.is_empty() { source } else { sink } {
            fds.push(PollFd::new(port, flags));
        }
    }

    /// Moves what can be moved without blocking.
    pub(crate) fn advance(&mut self) -> Progress {
        for _ in 0..ROUNDS {
            match self.step() {
                Progress::More => {}
                stopped => return stopped,
            }
        }
        Progress::More
    }

    /// Returns the port that it reads from, while that is open.
    pub(crate) fn source(&self) -> Option<&Port> {
        self.source.as_ref()
    }

    /// Returns the time at which the last byte was read.
    pub(crate) fn moved(&self) -> Option<Instant> {
        self.moved
    }

    /// Returns the error for which it ended early, if it did.
    pub(crate) fn failure(&self) -> Option<Errno> {
        self.failure
    }

    /// Returns true if the terminal was asked something.
    pub(crate) fn asked(&self) -> bool {
        self.filter.as_ref().is_some_and(Filter::asked)
    }

    /// Returns true if nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.written == self.waiting.len()
    }

    /// Returns true if nothing will come any more.
    #[cfg(test)]
    pub(crate) fn ended(&self) -> bool {
        self.source.is_none() && self.is_empty()
    }

    fn step(&mut self) -> Progress {
        if self.is_empty() { self.fill() } else { self.drain() }
    }

    fn fill(&mut self) -> Progress {
        let Some(source) = self.source.as_ref().filter(|_| !self.paused) else { return Progress::Empty };
        self.written = 0;
        self.waiting.resize(ROOM, 0);
        let read = source.read(&mut self.waiting);
        self.waiting.truncate(*read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.source_ended(),
            Ok(_) => self.took(),
            Err(Errno::AGAIN) => Progress::Empty,
            // The caller's terminal is not ours to read at the moment.
            Err(Errno::IO) if matches!(self.end, End::Type(_)) && !source.hung_up() => Progress::Empty,
            // The program side of a terminal has no one left.
            Err(Errno::IO) => self.source_ended(),
            Err(errno) => self.fail(errno),
        }
    }

    fn took(&mut self) -> Progress {
        self.moved = Some(Instant::now());
        if let Some(filter) = &mut self.filter {
            let output = std::mem::take(&mut self.waiting);
            self.waiting.reserve(ROOM);
            filter.push(&output, &mut self.waiting);
        }
        Progress::More
    }

    fn source_ended(&mut self) -> Progress {
        let Some(source) = self.source.take() else { return Progress::Empty };
        match self.end {
            End::Type(key) => {
                self.waiting.push(key);
                self.source = Some(source).filter(|source| !source.hung_up());
                return Progress::More;
            }
            End::GiveBack => self.unread = self.pipe_to_look_into().map(|pipe| (source, pipe)),
            End::Close => {}
        }
        self.sink = None;
        Progress::Empty
    }

    /// The pipe we are about to close, to learn later how much of it was not read. Without `/proc` nothing is given back.
    fn pipe_to_look_into(&self) -> Option<OwnedFd> {
        self.sink.as_ref().and_then(|sink| reopen(sink, Direction::Read).ok())
    }

    fn drain(&mut self) -> Progress {
        let Some(sink) = &self.sink else { return Progress::Empty };
        match sink.write(&self.waiting[self.written..]) {
            Ok(count) => {
                self.written += count;
                Progress::More
            }
            Err(Errno::AGAIN) => Progress::Full,
            Err(errno) => self.fail(errno),
        }
    }

    fn fail(&mut self, errno: Errno) -> Progress {
        // A terminal that is gone answers as a disk does that is broken.
        let disk = self.sink.as_ref().is_some_and(Port::is_file);
        let left = matches!(errno, Errno::PIPE | Errno::CONNRESET) || errno == Errno::IO && !disk;
        self.failure = if left { None } else { Some(errno) };
        self.close();
        Progress::Empty
    }

    /// Closes both sides. What was not written is lost, or given back.
    pub(crate) fn close(&mut self) {
        if self.end == End::GiveBack {
            self.give_back();
        }
        self.source = None;
        self.sink = None;
        self.written = self.waiting.len();
    }

    /// Moves the caller's file back to where the program has stopped reading: `while read line; do …; done <list` goes on
    /// with the next line. What cannot seek keeps what it has.
    fn give_back(&mut self) {
        let ended = self.unread.as_ref().map(|(source, pipe)| (source, pipe.as_fd()));
        let open = self.source.as_ref().zip(self.sink.as_ref().map(Port::as_fd));
        let Some((source, pipe)) = ended.or(open) else { return };
        let held = (self.waiting.len() - self.written) as u64;
        let back = ioctl_fionread(pipe).unwrap_or(0) + held;
        if let Some(back) = i64::try_from(back).ok().filter(|back| *back > 0) {
            // A source that cannot seek (a socket, a device) refuses, and nothing is changed.
            seek(source, SeekFrom::Current(-back)).ok();
        }
    }
}

/// A pair of ends: what we read, what they write.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((high(read)?, high(write)?))
}

/// The same open file, away from the numbers of the standard streams, which a command's set-up overwrites.
pub(super) fn high(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 2 { Ok(fd) } else { Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?) }
}
