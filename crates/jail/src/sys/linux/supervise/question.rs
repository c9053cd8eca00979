//! A question at the caller's terminal while the command runs.
//!
//! The supervisor owns the terminal. A thread that has a question asks for it, the supervisor stops the relay and restores the
//! modes of the terminal, the thread asks and gives the terminal back.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};

use crate::sys::linux::calls;
use crate::sys::linux::terminal::pty::is_foreground;

/// Time in which no person reads a question: a line that is complete earlier was meant for the command.
const READING: Duration = Duration::from_millis(1200);

/// Undoes what the command may have done to the terminal: colours, scroll region, character set, hidden cursor.
const RESET: &[u8] = b"\x1b[0m\x1b7\x1b[r\x1b8\x1b(B\x0f\x1b[?25h\r\n";

/// Longest answer, in bytes. The rest of a longer line is not read.
const LONGEST_ANSWER: usize = 256;

/// Asks questions at the caller's terminal. The supervisor holds a copy and lends the terminal.
#[derive(Clone)]
pub(crate) struct Questions(Arc<Shared>);

struct Shared {
    /// Readable while the supervisor has to look at the state.
    wake: OwnedFd,
    /// Readable once the command has ended.
    ended: OwnedFd,
    /// Readable after the person has interrupted the question.
    interrupted: OwnedFd,
    state: Mutex<Loan>,
    changed: Condvar,
    /// Held by the thread that asks: one question at a time.
    turn: Mutex<()>,
}

/// State of the terminal between the supervisor and the thread that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loan {
    /// The relay uses it.
    Relayed,
    /// A thread asks for it.
    Wanted,
    /// A thread uses it.
    Lent,
    /// A thread has given it back; the relay does not use it yet.
    Returned,
    /// The command has ended: no more questions.
    Ended,
}

/// Request of a thread to the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalRequest {
    /// Stop the relay and lend the terminal.
    Lend,
    /// Continue the relay.
    Resume,
}

impl Questions {
    pub(crate) fn make() -> Result<Self, Errno> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(Arc::new(Shared {
            wake: eventfd(0, flags)?,
            ended: eventfd(0, flags)?,
            interrupted: eventfd(0, flags)?,
            state: Mutex::new(Loan::Relayed),
            changed: Condvar::new(),
            turn: Mutex::new(()),
        })))
    }

    /// Asks, and returns the line that was typed. `None` without an answer in time: the command has ended, the terminal is
    /// in use by another job, or no person has answered.
    pub(crate) fn ask(&self, text: &str, patience: Duration) -> Option<String> {
        let deadline = Instant::now() + patience;
        let _turn = lock(&self.0.turn);
        let _loan = self.borrow_terminal(deadline)?;
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        // Reading from the background would stop this process, and with it the supervisor.
        is_foreground(terminal.as_fd()).then_some(())?;
        self.converse(terminal, text, deadline).ok().flatten()
    }

    fn borrow_terminal(&self, deadline: Instant) -> Option<Borrowed<'_>> {
        let mut state = lock(&self.0.state);
        // A loan that was just given back is taken over before the relay continues.
        if *state == Loan::Ended {
            return None;
        }
        *state = Loan::Wanted;
        self.wake();
        while *state == Loan::Wanted {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                self.give_back(state);
                return None;
            };
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        // The guard of the state must be gone before the loan can be dropped, which takes it again.
        let lent = *state == Loan::Lent;
        drop(state);
        lent.then(|| Borrowed(self))
    }

    /// Gives the terminal back, or the request for it.
    fn give_back(&self, mut state: MutexGuard<'_, Loan>) {
        if *state != Loan::Ended {
            *state = Loan::Returned;
            self.wake();
        }
    }

    fn converse(&self, mut terminal: File, text: &str, deadline: Instant) -> io::Result<Option<String>> {
        // An interrupt from before the question does not end it.
        let _drained = rustix::io::read(&self.0.interrupted, &mut [0; 8]);
        terminal.write_all(RESET)?;
        loop {
            // Keys from before the question are no answer to it.
            tcflush(&terminal, QueueSelector::IFlush)?;
            terminal.write_all(text.as_bytes())?;
            let shown = Instant::now();
            if !self.wait_for_line(terminal.as_fd(), deadline)? {
                terminal.write_all(b"\n")?;
                return Ok(None);
            }
            let mut line = [0; LONGEST_ANSWER];
            let length = terminal.read(&mut line)?;
            if shown.elapsed() >= READING && line[..length].ends_with(b"\n") {
                return Ok(Some(String::from_utf8_lossy(&line[..length]).trim().to_owned()));
            }
            // The rest of a line that was meant for the command, or a terminal that is not in its usual mode.
            if length == 0 || !line[..length].ends_with(b"\n") {
                return Ok(None);
            }
            terminal.write_all(b"that was typed before the question could be read\n")?;
        }
    }

    /// Waits until a line was typed. False if the command has ended, the person has interrupted, or the time is over.
    fn wait_for_line(&self, terminal: BorrowedFd<'_>, deadline: Instant) -> io::Result<bool> {
        loop {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return Ok(false) };
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut fds = [
                PollFd::from_borrowed_fd(terminal, PollFlags::IN),
                PollFd::new(&self.0.ended, PollFlags::IN),
                PollFd::new(&self.0.interrupted, PollFlags::IN),
            ];
            match poll(&mut fds, Some(&left)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) if fds[1..].iter().any(|fd| !fd.revents().is_empty()) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Returns the request that the supervisor has to answer, if there is one.
    pub(crate) fn request(&self) -> Option<TerminalRequest> {
        if !calls::is_ready(self.0.wake.as_fd()) {
            return None;
        }
        // Only this thread reads it; a failure shows as another wake-up.
        let _drained = rustix::io::read(&self.0.wake, &mut [0; 8]);
        let mut state = lock(&self.0.state);
        match *state {
            Loan::Wanted => Some(TerminalRequest::Lend),
            Loan::Returned => {
                *state = Loan::Relayed;
                Some(TerminalRequest::Resume)
            }
            Loan::Relayed | Loan::Lent | Loan::Ended => None,
        }
    }

    /// Returns true while the terminal is not the relay's.
    pub(crate) fn is_open(&self) -> bool {
        matches!(*lock(&self.0.state), Loan::Wanted | Loan::Lent)
    }

    /// Tells the thread that the terminal is its own. False if it does not want it any more.
    pub(crate) fn lend(&self) -> bool {
        let mut state = lock(&self.0.state);
        let wanted = *state == Loan::Wanted;
        if wanted {
            *state = Loan::Lent;
            self.0.changed.notify_all();
        }
        wanted
    }

    /// Ends the open question: the person has pressed the interrupt key.
    pub(crate) fn interrupt(&self) {
        // Fails only when it was said more often than can be counted.
        let _told = rustix::io::write(&self.0.interrupted, &1_u64.to_ne_bytes());
    }

    /// Ends all questions: the command has ended.
    pub(crate) fn end(&self) {
        *lock(&self.0.state) = Loan::Ended;
        // Fails only when it was said more often than can be counted.
        let _told = rustix::io::write(&self.0.ended, &1_u64.to_ne_bytes());
        self.0.changed.notify_all();
    }

    fn wake(&self) {
        // Fails only when the supervisor has been woken more often than can be counted.
        let _woken = rustix::io::write(&self.0.wake, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Questions {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }
}

/// The terminal, until it is given back.
struct Borrowed<'a>(&'a Questions);

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.0.give_back(lock(&self.0.0.state));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing lends the terminal: the supervisor is not there.
    #[test]
    fn questions_that_are_not_heard_end_in_time() {
        let questions = Questions::make().unwrap();
        let ask = |patience: u64| {
            let questions = questions.clone();
            std::thread::spawn(move || questions.ask("?", Duration::from_millis(patience)))
        };
        let all = [ask(10), ask(10), ask(50)];
        assert!(all.into_iter().all(|asked| asked.join().unwrap().is_none()));
        // The state is free: the supervisor can look at it, and a later question can be put.
        assert_eq!(questions.request(), Some(TerminalRequest::Resume));
        assert_eq!(*lock(&questions.0.state), Loan::Relayed);
    }

    #[test]
    fn the_end_of_the_command_ends_a_question() {
        let questions = Questions::make().unwrap();
        let asking = questions.clone();
        let asked = std::thread::spawn(move || asking.ask("?", Duration::from_secs(600)));
        while *lock(&questions.0.state) != Loan::Wanted {
            std::thread::yield_now();
        }
        questions.end();
        assert_eq!(asked.join().unwrap(), None);
        assert_eq!(questions.ask("?", Duration::from_secs(600)), None);
    }
}
