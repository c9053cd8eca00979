//! One side of a channel: a descriptor that is read or written without blocking.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, makedev, open};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags};

/// A descriptor and how not to block on it.
///
/// Blocking is a flag of the open file, which the caller shares with others: setting it on the caller's terminal would break
/// the shell. Therefore it is set only where the open file is our own.
#[derive(Debug)]
pub(crate) struct Port {
    fd: OwnedFd,
    manner: Manner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// An open file of our own that does not block, or a file on a disk, which does not block for long.
    Free,
    /// A socket of the caller's: every call says that it does not want to block.
    Socket,
    /// Something of the caller's that may block: asked each time, and so many bytes written at once as fit for certain.
    Asked(usize),
}

/// Direction in which bytes go through a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Port {
    /// A port on an open file that no other process has.
    pub(crate) fn own(fd: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
        Ok(Self { fd, manner: Manner::Free })
    }

    /// A port on an open file that the caller shares with us.
    pub(crate) fn shared(fd: OwnedFd, direction: Direction) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(fstat(&fd)?.st_mode);
        let manner = match kind {
            FileType::RegularFile => Manner::Free,
            FileType::Socket => Manner::Socket,
            FileType::Fifo => return Ok(Self::opened_anew(fd, direction, PIPE_BUF)),
            _ if is_terminal(&fd) => return Ok(Self::opened_anew(fd, direction, 1)),
            _ => Manner::Asked(usize::MAX),
        };
        Ok(Self { fd, manner })
    }

    /// A port on the same pipe or terminal with flags of its own. Where it may not be opened (it belongs to another
    /// user), the caller's open file has to do.
    fn opened_anew(fd: OwnedFd, direction: Direction, certain: usize) -> Self {
        match reopen(&fd, direction) {
            Ok(fd) => Self { fd, manner: Manner::Free },
            Err(_) => Self { fd, manner: Manner::Asked(certain) },
        }
    }

    /// Returns true if it is a file on a disk.
    pub(super) fn is_file(&self) -> bool {
        fstat(&self.fd).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
    }

    /// Reads what is there; 0 is the end.
    pub(super) fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        match self.manner {
            Manner::Free => retry_on_intr(|| rustix::io::read(&self.fd, &mut *into)),
            Manner::Socket => retry_on_intr(|| rustix::net::recv(&self.fd, &mut *into, RecvFlags::DONTWAIT))
                .map(|(got, _)| got),
            Manner::Asked(_) => {
                self.ready(PollFlags::IN)?;
                retry_on_intr(|| rustix::io::read(&self.fd, &mut *into))
            }
        }
    }

    /// Writes what there is room for.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let quiet = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match self.manner {
            Manner::Free => retry_on_intr(|| rustix::io::write(&self.fd, bytes)),
            Manner::Socket => retry_on_intr(|| rustix::net::send(&self.fd, bytes, quiet)),
            Manner::Asked(certain) => {
                self.ready(PollFlags::OUT)?;
                retry_on_intr(|| rustix::io::write(&self.fd, &bytes[..certain.min(bytes.len())]))
            }
        }
    }

    /// Returns true if the other side of a terminal or a socket is gone for good.
    pub(super) fn hung_up(&self) -> bool {
        let mut fds = [PollFd::new(&self.fd, PollFlags::empty())];
        let asked = retry_on_intr(|| poll(&mut fds, Some(&AT_ONCE)));
        asked.is_err() || fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
    }

    fn ready(&self, wanted: PollFlags) -> Result<(), Errno> {
        let mut fds = [PollFd::new(&self.fd, wanted)];
        match retry_on_intr(|| poll(&mut fds, Some(&AT_ONCE)))? {
            0 => Err(Errno::AGAIN),
            _ => Ok(()),
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// As much as a pipe takes whole when it says that it takes something.
const PIPE_BUF: usize = 4096;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

pub(super) fn is_terminal(fd: impl AsFd) -> bool {
    rustix::termios::isatty(fd)
}

/// Opens what a descriptor stands for once more, not blocking.
pub(super) fn reopen(fd: impl AsFd, direction: Direction) -> io::Result<OwnedFd> {
    let before = fstat(&fd)?;
    if before.st_rdev == makedev(5, 2) && FileType::from_raw_mode(before.st_mode).is_char_device() {
        // The master of a terminal: opening it makes another terminal.
        return Err(Errno::NXIO.into());
    }
    let access = match direction {
        Direction::Read => OFlags::RDONLY,
        Direction::Write => OFlags::WRONLY,
    };
    let name = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let opened = open(name, access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let after = fstat(&opened)?;
    let same = (before.st_dev, before.st_ino, before.st_rdev) == (after.st_dev, after.st_ino, after.st_rdev);
    if same { Ok(opened) } else { Err(Errno::STALE.into()) }
}
