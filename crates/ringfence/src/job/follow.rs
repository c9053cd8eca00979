//! The thread of a job: holds its jail, records, releases the command, and follows it to its end.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use audit::AuditError;
use jail::{Capture, Choice, Command, JailError, Network, Outcome, RemovedInstruction, Spec, Stop, Streams};
use policy::Shown;

use super::{Admission, JobOutcome, JobRequest, Shared, StartError, Status};
use crate::approved::Approved;
use crate::jailed::{
    CloseEgress, HeldJail, HoldError, NO_BROKER, OpenEgress, ReleaseError, RunningJail, SessionEgress,
};
use crate::journal::{Journal, StartedJail};

/// Starts the thread. Returns when the command was released, or with the reason why it was not.
pub(super) fn spawn(
    id: &str,
    shared: &Arc<Shared>,
    choice: Choice,
    spec: Spec,
    order: JobRequest,
    (journal, admission): (Journal, Option<Admission>),
) -> Result<JoinHandle<()>, StartError> {
    let (approved, egress) =
        admission.map_or((None, None), |admission| (Some(admission.approved), admission.egress));
    // Connections into a network that waits for a broker would hang.
    if spec.network == Network::Broker && egress.is_none() {
        return Err(StartError::Egress("no policy on hosts came with the command".to_owned()));
    }
    let (tell, told) = mpsc::sync_channel(1);
    let follower = Follower { shared: Arc::clone(shared), journal, approved };
    let body = move || follower.follow(choice, spec, order, egress, &tell);
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
    journal: Journal,
    approved: Option<Approved>,
}

impl Follower {
    fn follow(
        self,
        choice: Choice,
        spec: Spec,
        order: JobRequest,
        egress: Option<SessionEgress>,
        tell: &SyncSender<Result<(), StartError>>,
    ) {
        // The status is set on every path, a panic included: a waiter always wakes.
        let _last = LastWord(Arc::clone(&self.shared));
        match self.begin(choice, spec, order, egress) {
            Ok((running, note)) => {
                // The receiver may be gone; the job goes on.
                let _told = tell.send(Ok(()));
                let ended = running.wait_then(|waited, removed, close| {
                    let refused = close.map(|close| close()).unwrap_or_default();
                    let notes: Vec<_> = note.map(ToOwned::to_owned).into_iter().chain(refused).collect();
                    self.settle(waited, &removed, notes)
                });
                self.shared.end(ended.last);
            }
            Err(error) => {
                let _told = tell.send(Err(error));
            }
        }
    }

    /// Starts the command, and returns a note on what its jail lacks.
    fn begin(
        &self,
        choice: Choice,
        spec: Spec,
        order: JobRequest,
        egress: Option<SessionEgress>,
    ) -> Result<(RunningJail<Option<CloseEgress>>, Option<&'static str>), StartError> {
        let program = order.argv.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let capture = Capture { input: order.input, keep: 0, tee: Some(Arc::clone(&self.shared) as _) };
        let command = Command {
            argv: order.argv,
            cwd: order.cwd,
            streams: Streams::Captured(capture),
            observe: order.observe,
        };
        let HeldWithEgress { held, spec, open, note } = self.hold(choice, spec, egress, &command)?;
        // The jail stands: this is as late as it can be.
        let approved = self.approved.as_ref().map_or(Ok(()), Approved::verify);
        approved.map_err(StartError::Changed)?;
        // Not recorded is not released: dropping the held jail ends it.
        self.journal.record_start(&StartedJail {
            provider: held.provider(),
            program: &program,
            enforcement: held.enforcement(),
            spec: &spec,
            ports: &[],
        })?;
        note.map_or(Ok(()), |note| self.journal.record_note(note))?;
        let open = |held: &mut jail::Held| open.map(|open| open(held, &self.journal)).transpose();
        let running = held.release(&spec, open).map_err(|error| {
            let unrecorded = self.journal.record_lost().err();
            unrecorded.map_or_else(
                || match error {
                    ReleaseError::Egress(why) => StartError::Egress(why),
                    ReleaseError::Jail(error) => StartError::Jail(error),
                    ReleaseError::Ports(error) => StartError::Thread(error),
                },
                StartError::Unrecorded,
            )
        })?;
        Ok((running, note))
    }

    /// Makes the jail, without a network where no provider has that of the broker and the policy does not insist on it.
    fn hold(
        &self,
        choice: Choice,
        mut spec: Spec,
        egress: Option<SessionEgress>,
        command: &Command,
    ) -> Result<HeldWithEgress, StartError> {
        let Some(SessionEgress { spec: with_egress, open, is_optional }) = egress else {
            let held = self.admit(make(choice, &spec, command))?;
            return Ok(HeldWithEgress { held, spec, open: None, note: None });
        };
        match make(choice, &with_egress, command) {
            Err(HoldError::Jail(error)) if is_optional && error.needs_broker() => {
                spec.network = Network::None;
                let held = self.admit(make(choice, &spec, command))?;
                Ok(HeldWithEgress { held, spec, open: None, note: Some(NO_BROKER) })
            }
            made => {
                let held = self.admit(made)?;
                Ok(HeldWithEgress { held, spec: with_egress, open: Some(open), note: None })
            }
        }
    }

    /// Keeps the handle that ends the command, or records why there is none.
    fn admit(&self, made: Result<(HeldJail, Stop), HoldError<Infallible>>) -> Result<HeldJail, StartError> {
        match made {
            Ok((held, stop)) => {
                self.shared.stop.get_or_init(|| stop);
                Ok(held)
            }
            Err(HoldError::Run(never)) => match never {},
            Err(HoldError::Jail(error)) => {
                // Nothing runs in both cases; a missing record is the graver reason.
                self.journal.record_refusal("auto", &error.to_string())?;
                Err(StartError::Jail(error))
            }
            Err(HoldError::Port(closed)) => Err(StartError::Thread(closed.why)),
        }
    }

    /// Records the end and the instructions that were removed, whether or not the command was followed to its end.
    fn settle(
        &self,
        waited: Result<&Outcome, &JailError>,
        removed: &[RemovedInstruction],
        notes: Vec<String>,
    ) -> Status {
        let told = removed
            .iter()
            .map(|removed| format!("{}: {}", Shown::path(&removed.path), Shown::text(&removed.reason)))
            .chain(notes);
        match waited {
            Ok(outcome) => {
                let end = self.journal.record_end(outcome.end, outcome.survived, outcome.duration);
                let unrecorded = self.record(end.err(), removed);
                Status::Ended(Arc::new(JobOutcome {
                    end: outcome.end,
                    duration: outcome.duration,
                    denials: outcome.denials.clone(),
                    notes: outcome.notes.iter().cloned().chain(told).chain(unrecorded).collect(),
                }))
            }
            // It ran until it could not be followed any more, and was killed.
            Err(error) => {
                let unrecorded = self.record(self.journal.record_lost().err(), removed);
                let lines: Vec<_> = [error.to_string()].into_iter().chain(told).chain(unrecorded).collect();
                Status::Failed(lines.join("; ").into())
            }
        }
    }

    /// Records instructions that were removed. The command has run; a gap in the records is told.
    fn record(&self, end: Option<AuditError>, removed: &[RemovedInstruction]) -> Vec<String> {
        let end = end.map(|error| format!("the end is not recorded: {error}"));
        let failed = removed.iter().filter_map(|removed| self.journal.record_removed(removed).err());
        let failed = failed.map(|error| format!("a removed instruction is not recorded: {error}"));
        end.into_iter().chain(failed).collect()
    }
}

/// A jail that stands, and its way out, which opens when the command is released.
struct HeldWithEgress {
    held: HeldJail,
    /// The spec of the jail.
    spec: Spec,
    open: Option<OpenEgress>,
    /// What the jail lacks.
    note: Option<&'static str>,
}

fn make(choice: Choice, spec: &Spec, command: &Command) -> Result<(HeldJail, Stop), HoldError<Infallible>> {
    let mut held = HeldJail::make(None, choice, spec, command, &[])?;
    let stop = held.stop().map_err(HoldError::Jail)?;
    Ok((held, stop))
}

/// Marks a job as failed when its thread ends without a status.
struct LastWord(Arc<Shared>);

impl Drop for LastWord {
    fn drop(&mut self) {
        self.0.end(Status::Failed("the thread that followed the command has ended".into()));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;
    use std::sync::Mutex;

    use audit::{Event, Sink};

    use super::*;

    /// Keeps the lines, and records no more than so many.
    struct Lines(Mutex<Vec<String>>, usize);

    impl Sink for Lines {
        fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
            let mut lines = self.0.lock().unwrap();
            if lines.len() == self.1 {
                let (step, path) = ("write", "/ledger".into());
                return Err(AuditError::Unwritable { step, path, source: io::ErrorKind::StorageFull.into() });
            }
            lines.push(match event {
                Event::JailEnded { signal, .. } => format!("ended by {signal:?}"),
                Event::JailTripped { path, .. } => format!("removed {}", path.0.display()),
                other => other.name().to_owned(),
            });
            Ok(())
        }
    }

    #[test]
    fn a_failed_wait_tells_and_records_removed_instructions() {
        let rows: &[(usize, &[&str], &str)] = &[
            (9, &["ended by Some(9)", "removed /todo"], "/todo: git runs this line"),
            (1, &["ended by Some(9)"], "a removed instruction is not recorded: cannot write the ledger"),
            (0, &[], "the end is not recorded: cannot write the ledger"),
        ];
        for (room, recorded, told) in rows {
            let lines = Arc::new(Lines(Mutex::default(), *room));
            let order = JobRequest::shell("true", Path::new("/"), 0);
            let journal = Journal::new(Arc::clone(&lines) as _, "job", "library");
            let follower = Follower { shared: Arc::new(Shared::new(&order)), journal, approved: None };
            let error = JailError::BadCommand("lost");
            let removed = RemovedInstruction { path: "/todo".into(), reason: "git runs this line".into() };
            let Status::Failed(failed) = follower.settle(Err(&error), &[removed], Vec::new()) else {
                panic!("{room}")
            };
            assert!(failed.contains(told) && failed.contains("git runs this line"), "{failed}");
            assert_eq!(*lines.0.lock().unwrap(), *recorded);
        }
    }
}
