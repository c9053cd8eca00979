//! One connection between two loopbacks: what is said on one side is said on the other.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::event::PollFlags;

/// As much as is on its way in one direction.
const SPACE: usize = 32 << 10;

/// A connection that is carried.
pub(super) struct Connection {
    /// The client, and the server that it is connected to.
    ends: [TcpStream; 2],
    /// Data that goes from each end to the other.
    flows: [Flow; 2],
}

/// Data that goes in one direction.
struct Flow {
    space: Box<[u8]>,
    /// Part of it that was read and is not written yet.
    waiting: std::ops::Range<usize>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The reader has said everything; some of it may wait.
    Ending,
    /// The writer was told so.
    Ended,
}

impl Connection {
    pub(super) fn new(caller: TcpStream, server: TcpStream) -> Self {
        // The writer decides how much to send at once. Where this is not to be had, it is a matter of speed.
        let _slower = [&caller, &server].map(|end| end.set_nodelay(true));
        let flow = || Flow { space: vec![0; SPACE].into(), waiting: 0..0, state: State::Open };
        Self { ends: [caller, server], flows: [flow(), flow()] }
    }

    /// Returns the events to wait for, at each end. An end that nothing is expected of is not waited for.
    pub(super) fn interest(&self) -> [(BorrowedFd<'_>, PollFlags); 2] {
        [0, 1].map(|end| {
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, self.flows[end].wants_more());
            wanted.set(PollFlags::OUT, !self.flows[1 - end].waiting.is_empty());
            (self.ends[end].as_fd(), wanted)
        })
    }

    /// Carries what can be carried without waiting. `false`: it is over.
    pub(super) fn carry(&mut self) -> bool {
        let [caller, server] = &self.ends;
        let [there, back] = &mut self.flows;
        let carried = there.carry(caller, server).and_then(|()| back.carry(server, caller));
        carried.is_ok() && !self.flows.iter().all(|flow| flow.state == State::Ended)
    }

    /// The end that was called, to be used again.
    pub(super) fn into_server(self) -> TcpStream {
        let [_, server] = self.ends;
        server
    }
}

impl Flow {
    fn wants_more(&self) -> bool {
        self.state == State::Open && self.waiting.is_empty()
    }

    fn carry(&mut self, from: &TcpStream, to: &TcpStream) -> io::Result<()> {
        if self.wants_more() {
            match without_waiting((&*from).read(&mut self.space))? {
                None => {}
                Some(0) => self.state = State::Ending,
                Some(length) => self.waiting = 0..length,
            }
        }
        while !self.waiting.is_empty() {
            match without_waiting((&*to).write(&self.space[self.waiting.clone()]))? {
                None => break,
                Some(length) => self.waiting.start += length,
            }
        }
        if self.state == State::Ending && self.waiting.is_empty() {
            to.shutdown(Shutdown::Write)?;
            self.state = State::Ended;
        }
        Ok(())
    }
}

/// `None`: not now.
fn without_waiting(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(length) => Ok(Some(length)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}
