//! The caller's standard streams and the jailed command, connected.
//!
//! A supervisor calls [`Relay::watch`] before it polls and [`Relay::advance`] after, no matter what woke it. Nothing here
//! blocks, waits or starts a thread, except [`Relay::finish`], until its deadline.

mod channel;
mod port;
mod raw;
mod signals;
mod streams;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};

use channel::Channel;

pub(crate) use channel::{Channel as TerminalChannel, End as AtEnd, Progress};
pub(crate) use port::{Direction, Port};
pub(crate) use raw::signal_foreground;
pub(crate) use signals::{Signals, Stop};
#[cfg(test)]
pub(crate) use streams::Way;
pub(crate) use streams::make_openable;
pub(crate) use streams::{End, Streams};

use super::pty::{Host, Terminal};
use crate::launch::Stream;

/// Everything that is copied between the caller and the command.
#[derive(Debug)]
pub(crate) struct Relay {
    input: Option<Channel>,
    outputs: [Option<Channel>; 2],
    /// The caller's terminal, until the jail's own is attached.
    host: Option<Host>,
    terminal: Option<Terminal>,
    begun: Instant,
    /// True if all output comes past us.
    seen: bool,
}

/// Bytes that did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The caller's input could not be read.
    Input(Errno),
    /// The caller's end of a stream refused them.
    Refused(Stream, Errno),
    /// The caller's end of a stream did not take them in time.
    Late(Stream),
}

impl Loss {
    /// Returns true if it is a result of the command, which could not know. Programs go on when standard error takes nothing.
    pub(crate) const fn is_of_output(self) -> bool {
        matches!(self, Self::Refused(Stream::Output, _) | Self::Late(Stream::Output))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(errno) => write!(f, "standard input could not be read: {errno}"),
            Self::Refused(Stream::Output, errno) => write!(f, "output could not be written: {errno}"),
            Self::Refused(Stream::Error, errno) => write!(f, "standard error could not be written: {errno}"),
            Self::Late(_) => f.write_str("output was lost: nobody read it after the command had ended"),
        }
    }
}

impl Relay {
    fn new(input: Option<Channel>, outputs: [Option<Channel>; 2], host: Option<Host>, seen: bool) -> Self {
        Self { input, outputs, host, terminal: None, begun: Instant::now(), seen }
    }

    /// Connects the caller's terminal with the jail's. To be called before the command runs, if
    /// a stream is a terminal; without a terminal of the caller's nothing happens. The caller's terminal is
    /// taken with the first [`Relay::advance`], so until then people can be told something.
    pub(crate) fn attach(&mut self, master: OwnedFd) -> io::Result<()> {
        if let Some(host) = self.host.take() {
            self.terminal = Some(Terminal::attach(host, master)?);
        }
        Ok(())
    }

    /// Adds what has to become ready before there is something to do.
    pub(crate) fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        self.channels().for_each(|channel| channel.watch(fds));
        if let Some(terminal) = &self.terminal {
            terminal.watch(fds);
        }
    }

    /// The longest time to sleep: while the terminal is another process's, nothing tells us when it is ours again. Zero
    /// before the first [`Relay::advance`].
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.terminal.as_ref().and_then(Terminal::patience)
    }

    /// Moves what can be moved now.
    pub(crate) fn advance(&mut self) {
        for channel in self.input.iter_mut().chain(self.outputs.iter_mut().flatten()) {
            channel.advance();
        }
        if let Some(terminal) = &mut self.terminal {
            terminal.advance();
        }
    }

    /// Returns true if all output has ended and been written. A terminal never says so while it is attached.
    #[cfg(test)]
    pub(crate) fn drained(&self) -> bool {
        self.terminal.is_none() && self.outputs.iter().flatten().all(Channel::ended)
    }

    /// Time at which the command last wrote something. `None` if a part of its output does not come past us, see
    /// [`Streams::watched`].
    pub(crate) fn activity(&self) -> Option<Instant> {
        let outputs = self.outputs.iter().flatten().filter_map(Channel::moved);
        let screen = self.terminal.iter().filter_map(Terminal::moved);
        self.seen.then(|| outputs.chain(screen).fold(self.begun, Instant::max))
    }

    /// Gives the jail's terminal the size of the caller's.
    pub(crate) fn resize(&self) -> io::Result<()> {
        self.terminal.as_ref().map_or(Ok(()), Terminal::resize)
    }

    /// Sends a signal to the foreground of the jail's terminal, as its keys would: INT, QUIT or TSTP. False if there is no
    /// terminal.
    pub(crate) fn signal(&self, signal: i32) -> io::Result<bool> {
        self.terminal.as_ref().map_or(Ok(false), |terminal| terminal.signal(signal).map(|()| true))
    }

    /// Leaves the caller's terminal as it was found, before this process stops.
    pub(crate) fn suspend(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.suspend();
        }
    }

    /// Leaves the caller's terminal to another thread of this process: nothing is read from it or shown on it.
    pub(crate) fn lend(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.lend();
        }
    }

    /// Takes the caller's terminal again, with its present size, after this process was continued.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        if let Some(terminal) = &mut self.terminal {
            terminal.resume();
        }
        self.resize()
    }

    /// Copies what the command has left behind, then leaves the caller's streams as they were found.
    ///
    /// To be called when every process of the jail has ended: what is in the pipes then is all there will be. It waits for
    /// the caller's side alone, until `deadline`.
    pub(crate) fn finish(mut self, deadline: Instant) -> Vec<Loss> {
        self.input.iter_mut().for_each(Channel::close);
        let late = !self.empty_until(deadline);
        let input = self.input.iter().filter_map(Channel::failure).map(Loss::Input);
        let outputs = || self.outputs.iter().zip([Stream::Output, Stream::Error]);
        let outputs = || outputs().filter_map(|(channel, stream)| Some((channel.as_ref()?, stream)));
        let refused =
            outputs().filter_map(|(channel, stream)| Some(Loss::Refused(stream, channel.failure()?)));
        let mut losses: Vec<_> = input.chain(refused).collect();
        if late {
            // If it is neither of them, it is the screen.
            let stuck = outputs().find(|(channel, _)| !channel.is_empty());
            losses.push(Loss::Late(stuck.map_or(Stream::Output, |(_, stream)| stream)));
        }
        losses
    }

    fn empty_until(&mut self, deadline: Instant) -> bool {
        self.terminal.iter_mut().for_each(Terminal::close_keyboard);
        loop {
            let progress = self.empty_now();
            let left = deadline.saturating_duration_since(Instant::now());
            match progress {
                Progress::Empty => return true,
                _ if left.is_zero() => return false,
                Progress::More => {}
                Progress::Full => self.sleep(left),
            }
        }
    }

    /// One attempt to write everything that is left; the worst that happened.
    fn empty_now(&mut self) -> Progress {
        let outputs = self.outputs.iter_mut().flatten().map(Channel::advance);
        let screen = self.terminal.iter_mut().map(Terminal::advance_screen);
        let all: Vec<_> = outputs.chain(screen).collect();
        [Progress::More, Progress::Full]
            .into_iter()
            .find(|worst| all.contains(worst))
            .unwrap_or(Progress::Empty)
    }

    /// Sleeps until the caller takes something. An error wakes it as well: the next attempt meets it again.
    fn sleep(&self, left: Duration) {
        let mut fds = Vec::new();
        self.watch(&mut fds);
        if let Ok(left) = Timespec::try_from(left) {
            retry_on_intr(|| poll(&mut fds, Some(&left))).ok();
        }
    }

    fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.input.iter().chain(self.outputs.iter().flatten())
    }
}

#[cfg(test)]
mod tests;
