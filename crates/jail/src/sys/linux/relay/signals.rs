//! Signals as something to read.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};

use super::raw;

/// The signals a supervisor answers, blocked in the thread that made this and read from a descriptor instead.
///
/// `SIGTTIN` and `SIGTTOU` are blocked as well and never read: a supervisor in the background is not stopped for touching
/// its terminal, the call fails instead. The mask is as before when this is dropped. In a process with more threads, a signal
/// to the process goes to one that does not block it.
pub(crate) struct Signals {
    descriptor: OwnedFd,
    before: libc::sigset_t,
    /// A mask belongs to a thread, so this cannot leave it.
    here: PhantomData<*const ()>,
}

/// One signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caught {
    /// Its number.
    pub(crate) signal: i32,
    /// Whether the kernel sent it (a key of the terminal, a resize, a hang-up) and not a process.
    pub(crate) by_kernel: bool,
}

/// Who stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// This process.
    Us,
    /// Everybody in its process group, as by the key of a terminal.
    Job,
}

const READ: &[libc::c_int] = &[
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGCHLD,
];

const IGNORED: &[libc::c_int] = &[libc::SIGTTIN, libc::SIGTTOU];

impl Signals {
    /// Blocks them here.
    pub(crate) fn block() -> io::Result<Self> {
        let descriptor = raw::signal_descriptor(READ)?;
        let before = raw::block(&[READ, IGNORED].concat())?;
        Ok(Self { descriptor, before, here: PhantomData })
    }

    /// Stops, and comes back when somebody continues us. The kernel takes it as a key of the terminal: it stops nobody who
    /// ignores it, and no process group without a shell that could continue it.
    #[expect(clippy::unused_self, reason = "while these are blocked nobody else takes the signal")]
    pub(crate) fn stop(&self, whom: Stop) -> io::Result<()> {
        let sent = match whom {
            Stop::Us => kill_process(getpid(), Signal::TSTP),
            Stop::Job => kill_current_process_group(Signal::TSTP),
        };
        sent?;
        // It waits for us since; from here on it does not.
        raw::unblock(libc::SIGTSTP)?;
        raw::block(&[libc::SIGTSTP]).map(drop)
    }

    /// The mask before, which is the one a command has to start with.
    pub(crate) fn before(&self) -> &libc::sigset_t {
        &self.before
    }

    /// The next signal that has come, if any.
    pub(crate) fn next(&self) -> io::Result<Option<Caught>> {
        let mut record = [0; size_of::<libc::signalfd_siginfo>()];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.descriptor, &mut record)) {
            Ok(_) => Ok(Some(Caught::parse(&record))),
            Err(Errno::AGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Caught {
    /// Reads the number and the origin, the first and the third field of the record.
    fn parse(record: &[u8]) -> Self {
        let field = |place: usize| {
            record.get(place..place + 4).and_then(|field| field.try_into().ok()).map_or(0, i32::from_ne_bytes)
        };
        Self { signal: field(0), by_kernel: field(8) > 0 }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // The kernel refuses only a pointer or a way it does not know, and this mask came from it.
        let restored = raw::set_mask(&self.before);
        debug_assert!(restored.is_ok(), "{restored:?}");
    }
}
