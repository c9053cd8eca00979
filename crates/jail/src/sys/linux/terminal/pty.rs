//! The caller's terminal and the one inside.
//!
//! The program inside has a terminal of its own, with its own modes, size, foreground and keys. The caller's is taken only
//! while it is ours to take: its foreground is our process group, and no other process has changed its modes since.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use rustix::io::Errno;
use rustix::process::{Pid, getpid};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr, tcsetwinsize,
};

use super::relay::{AtEnd, Direction, Port, Progress, TerminalChannel as Channel, signal_foreground};

pub(crate) fn is_typed(terminal: BorrowedFd<'_>) -> bool {
    let own = Some(getpid());
    tcgetpgrp(terminal).ok() == own && process_group() == own && session() != own
}

/// Returns true if this process is in the foreground of a terminal.
pub(crate) fn is_foreground(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).ok().is_some_and(|foreground| Some(foreground) == process_group())
}

/// The process group of this process, or `None` if its leader lies outside of our process namespace. `rustix::process::getpgrp`
/// takes it for granted that there is one.
fn process_group() -> Option<Pid> {
    // SAFETY: the call takes nothing and cannot fail.
    Pid::from_raw(unsafe { libc::getpgrp() })
}

/// The session of this process, or `None` if its leader lies outside of our process namespace.
fn session() -> Option<Pid> {
    // SAFETY: the call takes a number only.
    Pid::from_raw(unsafe { libc::getsid(0) })
}

/// The caller's terminal: raw while the program inside has it, as it was found otherwise.
#[derive(Debug)]
pub(crate) struct Host {
    fd: OwnedFd,
    found: Termios,
    /// True if keyboard and screen are both the command's, so that it has the terminal from the start. Otherwise others in
    /// the same pipeline may use it: a pager after us, the keyboard before us.
    whole: bool,
    raw: bool,
}

impl Host {
    /// Notes the modes of a terminal. Changes nothing.
    pub(crate) fn new(fd: OwnedFd, whole: bool) -> io::Result<Self> {
        let found = tcgetattr(&fd)?;
        Ok(Self { fd, found, whole, raw: false })
    }

    /// Returns true if this process may use the terminal: it is in its foreground, or the terminal does not control it and
    /// so has no foreground to be in.
    fn is_ours(&self) -> bool {
        match tcgetpgrp(&self.fd) {
            Ok(foreground) => Some(foreground) == process_group(),
            // No terminal of this session; or its foreground lies outside of our process namespace.
            Err(Errno::NOTTY | Errno::OPNOTSUPP) => true,
            Err(_) => false,
        }
    }

    /// Notes the modes again: the process that gave us the terminal has set it up for us.
    fn look_again(&mut self) {
        match tcgetattr(&self.fd) {
            Ok(found) if !self.raw => self.found = found,
            _ => {}
        }
    }

    fn is_untouched(&self) -> bool {
        tcgetattr(&self.fd).is_ok_and(|now| same_modes(&now, &self.found))
    }

    /// Takes the terminal. If that fails it stays as it is: keys then arrive as lines.
    fn take(&mut self) {
        let mut slot = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_some() || !self.is_untouched() {
            return;
        }
        let mut raw = self.found.clone();
        raw.make_raw();
        if let Ok(fd) = self.fd.try_clone() {
            self.raw = tcsetattr(&self.fd, OptionalActions::Now, &raw).is_ok();
            *slot = self.raw.then(|| Taken { fd, found: self.found.clone() });
        }
    }

    /// Leaves the terminal as it was found. From the background nothing is touched: the process in the foreground has set it
    /// up for itself.
    fn leave(&mut self) {
        if !std::mem::take(&mut self.raw) {
            return;
        }
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(taken) = taken.filter(|_| self.is_ours()) {
            taken.put_back();
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The terminal that is raw at the moment, out of reach of destructors: a process that panics may not run them.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

#[derive(Debug)]
struct Taken {
    fd: OwnedFd,
    found: Termios,
}

impl Taken {
    /// A terminal that is gone cannot be put back, and does not need to be.
    fn put_back(&self) {
        tcsetattr(&self.fd, OptionalActions::Now, &self.found).ok();
    }
}

/// Leaves the caller's terminal as it was found, if it is taken. For a panic hook: takes no lock it would have to wait for.
pub(crate) fn put_terminal_back() {
    let taken = match TAKEN.try_lock() {
        Ok(slot) => slot,
        Err(TryLockError::Poisoned(slot)) => slot.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    if let Some(taken) = taken.as_ref() {
        taken.put_back();
    }
}

/// The caller's terminal connected with the one inside.
#[derive(Debug)]
pub(crate) struct Terminal {
    host: Host,
    keyboard: Channel,
    screen: Channel,
    /// The program side. As long as it is open the master does not end, even while no program has the terminal open.
    inner: Option<OwnedFd>,
    /// The modes the terminal inside began with.
    begun: Termios,
    suspended: bool,
    /// True if the caller's terminal was another process's or left to it, so that its modes may be others since.
    away: bool,
    /// State of the caller's terminal when we last looked at it.
    turn: Turn,
}

/// Owner of the turn at the caller's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Not looked at yet.
    Unknown,
    Ours,
    SomebodyElses,
}

impl Terminal {
    /// Connects them. The terminal inside begins with the modes and the size of the caller's, which is left alone until
    /// the first [`Terminal::advance`]: before the command runs there may be something to say. In the background the modes
    /// are those that a shell reads its own line with, and the terminal inside keeps the ones it was made with.
    pub(crate) fn attach(host: Host, master: OwnedFd) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let inner = ioctl_tiocgptpeer(&master, flags)?;
        let away = !host.is_ours();
        let mut begun = if away { tcgetattr(&inner)? } else { host.found.clone() };
        if !host.whole {
            // The caller's terminal shows what is typed; once is enough.
            begun.local_modes -= LocalModes::ECHO;
        }
        tcsetattr(&inner, OptionalActions::Now, &begun)?;
        let begun = tcgetattr(&inner)?;
        let end = AtEnd::Type(begun.special_codes[SpecialCodeIndex::VEOF]);
        let keys = Port::shared(host.fd.try_clone()?, Direction::Read)?;
        let show = Port::shared(host.fd.try_clone()?, Direction::Write)?;
        let keyboard = Channel::new(keys, Port::own(master.try_clone()?)?, end);
        let screen = Channel::new(Port::own(master)?, show, AtEnd::Close).filtered();
        let turn = Turn::Unknown;
        let inner = Some(inner);
        let terminal = Self { host, keyboard, screen, inner, begun, suspended: false, away, turn };
        terminal.resize()?;
        Ok(terminal)
    }

    pub(crate) fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        self.keyboard.watch(fds);
        self.screen.watch(fds);
    }

    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.turn {
            _ if self.suspended => None,
            Turn::Unknown => Some(Duration::ZERO),
            Turn::Ours if self.host.whole => None,
            Turn::Ours | Turn::SomebodyElses => Some(LOOK_AGAIN),
        }
    }

    pub(crate) fn advance(&mut self) {
        self.follow();
        self.keyboard.advance();
        self.advance_screen();
    }

    pub(crate) fn advance_screen(&mut self) -> Progress {
        self.screen.advance()
    }

    pub(crate) fn moved(&self) -> Option<Instant> {
        self.screen.moved()
    }

    pub(crate) fn resize(&self) -> io::Result<()> {
        let Some(inner) = &self.inner else { return Ok(()) };
        let size = tcgetwinsize(&self.host.fd)?;
        Ok(tcsetwinsize(inner, size)?)
    }

    pub(crate) fn signal(&self, signal: i32) -> io::Result<()> {
        self.screen.source().map_or(Ok(()), |master| signal_foreground(master, signal))
    }

    pub(crate) fn suspend(&mut self) {
        self.suspended = true;
        self.away = true;
        self.host.leave();
        self.keyboard.pause(true);
    }

    pub(crate) fn lend(&mut self) {
        self.suspend();
        self.screen.pause(true);
    }

    pub(crate) fn resume(&mut self) {
        self.suspended = false;
        self.screen.pause(false);
        self.follow();
    }

    /// Closes the keyboard when no process inside reads any more. The program side is closed too, so that the screen ends
    /// when it is empty.
    pub(crate) fn close_keyboard(&mut self) {
        // A command may have ended before anything was looked at. Its output is shown as the terminal inside made it.
        if self.turn == Turn::Unknown {
            self.follow();
        }
        self.keyboard.close();
        self.inner = None;
    }

    /// Takes or leaves the caller's terminal, as the program inside and the caller's shell would have it.
    fn follow(&mut self) {
        if self.suspended {
            return;
        }
        let ours = self.host.is_ours();
        if std::mem::replace(&mut self.away, !ours) && ours {
            self.host.look_again();
        }
        match (self.host.raw, ours && self.wants_keys()) {
            (false, true) => self.host.take(),
            (true, false) => self.host.leave(),
            _ => {}
        }
        let ours = ours && (self.host.raw || self.host.is_untouched());
        self.turn = if ours { Turn::Ours } else { Turn::SomebodyElses };
        self.keyboard.pause(!ours);
    }

    /// Returns true if the program inside expects keys and not lines. If others may use the terminal, it has to have said so
    /// by changing the modes of its own.
    fn wants_keys(&self) -> bool {
        let changed = |inner| tcgetattr(inner).is_ok_and(|now| !same_modes(&now, &self.begun));
        self.host.whole || self.inner.as_ref().is_some_and(changed)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // An answer to a question of the program's must not reach the shell that reads next, as if it had been typed.
        if self.host.raw && self.screen.asked() && self.host.is_ours() {
            tcflush(&self.host.fd, QueueSelector::IFlush).ok();
        }
    }
}

/// Interval for looking whether the terminal is ours again, as not every shell tells a job that it is in the foreground, and
/// whether a program that shares it wants keys, as no kernel tells that the modes of a terminal have changed.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

fn same_modes(a: &Termios, b: &Termios) -> bool {
    const KEYS: [SpecialCodeIndex; 6] = [
        SpecialCodeIndex::VMIN,
        SpecialCodeIndex::VTIME,
        SpecialCodeIndex::VEOF,
        SpecialCodeIndex::VINTR,
        SpecialCodeIndex::VERASE,
        SpecialCodeIndex::VSUSP,
    ];
    (a.input_modes, a.output_modes, a.local_modes) == (b.input_modes, b.output_modes, b.local_modes)
        && KEYS.iter().all(|key| a.special_codes[*key] == b.special_codes[*key])
}

#[cfg(test)]
mod tests;
