//! The thread of a job: holds its jail, records, lets the command go, and follows it.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use jail::{
    Capture, Choice, Command, GitStateSnapshot, Held, JailError, Outcome, RemovedInstruction, Running, Spec,
    Streams,
};
use policy::Shown;

use super::{Ended, Journal, Order, Shared, StartError, Status, Unrecorded};

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
        let snapshot = GitStateSnapshot::capture(spec);
        match self.begin(choice, spec, order) {
            Ok(running) => {
                // Whoever is gone does not want to know.
                let _told = tell.send(Ok(()));
                self.wait(running, &snapshot);
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

    fn wait(&mut self, running: Running, snapshot: &GitStateSnapshot) {
        let waited = running.wait();
        let removed = snapshot.remove_new();
        let status = self.settle(waited, &removed);
        self.shared.end(status);
    }

    /// Records the end and the instructions that were removed, whether or not the command was followed to its end.
    fn settle(&mut self, waited: Result<Outcome, JailError>, removed: &[RemovedInstruction]) -> Status {
        let told = removed
            .iter()
            .map(|removed| format!("{}: {}", Shown::path(&removed.path), Shown::text(&removed.reason)));
        match waited {
            Ok(outcome) => {
                let mut ended = Ended {
                    end: outcome.end,
                    duration: outcome.duration,
                    denials: outcome.denials,
                    notes: outcome.notes.into_iter().chain(told).collect(),
                };
                let unrecorded = self.journal.ended(Ok(&ended)).err();
                ended.notes.extend(self.record(unrecorded, removed));
                Status::Ended(Arc::new(ended))
            }
            // It ran until it could not be followed any more, and was killed.
            Err(error) => {
                let unrecorded = self.journal.ended(Err(&error)).err();
                let unrecorded = self.record(unrecorded, removed);
                let lines: Vec<_> = [error.to_string()].into_iter().chain(told).chain(unrecorded).collect();
                Status::Failed(lines.join("; ").into())
            }
        }
    }

    /// Records instructions that were removed. The command has run; a gap in the records is told.
    fn record(&mut self, end: Option<Unrecorded>, removed: &[RemovedInstruction]) -> Vec<String> {
        let end = end.map(|unrecorded| format!("the end is not recorded: {unrecorded}"));
        let failed = removed.iter().filter_map(|removed| self.journal.removed(removed).err());
        let failed = failed.map(|unrecorded| format!("a removed instruction is not recorded: {unrecorded}"));
        end.into_iter().chain(failed).collect()
    }
}

/// Says that a job has failed if nobody has said anything.
struct LastWord(Arc<Shared>);

impl Drop for LastWord {
    fn drop(&mut self) {
        self.0.end(Status::Failed("the thread that followed the command has ended".into()));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use jail::{Enforcement, Provider};

    use super::*;

    /// Keeps the lines, and records no more than so many.
    struct Lines(Arc<Mutex<Vec<String>>>, usize);

    impl Lines {
        fn add(&self, line: String) -> Result<(), Unrecorded> {
            let mut lines = self.0.lock().unwrap();
            if lines.len() == self.1 {
                return Err(Unrecorded("the disk is full".into()));
            }
            lines.push(line);
            Ok(())
        }
    }

    impl Journal for Lines {
        fn started(&mut self, _: Provider, _: &Enforcement) -> Result<(), Unrecorded> {
            Ok(())
        }

        fn refused(&mut self, _: &JailError) -> Result<(), Unrecorded> {
            Ok(())
        }

        fn ended(&mut self, came: Result<&Ended, &JailError>) -> Result<(), Unrecorded> {
            self.add(format!("ended {}", came.is_ok()))
        }

        fn removed(&mut self, instruction: &RemovedInstruction) -> Result<(), Unrecorded> {
            self.add(format!("removed {}", instruction.path.display()))
        }
    }

    #[test]
    fn a_failed_wait_tells_and_records_removed_instructions() {
        let rows: &[(usize, &[&str], &str)] = &[
            (9, &["ended false", "removed /todo"], "/todo: git runs this line"),
            (1, &["ended false"], "a removed instruction is not recorded: the disk is full"),
            (0, &[], "the end is not recorded: the disk is full"),
        ];
        for (room, recorded, told) in rows {
            let lines = Arc::default();
            let order = Order::shell("true", Path::new("/"), 0);
            let journal = Box::new(Lines(Arc::clone(&lines), *room));
            let mut follower = Follower { shared: Arc::new(Shared::new(&order)), journal };
            let error = JailError::BadCommand("lost");
            let removed = RemovedInstruction { path: "/todo".into(), reason: "git runs this line".into() };
            let Status::Failed(failed) = follower.settle(Err(error), &[removed]) else { panic!("{room}") };
            assert!(failed.contains(told) && failed.contains("git runs this line"), "{failed}");
            assert_eq!(*lines.lock().unwrap(), *recorded);
        }
    }
}
