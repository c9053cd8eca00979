//! The thread of a job: holds its jail, records, lets the command go, and follows it.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use jail::{Capture, Choice, Command, GitStateSnapshot, Held, JailError, Running, Spec, Streams};
use policy::Shown;

use super::{Ended, Journal, Order, Shared, StartError, Status};

/// Starts the thread. Comes back when the command was let go, or with the reason why it was not.
pub(super) fn spawn(
    id: &str,
    shared: &Arc<Shared>,
    choice: Choice,
    spec: Spec,
    order: Order,
    journal: Box<dyn Journal>,
) -> Result<JoinHandle<()>, StartError> {
    let (tell, told) = mpsc::sync_channel(1);
    let follower = Follower { shared: Arc::clone(shared), journal };
    let body = move || follower.follow(choice, &spec, order, &tell);
    let thread = thread::Builder::new().name(id.to_owned()).spawn(body).map_err(StartError::Thread)?;
    match told.recv() {
        Ok(Ok(())) => Ok(thread),
        Ok(Err(error)) => {
            drop(thread.join());
            Err(error)
        }
        Err(_) => {
            drop(thread.join());
            Err(StartError::Lost)
        }
    }
}

struct Follower {
    shared: Arc<Shared>,
    journal: Box<dyn Journal>,
}

impl Follower {
    fn follow(
        mut self,
        choice: Choice,
        spec: &Spec,
        order: Order,
        tell: &SyncSender<Result<(), StartError>>,
    ) {
        // Whatever happens here, nobody waits for an end that does not come.
        let _last = LastWord(Arc::clone(&self.shared));
        let unfinished = GitStateSnapshot::capture(spec);
        match self.begin(choice, spec, order) {
            Ok(running) => {
                // Whoever is gone does not want to know.
                let _told = tell.send(Ok(()));
                self.wait(running, &unfinished);
            }
            Err(error) => {
                let _told = tell.send(Err(error));
            }
        }
    }

    fn begin(&mut self, choice: Choice, spec: &Spec, order: Order) -> Result<Running, StartError> {
        let capture = Capture { input: order.input, keep: 0, tee: Some(Arc::clone(&self.shared) as _) };
        let command = Command {
            argv: order.argv,
            cwd: order.cwd,
            streams: Streams::Captured(capture),
            observe: order.observe,
        };
        let held = self.hold(choice, spec, &command)?;
        // Not recorded is not released: dropping what is held ends it.
        self.journal.started(held.provider(), held.enforcement())?;
        held.release().map_err(|error| {
            let unrecorded = self.journal.ended(Err(&error)).err();
            unrecorded.map_or(StartError::Jail(error), StartError::Unrecorded)
        })
    }

    fn hold(&mut self, choice: Choice, spec: &Spec, command: &Command) -> Result<Held, StartError> {
        let made = jail::hold(choice, spec, command).and_then(|mut held| {
            let stop = held.stop()?;
            Ok((held, stop))
        });
        match made {
            Ok((held, stop)) => {
                self.shared.stop.get_or_init(|| stop);
                Ok(held)
            }
            Err(error) => {
                // Nothing happens either way; that it could not be recorded is the graver reason.
                self.journal.refused(&error)?;
                Err(StartError::Jail(error))
            }
        }
    }

    fn wait(&mut self, running: Running, unfinished: &GitStateSnapshot) {
        let waited = running.wait();
        let taken = unfinished.remove_new().into_iter();
        let taken =
            taken.map(|taken| format!("{}: {}", Shown::path(&taken.path), Shown::text(&taken.reason)));
        let status = match waited {
            Ok(outcome) => {
                let mut ended = Ended {
                    end: outcome.end,
                    duration: outcome.duration,
                    denials: outcome.denials,
                    notes: outcome.notes.into_iter().chain(taken).collect(),
                };
                if let Err(unrecorded) = self.journal.ended(Ok(&ended)) {
                    // The command has run; that its end is not recorded is told.
                    ended.notes.push(format!("the end is not recorded: {unrecorded}"));
                }
                Status::Ended(Arc::new(ended))
            }
            Err(error) => Status::Failed(self.lost(&error).into()),
        };
        self.shared.end(status);
    }

    /// It ran until it could not be followed any more, and was killed.
    fn lost(&mut self, error: &JailError) -> String {
        match self.journal.ended(Err(error)) {
            Ok(()) => error.to_string(),
            Err(unrecorded) => format!("{error}; the end is not recorded: {unrecorded}"),
        }
    }
}

/// Says that a job has failed if nobody has said anything.
struct LastWord(Arc<Shared>);

impl Drop for LastWord {
    fn drop(&mut self) {
        self.0.end(Status::Failed("the thread that followed the command has ended".into()));
    }
}
