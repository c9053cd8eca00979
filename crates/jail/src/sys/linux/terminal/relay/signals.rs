//! Signals as something to read.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};

use crate::sys::linux::calls::confine;

/// The signals a supervisor answers, blocked in the thread that made this and read from a descriptor instead.
///
/// `SIGTTIN` and `SIGTTOU` are blocked as well and never read: a supervisor in the background is not stopped for touching
/// its terminal, the call fails instead. The mask is as before when this is dropped. In a process with more threads, a signal
/// to the process goes to one that does not block it.
pub(crate) struct Signals {
    descriptor: OwnedFd,
    before: u64,
    /// A mask belongs to a thread, so this cannot leave it.
    here: PhantomData<*const ()>,
}

/// Processes that are stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// This process.
    Us,
    /// All processes in its process group, as by the key of a terminal.
    Job,
}

const READ: u64 = set(&[
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
]);

const IGNORED: u64 = set(&[libc::SIGTTIN, libc::SIGTTOU]);

/// Signals as the kernel takes them: one bit each.
const fn set(signals: &[libc::c_int]) -> u64 {
    let (mut set, mut place) = (0, 0);
    while place < signals.len() {
        set |= 1 << (signals[place] - 1);
        place += 1;
    }
    set
}

impl Signals {
    /// Blocks them here.
    pub(crate) fn block() -> io::Result<Self> {
        let descriptor = confine::signal_descriptor(READ)?;
        let before = confine::blocked_signals()?;
        confine::block_signals(before | READ | IGNORED)?;
        Ok(Self { descriptor, before, here: PhantomData })
    }

    /// Stops, and comes back when another process continues us. The kernel takes it as a key of the terminal: it stops no
    /// process that ignores it, and no process group without a shell that could continue it.
    #[expect(clippy::unused_self, reason = "while these are blocked nobody else takes the signal")]
    pub(crate) fn stop(&self, whom: Stop) -> io::Result<()> {
        let sent = match whom {
            Stop::Us => kill_process(getpid(), Signal::TSTP),
            Stop::Job => kill_current_process_group(Signal::TSTP),
        };
        sent?;
        // It waits for us since; from here on it does not.
        let blocked = confine::blocked_signals()?;
        confine::block_signals(blocked & !set(&[libc::SIGTSTP]))?;
        confine::block_signals(blocked)?;
        Ok(())
    }

    /// The number of the next signal that has come, if any.
    pub(crate) fn next(&self) -> io::Result<Option<i32>> {
        let mut record = [0; size_of::<libc::signalfd_siginfo>()];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.descriptor, &mut record)) {
            // The first field.
            Ok(_) => Ok(record.first_chunk().map(|number| i32::from_ne_bytes(*number))),
            Err(Errno::AGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
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
        let restored = confine::block_signals(self.before);
        debug_assert!(restored.is_ok(), "{restored:?}");
    }
}
