//! Commands of a session, in the foreground and in the background.
//!
//! A command is a [`Job`]: a thread of its own holds its jail, records that it starts, lets it go and follows it to its end. All other
//! threads look at what it has written so far, wait for it, or stop it.
//!
//! **Invariant.** Not recorded is not released.
//! **Invariant.** Limits belong to the jail and not to the thread that waits: they hold in the background, too.
//! **Invariant.** Nothing outlives its [`Jobs`], and nothing outlives this process: a jail ends with the thread that holds it.

mod clean;
mod follow;
mod jobs;
mod meaning;
mod output;
mod spill;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use audit::AuditError;
use guard::{Abort, Wake};
use jail::{Choice, Denial, End, JailError, Spec, Stop, Stream, Tee};
use policy::Shown;

pub use clean::Cleaner;
pub use jobs::Jobs;
pub use meaning::meaning;
pub use output::{Amount, KeptOutput, LastLines, Piece, Snapshot};
pub use spill::{SpillError, Spills, TruncationCause};

use crate::approved::Approved;
use crate::jailed::SessionEgress;
use crate::journal::Journal;

use output::Output;

/// Command that is started, and the handling of its output.
#[derive(Debug, Clone)]
pub struct JobRequest {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Directory in which it starts, inside.
    pub cwd: PathBuf,
    /// The command as it was written, to be shown.
    pub line: String,
    /// Standard input; then comes the end.
    pub input: Vec<u8>,
    /// Number of bytes of each stream that are kept in memory.
    pub keep: usize,
    /// Directory for longer output.
    pub spills: Option<Arc<Spills>>,
    /// The time from start to end, within what the spec allows.
    pub wall_clock: Option<Duration>,
    /// The time without output, within what the spec allows.
    pub idle: Option<Duration>,
    /// True if refusals are observed.
    pub observe: bool,
}

impl JobRequest {
    /// A line for a shell that reads no files of its own when it starts.
    #[must_use]
    pub fn shell(line: &str, cwd: &Path, keep: usize) -> Self {
        let bash = Path::new("/bin/bash");
        let words: &[&str] = if bash.exists() {
            // The line is never read as an option, even if it begins like one.
            &["/bin/bash", "--norc", "--noprofile", "-c", "--", line]
        } else {
            &["/bin/sh", "-c", "--", line]
        };
        Self {
            argv: words.iter().map(OsString::from).collect(),
            cwd: cwd.to_owned(),
            line: line.to_owned(),
            input: Vec::new(),
            keep,
            spills: None,
            wall_clock: None,
            idle: None,
            observe: false,
        }
    }
}

/// Why a command does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// So many run already.
    #[error("{0} commands are running already; stop one or wait for its end")]
    TooMany(usize),
    /// Its output has no safe place.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// There is no jail for it.
    #[error("{0}")]
    Jail(JailError),
    /// The way out of its jail cannot be made.
    #[error("the command has no way out of its jail, so it does not run: {0}")]
    Egress(String),
    /// It cannot be recorded.
    #[error("the command cannot be recorded, so it does not run: {0}")]
    Unrecorded(#[from] AuditError),
    /// A program or the directory changed after the command was approved.
    #[error("{} changed after the command was approved", Shown::path(.0))]
    Changed(PathBuf),
    /// There is no thread to follow it.
    #[error("no thread can be started for the command: {0}")]
    Thread(std::io::Error),
    /// Its thread ended without a word.
    #[error("the thread that holds the command has ended")]
    Lost,
}

/// State of a command.
#[derive(Debug, Clone)]
pub enum Status {
    /// It runs.
    Running,
    /// It has ended.
    Ended(Arc<JobOutcome>),
    /// It could not be followed to its end, and everything in its jail was killed.
    Failed(Arc<str>),
}

impl Status {
    /// Returns true if it runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self, Self::Running)
    }
}

/// Outcome of a command.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobOutcome {
    /// Way in which it ended.
    pub end: End,
    /// Time that it ran.
    pub duration: Duration,
    /// Refused actions, if they were observed.
    pub denials: Vec<Denial>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// One command of a session, running or ended. Dropping it ends it.
#[derive(Debug)]
pub struct Job {
    shared: Arc<Shared>,
    id: String,
    line: String,
    started: SystemTime,
    began: Instant,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Conditions of a command that a guard has admitted.
pub(crate) struct Admission {
    /// Directory and programs, which must be unchanged when the command starts.
    pub(crate) approved: Approved,
    /// The way out of its jail, where the jail has the broker's network.
    pub(crate) egress: Option<SessionEgress>,
}

/// State that a job shares with its thread.
struct Shared {
    outputs: [Mutex<Output>; 2],
    status: Mutex<Status>,
    changed: Condvar,
    stop: OnceLock<Stop>,
    /// Woken by output and by the end.
    waiters: Mutex<Vec<Weak<dyn Wake>>>,
}

/// Starts a command. Comes back when it was let go, or with the reason why nothing has run.
pub(crate) fn start(
    id: String,
    choice: Choice,
    mut spec: Spec,
    order: JobRequest,
    journal: Journal,
    admission: Option<Admission>,
) -> Result<Arc<Job>, StartError> {
    if let Some(spills) = &order.spills {
        spills.check(&spec)?;
    }
    spec.limits.wall_clock = shorter(spec.limits.wall_clock, order.wall_clock);
    spec.limits.idle = shorter(spec.limits.idle, order.idle);
    let shared = Arc::new(Shared::new(&order));
    let line = order.line.clone();
    let thread = follow::spawn(&id, &shared, choice, spec, order, (journal, admission))?;
    let (started, began) = (SystemTime::now(), Instant::now());
    Ok(Arc::new(Job { shared, id, line, started, began, thread: Mutex::new(Some(thread)) }))
}

/// An order can only make a limit shorter.
fn shorter(limit: Option<Duration>, ordered: Option<Duration>) -> Option<Duration> {
    limit.into_iter().chain(ordered).min()
}

impl Job {
    /// Its name in the session.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the command as it was written.
    #[must_use]
    pub fn line(&self) -> &str {
        &self.line
    }

    /// When it started.
    #[must_use]
    pub const fn started(&self) -> SystemTime {
        self.started
    }

    /// Returns the time that it has been running, or ran.
    #[must_use]
    pub fn duration(&self) -> Duration {
        match self.status() {
            Status::Ended(ended) => ended.duration,
            Status::Running | Status::Failed(_) => self.began.elapsed(),
        }
    }

    /// Returns its state.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status().clone()
    }

    /// Waits for its end, or for so long. Who is asked to give up meanwhile stops the command and still sees its end.
    #[must_use]
    pub fn wait(&self, most: Option<Duration>, abort: &Abort) -> Status {
        let weak: Weak<Shared> = Arc::downgrade(&self.shared);
        abort.wakes(weak);
        // So long that it cannot be told is for ever.
        let until = most.and_then(|most| Instant::now().checked_add(most));
        let mut status = self.shared.status();
        let mut stopped = false;
        while status.is_running() {
            if !stopped && abort.is_aborted() {
                stopped = true;
                self.stop();
            }
            // A command that was stopped ends soon.
            let left =
                until.filter(|_| !stopped).map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                break;
            }
            status = self.shared.sleep(status, left);
        }
        status.clone()
    }

    /// Wakes a waiter whenever the command has written and when it has ended.
    pub fn notify(&self, waiter: Weak<dyn Wake>) {
        let mut waiters = self.shared.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.retain(|waiter| waiter.strong_count() > 0);
        waiters.push(waiter);
    }

    /// Returns its output so far.
    #[must_use]
    pub fn output(&self) -> Snapshot {
        let [output, error] = [Stream::Output, Stream::Error].map(|stream| self.shared.output(stream).kept());
        Snapshot { output, error }
    }

    /// The last lines of a stream, as far as they are kept.
    #[must_use]
    pub fn log(&self, stream: Stream, lines: usize) -> LastLines {
        self.shared.output(stream).last(lines)
    }

    /// Returns the output of a stream, from one offset on and as it was written.
    pub fn read(&self, stream: Stream, from: u64, most: usize) -> std::io::Result<Piece> {
        self.shared.output(stream).read(from, most)
    }

    fn has_spilled(&self) -> bool {
        [Stream::Output, Stream::Error].into_iter().any(|stream| self.shared.output(stream).is_spilled())
    }

    /// Asks it to end; a moment later everything in its jail is killed. Asking again changes nothing.
    pub fn stop(&self) {
        if let Some(stop) = self.shared.stop.get() {
            stop.ask();
        }
    }

    /// Waits until no thread follows it any more.
    fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Its panic has been told as a failure of the job.
            drop(thread.join());
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}

impl Shared {
    fn new(order: &JobRequest) -> Self {
        let output = || Mutex::new(Output::new(order.keep, order.spills.clone()));
        Self {
            outputs: [output(), output()],
            status: Mutex::new(Status::Running),
            changed: Condvar::new(),
            stop: OnceLock::new(),
            waiters: Mutex::default(),
        }
    }

    fn output(&self, stream: Stream) -> MutexGuard<'_, Output> {
        self.outputs[output::index(stream)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep<'a>(&'a self, status: MutexGuard<'a, Status>, most: Option<Duration>) -> MutexGuard<'a, Status> {
        match most {
            None => self.changed.wait(status).unwrap_or_else(PoisonError::into_inner),
            Some(most) => self.changed.wait_timeout(status, most).unwrap_or_else(PoisonError::into_inner).0,
        }
    }

    /// The end, once.
    fn end(&self, status: Status) {
        let mut now = self.status();
        if now.is_running() {
            *now = status;
        }
        drop(now);
        self.changed.notify_all();
        self.wake_waiters();
    }

    fn wake_waiters(&self) {
        let waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner).clone();
        waiters.iter().filter_map(Weak::upgrade).for_each(|waiter| waiter.wake());
    }
}

impl Tee for Shared {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        self.output(stream).write(bytes);
        self.wake_waiters();
    }
}

impl Wake for Shared {
    fn wake(&self) {
        // A thread that waits has either not looked yet or gets this.
        drop(self.status());
        self.changed.notify_all();
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("status", &*self.status()).finish_non_exhaustive()
    }
}
