//! Conversion of the caller's standard streams to those inside.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    FileType, Mode, OFlags, SeekFrom, fchmod, fcntl_getfl, fstat, fstatfs, makedev, open, seek,
};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::geteuid;

use super::channel::{Channel, End as AtEnd, high, pipe};
use super::port::{Direction, Port, is_terminal};
use super::{Relay, raw};
use crate::sys::linux::terminal::pty::Host;

/// The caller's three standard streams, looked at.
#[derive(Debug)]
pub(crate) struct Streams {
    three: [Stream; 3],
    /// True if standard output and standard error are one open file and have to stay in order.
    merged: bool,
}

#[derive(Debug)]
struct Stream {
    fd: OwnedFd,
    way: Way,
}

/// Form that a stream has inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The same open file: a pipe, or `/dev/null`.
    Pass,
    /// One end of a pipe of our own, and we copy. Inside, `/proc/self/fd` is then no way to truncate, read back or seek the
    /// caller's file, and no shell takes a socket for a remote login.
    Relay,
    /// The terminal of the jail.
    Terminal,
}

/// An end that the command gets as one of its standard streams.
#[derive(Debug)]
pub(crate) enum End {
    /// This open file. It has to be closed outside once the command has it, or its end is never seen.
    Descriptor(OwnedFd),
    /// The program side of the jail's terminal.
    Terminal,
}

impl Streams {
    /// Looks at the descriptors 0, 1 and 2 of this process.
    pub(crate) fn choose() -> io::Result<Self> {
        Self::of([io::stdin().as_fd(), io::stdout().as_fd(), io::stderr().as_fd()])
    }

    /// Looks at three descriptors. One that is closed counts as `/dev/null`.
    pub(crate) fn of(three: [BorrowedFd<'_>; 3]) -> io::Result<Self> {
        let [input, output, error] = three;
        let mut three = [keep(input)?, keep(output)?, keep(error)?].map(|fd| Stream { way: Way::Pass, fd });
        let terminal = three.iter().find_map(|stream| terminal_of(&stream.fd));
        for stream in &mut three {
            stream.way = way(&stream.fd, terminal)?;
        }
        let merged = one_output(&three[1].fd, &three[2].fd)?;
        Ok(Self { three, merged })
    }

    /// Relays the output even where it could pass, so that [`Relay::activity`] sees it.
    pub(crate) fn watched(mut self) -> Self {
        for stream in &mut self.three[1..] {
            if stream.way == Way::Pass {
                stream.way = Way::Relay;
            }
        }
        self
    }

    /// Returns the form of each stream.
    #[cfg(test)]
    pub(crate) fn ways(&self) -> [Way; 3] {
        [self.three[0].way, self.three[1].way, self.three[2].way]
    }

    /// Makes the pipes: what the command gets, and what connects it with the caller.
    pub(crate) fn connect(self) -> io::Result<([End; 3], Relay)> {
        let seen = self.three[1..].iter().all(|stream| stream.way != Way::Pass);
        let host = self.host()?;
        let [input, output, error] = self.three;
        let (input, from_caller) = connect_input(input)?;
        let shared = self.merged && output.way == Way::Relay;
        let (output, to_output) = connect_output(output)?;
        let (error, to_error) = if shared { (same_end(&output)?, None) } else { connect_output(error)? };
        let relay = Relay::new(from_caller, [to_output, to_error], host, seen);
        let three = [(&input, Direction::Read), (&output, Direction::Write), (&error, Direction::Write)];
        for (end, direction) in three {
            if let End::Descriptor(fd) = end {
                make_openable(fd, direction);
            }
        }
        Ok(([input, output, error], relay))
    }

    fn host(&self) -> io::Result<Option<Host>> {
        let stream = self.three.iter().find(|stream| stream.way == Way::Terminal);
        // With keyboard and screen both ours, a program expects to be alone with the terminal.
        let whole = self.three[..2].iter().all(|stream| stream.way == Way::Terminal);
        stream.map(|stream| Host::new(stream.fd.try_clone()?, whole)).transpose()
    }
}

/// Lets the command open its stream by name: programs use `/dev/stdin` and `/dev/stderr`. A pipe opens only to its owner,
/// and a root caller's command is another user inside. It gets the direction that it has anyway, so it cannot take back what
/// others have written. A pipe with a name belongs to the file system and stays as it is; one that cannot be changed, too.
pub(crate) fn make_openable(pipe: &OwnedFd, direction: Direction) {
    const PIPES: u64 = 0x5049_5045;
    let nameless = fstatfs(pipe).is_ok_and(|system| u64::try_from(system.f_type) == Ok(PIPES));
    let Ok(stat) = fstat(pipe) else { return };
    if !nameless || !geteuid().is_root() {
        return;
    }
    let right = match direction {
        Direction::Read => Mode::ROTH,
        Direction::Write => Mode::WOTH,
    };
    fchmod(pipe, Mode::from_raw_mode(stat.st_mode) | right).ok();
}

fn keep(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    match fcntl_dupfd_cloexec(fd, 3) {
        Err(Errno::BADF) => high(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?),
        kept => Ok(kept?),
    }
}

fn terminal_of(fd: &OwnedFd) -> Option<u32> {
    if is_terminal(fd) { raw::terminal_number(fd).ok() } else { None }
}

fn way(fd: &OwnedFd, terminal: Option<u32>) -> io::Result<Way> {
    let stat = fstat(fd)?;
    let null = stat.st_rdev == makedev(1, 3);
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo => Way::Pass,
        FileType::CharacterDevice if null => Way::Pass,
        // A second terminal is relayed, there is only one inside.
        _ if terminal.is_some() && terminal_of(fd) == terminal => Way::Terminal,
        _ => Way::Relay,
    })
}

/// Returns true if what is written to both has to stay in order: one open file, or one file that both append to.
fn one_output(output: &OwnedFd, error: &OwnedFd) -> io::Result<bool> {
    let (a, b) = (fstat(output)?, fstat(error)?);
    if (a.st_dev, a.st_ino) != (b.st_dev, b.st_ino) {
        return Ok(false);
    }
    let (a, b) = (fcntl_getfl(output)?, fcntl_getfl(error)?);
    let append = a.contains(OFlags::APPEND) && b.contains(OFlags::APPEND);
    let alike = || a == b && place(output) == place(error);
    Ok(append || raw::same_open_file(output, error).unwrap_or_else(alike))
}

fn place(fd: &OwnedFd) -> Result<u64, Errno> {
    seek(fd, SeekFrom::Current(0))
}

fn connect_input(stream: Stream) -> io::Result<(End, Option<Channel>)> {
    match stream.way {
        Way::Pass => Ok((End::Descriptor(stream.fd), None)),
        Way::Terminal => Ok((End::Terminal, None)),
        Way::Relay => {
            let (theirs, ours) = pipe()?;
            let source = Port::shared(stream.fd, Direction::Read)?;
            Ok((End::Descriptor(theirs), Some(Channel::new(source, Port::own(ours)?, AtEnd::GiveBack))))
        }
    }
}

fn connect_output(stream: Stream) -> io::Result<(End, Option<Channel>)> {
    match stream.way {
        Way::Pass => Ok((End::Descriptor(stream.fd), None)),
        Way::Terminal => Ok((End::Terminal, None)),
        Way::Relay => {
            let (ours, theirs) = pipe()?;
            let terminal = is_terminal(&stream.fd);
            let sink = Port::shared(stream.fd, Direction::Write)?;
            let channel = Channel::new(Port::own(ours)?, sink, AtEnd::Close);
            Ok((End::Descriptor(theirs), Some(if terminal { channel.filtered() } else { channel })))
        }
    }
}

fn same_end(end: &End) -> io::Result<End> {
    match end {
        End::Descriptor(fd) => Ok(End::Descriptor(high(fd.try_clone()?)?)),
        End::Terminal => Ok(End::Terminal),
    }
}
