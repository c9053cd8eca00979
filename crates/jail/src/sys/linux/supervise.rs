//! Following a command to its end: one thread, one loop.

mod grace;
pub(crate) mod private_home;
pub(crate) mod question;
pub(crate) mod stop;

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use policy::Limits;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getppid, pidfd_open};

use super::calls::{self, ResourceUsage};
use super::limits::cgroups::{Cgroups, Usage};
use super::limits::process_limits::{beyond_ours, is_full};
use super::limits::sweeper::Sweeper;
use super::limits::watchdog::Watchdog;
use super::notify::name_guard::NameGuard;
use super::provider::hold::Connection;
use super::provider::native::Sockets;
use super::provider::process_tree::ProcessTree;
use super::terminal::pty::put_terminal_back;
use super::terminal::relay::{Signals, Stop as Whom};
use crate::launch::{End, JailError, Outcome};
use crate::resources::{Amount, Limit, Observed, Overrun, Status, survived, verdict};
use grace::{KILL_GRACE, OUTPUT_GRACE};
use question::{Questions, TerminalRequest};
use stop::Stop;

/// A command that runs in its jail.
pub(crate) struct Running {
    pub(super) processes: Box<dyn ProcessTree>,
    pub(super) began: Instant,
    limits: Limits,
    connection: Connection,
    cgroups: Cgroups,
    watchdog: Option<Watchdog>,
    looked: Instant,
    /// Time at which the command last wrote something that was captured.
    wrote: Instant,
    /// The limit for which we ended it.
    ended_for: Option<Overrun>,
    /// Handle by which another thread asks for the end of the command; `None` after it was asked.
    stop: Option<Stop>,
    /// Handle by which another thread asks a question at the caller's terminal.
    questions: Option<Questions>,
    /// True if the end was asked for before anything else ended the command.
    stopped: bool,
    /// Deadline of a command that was asked to end.
    patience: Option<Instant>,
    status: Option<i32>,
    /// True if the jail has a terminal of its own.
    terminal: bool,
    /// The parent process, where our signals are the command's: its end is a request to end, too.
    parent: Option<OwnedFd>,
    /// The private home, by its path inside.
    pub(super) home: Option<PathBuf>,
    /// Listeners of the supervisor inside the jail, and sockets to connect with, until they are asked for.
    pub(super) sockets: Sockets,
    /// Guard that makes names in the command's place, and watches for refusals.
    pub(super) name_guard: Option<NameGuard>,
    sweeper: Option<Sweeper>,
}

impl Running {
    pub(super) fn new(
        processes: Box<dyn ProcessTree>,
        limits: Limits,
        connection: Connection,
        cgroups: Cgroups,
        watchdog: Option<Watchdog>,
        sweeper: Option<Sweeper>,
    ) -> Self {
        let now = Instant::now();
        let parent = matches!(connection, Connection::Relay(..)).then(parent).flatten();
        Self {
            parent,
            processes,
            began: now,
            limits,
            connection,
            cgroups,
            watchdog,
            looked: now,
            wrote: now,
            ended_for: None,
            stop: None,
            questions: None,
            stopped: false,
            patience: None,
            status: None,
            terminal: false,
            home: None,
            sockets: Sockets::default(),
            name_guard: None,
            sweeper,
        }
    }

    /// Connects the caller's terminal with the jail's.
    pub(super) fn attach(mut self, terminal: Option<OwnedFd>) -> Result<Self, Errno> {
        if let (Connection::Relay(relay, _), Some(master)) = (&mut self.connection, terminal) {
            relay.attach(master).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            self.terminal = true;
        }
        Ok(self)
    }

    /// Returns the handle that ends the command from another thread: always the same one.
    pub(super) fn stop(&mut self) -> Result<Stop, JailError> {
        if self.stop.is_none() {
            let what = || "wait for a word from another thread".to_owned();
            let made = Stop::make().map_err(|errno| JailError::Step { what: what(), errno: errno.into() });
            self.stop = Some(made?);
        }
        self.stop.clone().ok_or(JailError::BadCommand("nobody can ask for its end"))
    }

    /// Returns the handle that asks questions at the caller's terminal: always the same one.
    pub(super) fn questions(&mut self) -> Result<Questions, JailError> {
        let made = self.questions.take().map_or_else(Questions::make, Ok);
        let what = || "prepare questions at the terminal".to_owned();
        let made = made.map_err(|errno| JailError::Step { what: what(), errno: errno.into() })?;
        self.questions = Some(made.clone());
        Ok(made)
    }

    /// Leaves the caller's terminal as it was found, no matter what has taken it.
    pub(crate) fn restore_terminal() {
        put_terminal_back();
    }

    /// Follows the command to its end.
    pub(crate) fn wait_then<T>(
        mut self,
        then: impl FnOnce(&mut Result<Outcome, JailError>) -> T,
    ) -> (Result<Outcome, JailError>, T) {
        match self.follow() {
            Ok(()) => {
                let (outcome, signals) = self.finish();
                let mut waited = Ok(outcome);
                let done = then(&mut waited);
                drop(signals);
                (waited, done)
            }
            Err(error) => {
                // Ends everything.
                drop(self);
                let mut waited = Err(error);
                let done = then(&mut waited);
                (waited, done)
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn wait(self) -> Result<Outcome, JailError> {
        self.wait_then(|_| ()).0
    }

    fn follow(&mut self) -> Result<(), JailError> {
        self.began = Instant::now();
        self.wrote = self.began;
        self.cgroups.sweep();
        while !self.sleep()? {
            self.hear();
            self.look_after_parent();
            self.read_status();
            self.hear_stop();
            self.lend_terminal();
            self.move_streams();
            self.watch_limits();
        }
        self.read_status();
        self.end_questions();
        Ok(())
    }

    /// Until something happens. Says whether the first process, and with it everything, has ended.
    fn sleep(&self) -> Result<bool, JailError> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.processes.end(), PollFlags::IN)];
        // After its end there is no more news of the command, only the end of the pipe, which would wake us for nothing.
        let news =
            self.status.is_none().then(|| PollFd::from_borrowed_fd(self.processes.status(), PollFlags::IN));
        fds.extend(news);
        match &self.connection {
            Connection::Relay(relay, signals) => {
                fds.push(PollFd::new(signals, PollFlags::IN));
                relay.watch(&mut fds);
            }
            Connection::Collectors(collectors) => collectors.watch(&mut fds),
        }
        fds.extend(self.parent.iter().map(|parent| PollFd::new(parent, PollFlags::IN)));
        fds.extend(self.stop.iter().map(|stop| PollFd::new(stop, PollFlags::IN)));
        fds.extend(self.questions.iter().map(|questions| PollFd::new(questions, PollFlags::IN)));
        let left = self.next_look().and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut fds, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(!fds[0].revents().is_empty()),
            Err(errno) => {
                Err(JailError::Step { what: "watch over the command".to_owned(), errno: errno.into() })
            }
        }
    }

    /// Returns the time until something has to be looked at.
    fn next_look(&self) -> Option<Duration> {
        let now = Instant::now();
        let until = |when: Instant| when.saturating_duration_since(now);
        let relay = match &self.connection {
            Connection::Relay(relay, _) => relay.patience(),
            Connection::Collectors(_) => None,
        };
        let deadlines = [
            relay,
            self.watchdog.as_ref().map(|watchdog| until(self.looked + watchdog.due())),
            self.limits.wall_clock.map(|limit| until(self.began + limit)),
            self.limits.idle.map(|limit| until(self.active() + limit)),
            self.patience.map(until),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn active(&self) -> Instant {
        match &self.connection {
            Connection::Relay(relay, _) => relay.activity().unwrap_or_else(Instant::now).max(self.began),
            Connection::Collectors(_) => self.wrote,
        }
    }

    /// Answers the signals that came.
    fn hear(&mut self) {
        while let Connection::Relay(_, signals) = &self.connection {
            match signals.next() {
                Ok(Some(signal)) => self.answer(signal),
                Ok(None) | Err(_) => break,
            }
        }
    }

    /// Asks the command to end when the parent has ended: no process is left to wait for it.
    fn look_after_parent(&mut self) {
        if self.parent.as_ref().is_some_and(|parent| calls::is_ready(parent.as_fd())) {
            self.parent = None;
            self.ask_to_end(libc::SIGTERM);
        }
    }

    /// Asks the command to end if another thread wants it. A command that has ended already, or is being ended, did so for
    /// its own reason.
    fn hear_stop(&mut self) {
        let asked = self.stop.take_if(|stop| stop.is_asked()).is_some();
        if asked && self.status.is_none() && self.ended_for.is_none() {
            self.stopped = true;
            self.ask_to_end(libc::SIGTERM);
        }
    }

    /// Stops the relay for a thread that has a question, and continues it afterwards.
    fn lend_terminal(&mut self) {
        let Some(questions) = &self.questions else { return };
        let Some(request) = questions.request() else { return };
        let relay = match &mut self.connection {
            Connection::Relay(relay, _) => Some(relay),
            Connection::Collectors(_) => None,
        };
        match (request, relay) {
            (TerminalRequest::Lend, relay) => {
                if let Some(relay) = relay {
                    relay.lend();
                }
                questions.lend();
            }
            // A terminal that is gone shows when it is used.
            (TerminalRequest::Resume, Some(relay)) => drop(relay.resume()),
            (TerminalRequest::Resume, None) => {}
        }
    }

    fn end_questions(&mut self) {
        let Some(questions) = self.questions.take() else { return };
        questions.end();
        if let Connection::Relay(relay, _) = &mut self.connection {
            drop(relay.resume());
        }
    }

    fn ask_to_end(&mut self, signal: i32) {
        self.tell(signal);
        self.patience.get_or_insert(Instant::now() + KILL_GRACE);
    }

    fn answer(&mut self, signal: i32) {
        if let (libc::SIGINT, Some(questions)) = (signal, &self.questions) {
            questions.interrupt();
        }
        let Connection::Relay(relay, _) = &mut self.connection else { return };
        match signal {
            // The size is a matter of looks; a program that asks again gets it.
            libc::SIGWINCH => drop(relay.resize()),
            libc::SIGCHLD => {}
            libc::SIGCONT => self.resume(),
            // With a terminal inside, its programs decide what its keys mean to them.
            libc::SIGINT | libc::SIGQUIT | libc::SIGTSTP if matches!(relay.signal(signal), Ok(true)) => {}
            libc::SIGTSTP => {
                self.tell(libc::SIGSTOP);
                self.suspend(Whom::Us);
            }
            libc::SIGTERM | libc::SIGHUP => self.ask_to_end(signal),
            other => self.tell(other),
        }
    }

    /// Sends a signal to the command and what it started in its process group.
    fn tell(&self, signal: i32) {
        // Fails only when it has ended already.
        let _ended = calls::signal_group(self.processes.command(), signal);
    }

    /// Stops as the command has, until a signal continues us: at once where no process could send one.
    fn suspend(&mut self, whom: Whom) {
        // A question does not outlast a stop: the person may have seen another screen since.
        self.questions.iter().for_each(Questions::interrupt);
        if let Connection::Relay(relay, signals) = &mut self.connection {
            relay.suspend();
            // A process that cannot be stopped goes on.
            drop(signals.stop(whom));
        }
        self.resume();
    }

    fn resume(&mut self) {
        let asks = self.questions.as_ref().is_some_and(Questions::is_open);
        if let Connection::Relay(relay, _) = &mut self.connection
            && !asks
        {
            // A terminal that is gone shows when it is used.
            drop(relay.resume());
        }
        self.tell(libc::SIGCONT);
    }

    /// Reads the states of the command that the first process reports.
    fn read_status(&mut self) {
        while let Some(status) = self.processes.news() {
            if libc::WIFSTOPPED(status) {
                self.stopped();
            } else {
                self.status = Some(status);
            }
        }
    }

    /// A command with a terminal that is stopped, by a key or by itself, takes us with it, and the processes that share the
    /// job with us: to its shell they are one.
    fn stopped(&mut self) {
        if self.terminal {
            self.suspend(Whom::Job);
        }
    }

    fn move_streams(&mut self) {
        match &mut self.connection {
            Connection::Relay(relay, _) => relay.advance(),
            Connection::Collectors(collectors) => {
                if collectors.advance() {
                    self.wrote = Instant::now();
                }
            }
        }
    }

    fn watch_limits(&mut self) {
        let now = Instant::now();
        let overrun = self.too_long(now).or_else(|| self.too_much(now));
        if let Some(overrun) = overrun.filter(|_| self.ended_for.is_none()) {
            self.ended_for = Some(overrun);
            self.processes.kill();
        }
        if self.patience.is_some_and(|end| end <= now) {
            self.processes.kill();
        }
    }

    fn too_long(&self, now: Instant) -> Option<Overrun> {
        let over = |limit: Option<Duration>, since: Instant, name| {
            let allowed = limit.filter(|limit| now.saturating_duration_since(since) >= *limit)?;
            Some(Overrun::new(name, Amount::Time(allowed)))
        };
        over(self.limits.wall_clock, self.began, Limit::WallClock)
            .or_else(|| over(self.limits.idle, self.active(), Limit::Idle))
    }

    fn too_much(&mut self, now: Instant) -> Option<Overrun> {
        let watchdog = self.watchdog.as_mut()?;
        if now.saturating_duration_since(self.looked) < watchdog.due() {
            return None;
        }
        self.looked = now;
        watchdog.look(&self.cgroups, now)
    }

    /// Also returns what keeps signals blocked.
    fn finish(mut self) -> (Outcome, Option<Signals>) {
        let duration = self.began.elapsed();
        let used = self.processes.reap();
        let observed = self.observed(used);
        let private = self.processes.private_space().zip(self.home.as_deref());
        let lost_files = private.map_or(0, |(root, home)| private_home::count_files(root, home));
        let mut notes = Vec::new();
        if let Err(errno) = self.cgroups.remove() {
            notes.push(format!("a cgroup could not be removed: {errno}"));
        }
        // It has time to end while the rest is done.
        let sweeper = self.sweeper.map(Sweeper::dismissed);
        let report = self.name_guard.take().map(NameGuard::report).unwrap_or_default();
        notes.extend(report.notes);
        let mut lost_output = None;
        let (captured, signals) = match self.connection {
            Connection::Relay(relay, signals) => {
                for loss in relay.finish(Instant::now() + OUTPUT_GRACE) {
                    if loss.is_of_output() {
                        lost_output.get_or_insert(loss.to_string());
                    } else {
                        notes.push(loss.to_string());
                    }
                }
                (None, Some(signals))
            }
            Connection::Collectors(collectors) => (Some(collectors.finish()), None),
        };
        let end = match (verdict(&self.limits, &observed), observed.status) {
            _ if self.stopped => End::Stopped,
            (Some(overrun), _) => End::Limit(overrun),
            (None, Status::Exited(code)) => End::Exited(code),
            (None, Status::Signaled(signal)) => End::Signaled(signal),
        };
        drop(sweeper);
        let survived = survived(&self.limits, &observed);
        notes
            .extend(survived.map(|overrun| format!("the kernel killed processes of the command: {overrun}")));
        let outcome = Outcome {
            end,
            survived,
            duration,
            denials: report.denials,
            protected_writes: report.protected_writes,
            commits: report.commits,
            uses: report.uses,
            lost_output,
            lost_files,
            notes,
            captured,
        };
        (outcome, signals)
    }

    fn observed(&self, used: Option<ResourceUsage>) -> Observed {
        let status = status(self.status.or_else(|| self.processes.last_word(used.as_ref())));
        let used = used.unwrap_or_default();
        if status == Status::Exited(0) && self.ended_for.is_none() {
            // It has coped with what it was refused; only processes that the kernel ended count.
            let usage = if self.cgroups.oom_kills() > 0 { self.cgroups.usage() } else { Usage::default() };
            return Observed { oom_kills: usage.oom_kills, held: usage.held, ..Observed::only(status) };
        }
        let usage = self.cgroups.usage();
        let peak = self.watchdog.as_ref().map(Watchdog::peak).unwrap_or_default();
        Observed {
            stopped: self.ended_for,
            oom_kills: usage.oom_kills,
            held: usage.held,
            memory: peak.memory.max(beyond_ours(used.memory)),
            refused: usage.refused,
            processes: peak.processes,
            cpu: used.cpu,
            tmp_full: self.processes.private_space().is_some_and(is_full),
            ..Observed::only(status)
        }
    }
}

/// The process that started us, unless it is the first of all, which does not end.
fn parent() -> Option<OwnedFd> {
    let pid = getppid().filter(|pid| pid.as_raw_pid() != 1)?;
    let parent = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // Had it ended before, its number could be another process's by now.
    (getppid() == Some(pid)).then_some(parent)
}

/// Without a word of the first process, it was killed and took the command with it.
fn status(status: Option<i32>) -> Status {
    let number = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match status {
        Some(status) if libc::WIFEXITED(status) => Status::Exited(number(libc::WEXITSTATUS(status))),
        Some(status) => Status::Signaled(number(libc::WTERMSIG(status))),
        None => Status::Signaled(number(libc::SIGKILL)),
    }
}
