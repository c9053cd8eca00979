//! Commands as futures, for programs that use tokio.
//!
//! The core is synchronous. [`AsyncSession`] runs it in threads of its own: no future here blocks the runtime, dropping a future ends
//! the processes behind it, and [`Abort`] is the token that cancels a call from elsewhere.
//!
//! ```
//! use std::sync::Arc;
//! use ringfence::future::{AnswerFuture, AsyncApprover, AsyncSession, blocking_approver};
//! use ringfence::guard::{Answer, Question};
//! use ringfence::{Preset, Sandbox};
//!
//! /// Waits for a person in another task.
//! struct Chat;
//!
//! impl AsyncApprover for Chat {
//!     fn approve(&self, question: Question) -> AnswerFuture<'_> {
//!         Box::pin(async move {
//!             tokio::task::yield_now().await;
//!             Ok(if question.tool == "exec" { Answer::AllowOnce } else { Answer::DenyOnce })
//!         })
//!     }
//! }
//!
//! # let directory = std::env::temp_dir().join(format!("ringfence-doc-future-{}", std::process::id()));
//! # std::fs::create_dir_all(directory.join("project"))?;
//! # let (workspace, state) = (directory.join("project"), directory.join("state"));
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let sandbox = Sandbox::builder()
//!     .preset(Preset::Workspace)
//!     .workspace(workspace)
//!     .state(state)
//!     .approver(blocking_approver(Arc::new(Chat)))
//!     .build()?;
//! let session = AsyncSession::new(sandbox.session("my-agent")?);
//! match session.run("echo hello").await {
//!     Ok(ran) => assert_eq!(ran.output, "hello\n"),
//!     Err(why) => println!("no jail here: {why}"),
//! }
//! # drop(session);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::thread;

use guard::{Abort, Answer, Approver, Question, Unanswered, Wake};
use jail::Stream;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use crate::command::{CommandResult, NotStarted, read_outcome};
use crate::job::{Job, StartError};
use crate::session::Session;

/// A session whose calls are futures.
///
/// Dropping it ends the session in a thread of its own, so that the runtime does not wait for the processes.
pub struct AsyncSession(Option<Arc<Session>>);

/// A call of a session that runs in a thread of its own. Dropping it cancels the call.
#[must_use = "dropping it cancels the call"]
pub struct Performing<T> {
    result: oneshot::Receiver<T>,
    thread: Option<std::io::Error>,
    cancel: CancelOnDrop,
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerformError {
    /// The operating system gives no thread for the call.
    #[error("cannot start a thread for the call")]
    Thread(#[source] std::io::Error),
    /// The call panicked.
    #[error("the call panicked")]
    Panicked,
}

/// A command that runs. Dropping it ends the command.
#[must_use = "dropping it ends the command"]
pub struct AsyncJob {
    command: Arc<StopOnDrop>,
    /// The session lives as long as its command.
    session: Option<Arc<Session>>,
    notifier: Arc<Notifier>,
    /// The position up to which each stream was returned.
    read: [u64; 2],
}

/// Bytes that a command has written, exactly as it wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// The stream.
    pub stream: Stream,
    /// The bytes. They are untrusted: escape them before they reach a terminal.
    pub bytes: Vec<u8>,
}

impl AsyncSession {
    /// Wraps a session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self(Some(Arc::new(session)))
    }

    /// Returns the session, for calls that do not wait.
    #[must_use]
    #[expect(clippy::missing_panics_doc, clippy::expect_used, reason = "it is taken by drop alone")]
    pub fn session(&self) -> &Arc<Session> {
        self.0.as_ref().expect("a session until it is dropped")
    }

    /// Runs a line with a shell in the jail. Dropping the future ends every process that the line started.
    pub async fn run(&self, line: &str) -> Result<CommandResult, NotStarted> {
        self.run_until(line, &Abort::new()).await
    }

    /// Runs a line with a shell in the jail until it ends or `abort` is thrown.
    pub async fn run_until(&self, line: &str, abort: &Abort) -> Result<CommandResult, NotStarted> {
        let line = line.to_owned();
        let ran = self.perform_until(abort, move |session, abort| session.run_until(&line, abort)).await;
        ran.unwrap_or_else(|error| Err(error.into()))
    }

    /// Starts a line with a shell in the jail, and returns when it runs. Throwing `abort` ends it, too.
    pub async fn start(&self, line: &str, abort: &Abort) -> Result<AsyncJob, NotStarted> {
        let line = line.to_owned();
        // Stopped at any point where it is dropped, also on the way here.
        let start = move |session: &Session, abort: &Abort| {
            session.start_line(&line, abort).map(|job| Arc::new(StopOnDrop(Some(job))))
        };
        let started = self.perform_until(abort, start).await;
        let command = started.unwrap_or_else(|error| Err(error.into()))?;
        let notifier = Arc::new(Notifier::default());
        let waiter: Weak<Notifier> = Arc::downgrade(&notifier);
        command.job().notify(waiter);
        let waiter: Weak<StopOnDrop> = Arc::downgrade(&command);
        abort.wakes(waiter);
        if abort.is_aborted() {
            command.wake();
        }
        Ok(AsyncJob { command, session: Some(Arc::clone(self.session())), notifier, read: [0; 2] })
    }

    /// Performs a call that may wait, such as one of a tool, in a thread of its own. The call has to heed the token that it is given.
    pub fn perform<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Session, &Abort) -> T + Send + 'static,
    ) -> Performing<T> {
        self.perform_until(&Abort::new(), call)
    }

    /// Performs a call that is also cancelled by a token of the caller.
    pub fn perform_until<T: Send + 'static>(
        &self,
        abort: &Abort,
        call: impl FnOnce(&Session, &Abort) -> T + Send + 'static,
    ) -> Performing<T> {
        let cancel = CancelOnDrop::child_of(abort);
        let (session, token) = (Arc::clone(self.session()), cancel.abort.clone());
        let (send, result) = oneshot::channel();
        let body = move || {
            let result = call(&session, &token);
            // The last owner ends the session; here nothing waits for that.
            drop(session);
            // A receiver that is gone has cancelled the call.
            drop(send.send(result));
        };
        let thread = thread::Builder::new().name("ringfence call".to_owned()).spawn(body).err();
        Performing { result, thread, cancel }
    }
}

impl Drop for AsyncSession {
    fn drop(&mut self) {
        drop_in_thread(self.0.take());
    }
}

impl<T> Future for Performing<T> {
    type Output = Result<T, PerformError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(error) = self.thread.take() {
            return Poll::Ready(Err(PerformError::Thread(error)));
        }
        Pin::new(&mut self.result).poll(context).map_err(|_| PerformError::Panicked)
    }
}

impl<T> Performing<T> {
    /// Cancels the call; its result says so.
    pub fn cancel(&self) {
        self.cancel.abort.abort();
    }
}

impl From<PerformError> for NotStarted {
    fn from(error: PerformError) -> Self {
        match error {
            PerformError::Thread(error) => StartError::Thread(error).into(),
            PerformError::Panicked => StartError::Lost.into(),
        }
    }
}

impl AsyncJob {
    /// Returns the job, which says how the command is doing.
    #[must_use]
    pub fn job(&self) -> &Arc<Job> {
        self.command.job()
    }

    /// Returns the next bytes that the command has written; `None` after its end.
    ///
    /// The order within a stream is kept, the order of the two streams is not. Output beyond the limits of the session is left out.
    pub async fn next(&mut self) -> Result<Option<Chunk>, std::io::Error> {
        loop {
            // Looked at first: bytes that are written before the end are read after it.
            let running = self.job().status().is_running();
            for (index, stream) in [Stream::Output, Stream::Error].into_iter().enumerate() {
                let (job, from) = (Arc::clone(self.job()), self.read[index]);
                let read = tokio::task::spawn_blocking(move || job.read(stream, from, CHUNK)).await;
                let piece = read.map_err(std::io::Error::other)??;
                if !piece.bytes.is_empty() {
                    self.read[index] = piece.next;
                    return Ok(Some(Chunk { stream, bytes: piece.bytes }));
                }
            }
            if !running {
                return Ok(None);
            }
            self.notifier.0.notified().await;
        }
    }

    /// Waits for the end of the command.
    pub async fn wait(self) -> Result<CommandResult, NotStarted> {
        while self.job().status().is_running() {
            self.notifier.0.notified().await;
        }
        read_outcome(self.job())
    }
}

impl Drop for AsyncJob {
    fn drop(&mut self) {
        self.command.wake();
        drop_in_thread(self.session.take());
    }
}

/// A command that is stopped when it is dropped, and when a token is thrown.
struct StopOnDrop(Option<Arc<Job>>);

impl StopOnDrop {
    #[expect(clippy::expect_used, reason = "it is taken by drop alone")]
    fn job(&self) -> &Arc<Job> {
        self.0.as_ref().expect("a job until it is dropped")
    }
}

impl Wake for StopOnDrop {
    fn wake(&self) {
        self.job().stop();
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.wake();
        drop_in_thread(self.0.take());
    }
}

/// Drops a value that waits for processes in its drop, if this is its last owner.
fn drop_in_thread<T: Send + Sync + 'static>(shared: Option<Arc<T>>) {
    let Some(last) = shared.and_then(Arc::into_inner) else { return };
    // Without a thread it is dropped here, with the closure.
    drop(thread::Builder::new().name("ringfence end".to_owned()).spawn(move || drop(last)));
}

/// The most bytes that one chunk has.
const CHUNK: usize = 64 << 10;

/// Wakes the task that waits for a job or a token.
#[derive(Default)]
struct Notifier(Notify);

impl Wake for Notifier {
    fn wake(&self) {
        self.0.notify_one();
    }
}

/// Returns when the token is thrown.
pub async fn aborted(abort: &Abort) {
    let notifier = Arc::new(Notifier::default());
    let waiter: Weak<Notifier> = Arc::downgrade(&notifier);
    abort.wakes(waiter);
    // Registered before it is looked at, and a wake that comes too early is kept.
    while !abort.is_aborted() {
        notifier.0.notified().await;
    }
}

/// A token of one call: thrown when the call is dropped, and when the caller's token is thrown.
struct CancelOnDrop {
    abort: Abort,
    _forward: Arc<Forward>,
}

impl CancelOnDrop {
    fn child_of(parent: &Abort) -> Self {
        let abort = Abort::new();
        let forward = Arc::new(Forward(abort.clone()));
        let waiter: Weak<Forward> = Arc::downgrade(&forward);
        parent.wakes(waiter);
        if parent.is_aborted() {
            abort.abort();
        }
        Self { abort, _forward: forward }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// Throws the token of a call when the caller's is thrown.
struct Forward(Abort);

impl Wake for Forward {
    fn wake(&self) {
        self.0.abort();
    }
}

/// The future of an answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, Unanswered>> + Send + 'a>>;

/// An approver that may await: a message to a chat, a form in a browser, a queue.
pub trait AsyncApprover: Send + Sync {
    /// Answers a question. The future is dropped when the request is cancelled.
    fn approve(&self, question: Question) -> AnswerFuture<'_>;
}

/// Turns an approver that awaits into one for [`crate::SandboxBuilder::approver`]. Call it in the runtime that drives its futures.
///
/// # Panics
///
/// Outside of a tokio runtime.
#[must_use]
pub fn blocking_approver(approver: Arc<dyn AsyncApprover>) -> Arc<dyn Approver> {
    Arc::new(BlockingApprover { approver, runtime: Handle::current() })
}

struct BlockingApprover {
    approver: Arc<dyn AsyncApprover>,
    runtime: Handle,
}

impl Approver for BlockingApprover {
    fn approve(&self, question: &Question, abort: &Abort) -> Result<Answer, Unanswered> {
        // The guard asks in a thread of its own, so waiting here blocks no task.
        self.runtime.block_on(async {
            let mut answer = self.approver.approve(question.clone());
            let mut cancelled = pin!(aborted(abort));
            poll_fn(|context| {
                if let Poll::Ready(answer) = answer.as_mut().poll(context) {
                    return Poll::Ready(answer);
                }
                cancelled.as_mut().poll(context).map(|()| Err(Unanswered::Aborted))
            })
            .await
        })
    }
}
