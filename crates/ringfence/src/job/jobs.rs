//! The commands of one session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jail::{Choice, Spec};

use super::{Admission, Job, JobRequest, StartError, start};
use crate::journal::Journal;

/// The commands of one session: those that run, and the last of those that have ended. Dropping it ends all of them.
#[derive(Debug)]
pub struct Jobs {
    most: usize,
    register: Mutex<Register>,
}

#[derive(Debug, Default)]
struct Register {
    last: u64,
    /// Between being asked for and being let go.
    starting: usize,
    jobs: BTreeMap<u64, Arc<Job>>,
}

impl Jobs {
    /// Default number of commands that a session runs at once.
    pub const MOST: usize = 16;

    /// Number of commands that have ended and are remembered, with their output.
    const REMEMBERED: usize = 64;

    /// None yet, and at most so many at once.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, register: Mutex::default() }
    }

    /// Starts a command. Comes back when it was let go, or with the reason why nothing has run.
    pub fn start(
        &self,
        choice: Choice,
        spec: Spec,
        order: JobRequest,
        journal: Journal,
    ) -> Result<Arc<Job>, StartError> {
        self.start_admitted(choice, spec, order, journal, None)
    }

    /// Starts a command under the conditions of its admission.
    pub(crate) fn start_admitted(
        &self,
        choice: Choice,
        spec: Spec,
        order: JobRequest,
        journal: Journal,
        admission: Option<Admission>,
    ) -> Result<Arc<Job>, StartError> {
        let place = self.place()?;
        self.forget(&order);
        let job = start(name(place.number), choice, spec, order, journal, admission)?;
        self.register().jobs.insert(place.number, Arc::clone(&job));
        Ok(job)
    }

    /// A command of this session by its name.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Arc<Job>> {
        let number = id.strip_prefix(PREFIX)?.parse().ok()?;
        self.register().jobs.get(&number).filter(|job| job.id() == id).cloned()
    }

    /// The commands of this session, the oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<Job>> {
        self.register().jobs.values().cloned().collect()
    }

    /// Asks all commands to end and waits until they have.
    pub fn stop(&self) {
        let jobs = self.list();
        for job in &jobs {
            job.stop();
        }
        for job in jobs {
            job.join();
        }
    }

    /// A number, and room for one more that runs.
    fn place(&self) -> Result<Place<'_>, StartError> {
        let mut register = self.register();
        let running = register.jobs.values().filter(|job| job.status().is_running()).count();
        if running + register.starting >= self.most {
            return Err(StartError::TooMany(self.most));
        }
        register.starting += 1;
        register.last += 1;
        Ok(Place { jobs: self, number: register.last })
    }

    /// Forgets the oldest that have ended: when there are many, and while the room for long output is short.
    fn forget(&self, order: &JobRequest) {
        let short = || order.spills.as_ref().is_some_and(|spills| spills.is_short());
        loop {
            let forgotten = {
                let mut register = self.register();
                let ended = || register.jobs.iter().filter(|(_, job)| !job.status().is_running());
                let spilled = ended().find(|(_, job)| short() && job.has_spilled());
                let old = ended().next().filter(|_| ended().count() >= Self::REMEMBERED);
                let Some(number) = old.or(spilled).map(|(number, _)| *number) else { return };
                register.jobs.remove(&number)
            };
            // Its thread is joined here, without the lock: no other thread waits for it.
            drop(forgotten);
        }
    }

    fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Place<'a> {
    jobs: &'a Jobs,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.jobs.register().starting -= 1;
    }
}

const PREFIX: &str = "job-";

fn name(number: u64) -> String {
    format!("{PREFIX}{number}")
}
