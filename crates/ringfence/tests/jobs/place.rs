//! A directory for one test, and a session in it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jail::{Choice, JailError, Layer, Level, Require, Spec};
use policy::Limits;
use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::Abort;
use ringfence::job::{Job, JobOutcome, JobRequest, Jobs, Spills, StartError, Status};
use ringfence::journal::Journal;
use tempfile::TempDir;

use crate::skip::skipped;

/// A directory for one test, removed with everything in it.
pub(crate) struct Place {
    whole: TempDir,
    pub(crate) jobs: Jobs,
    pub(crate) records: Records,
}

impl Place {
    /// `None` where no jail can be made, which is said.
    pub(crate) fn new(what: &str) -> Option<Self> {
        let whole = tempfile::tempdir().unwrap();
        fs::set_permissions(whole.path(), Permissions::from_mode(0o755)).unwrap();
        for (name, mode) in [("work", 0o755), ("spills", 0o700)] {
            fs::create_dir(whole.path().join(name)).unwrap();
            fs::set_permissions(whole.path().join(name), Permissions::from_mode(mode)).unwrap();
        }
        let place = Self { whole, jobs: Jobs::new(Jobs::MOST), records: Records::default() };
        match place.start(place.order("true")) {
            Err(StartError::Jail(error @ JailError::Unavailable { .. })) => {
                skipped(what, &error.to_string());
                None
            }
            started => {
                drop(started.unwrap());
                place.jobs.stop();
                let records = Records::default();
                Some(Self { jobs: Jobs::new(Jobs::MOST), records, ..place })
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn spec(&self) -> Spec {
        let mut spec = Spec::for_workspace(&self.path("work"), "/home/agent".as_ref(), Limits::none());
        spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("SHLVL".into(), "1".into())];
        spec.require =
            Require::FULL.with(Layer::Files, Level::Partial).with(Layer::Processes, Level::Partial);
        spec
    }

    pub(crate) fn spills(&self) -> Arc<Spills> {
        Spills::open(&self.path("spills"), Spills::DEFAULT).unwrap()
    }

    pub(crate) fn order(&self, line: &str) -> JobRequest {
        JobRequest::shell(line, &self.path("work"), 50_000)
    }

    pub(crate) fn start(&self, order: JobRequest) -> Result<Arc<Job>, StartError> {
        self.jobs.start(Choice::Auto, self.spec(), order, self.records.journal())
    }

    pub(crate) fn run(&self, order: JobRequest) -> (Arc<Job>, Arc<JobOutcome>) {
        let job = self.start(order).unwrap();
        let ended = ended(&job);
        (job, ended)
    }

    /// Returns true if a process of this machine has this place in its command line.
    pub(crate) fn is_alive(&self, word: &str) -> bool {
        let word = format!("{word}-{}", self.path("").display());
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        let mut lines = processes.filter_map(|path| fs::read(path.join("cmdline")).ok());
        lines.any(|line| String::from_utf8_lossy(&line).split('\0').any(|it| it == word))
    }

    /// A command that stays, and can be found by a word.
    pub(crate) fn stay(&self, word: &str) -> String {
        format!(
            "bash -c 'trap \"\" TERM HUP; while :; do sleep 1000; done' '{word}-{}'",
            self.path("").display()
        )
    }
}

/// Returns the end of a job, which has to have ended.
#[track_caller]
pub(crate) fn ended(job: &Job) -> Arc<JobOutcome> {
    match job.wait(Some(Duration::from_secs(60)), &Abort::new()) {
        Status::Ended(ended) => ended,
        other => panic!("{other:?}"),
    }
}

/// Waits for something that has to come.
#[track_caller]
pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Recorded events, and a switch for whether recording works.
#[derive(Clone, Default)]
pub(crate) struct Records {
    pub(crate) lines: Arc<Mutex<Vec<String>>>,
    pub(crate) broken: Option<&'static str>,
}

impl Records {
    /// The journal that a job writes here.
    pub(crate) fn journal(&self) -> Journal {
        Journal::new(Arc::new(self.clone()), "request", "library")
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl Sink for Records {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let line = match event {
            Event::JailStarted { syscalls, .. } => format!("started, syscalls {}", syscalls.word()),
            Event::JailRefused { reason, .. } => format!("refused {}", reason.0),
            Event::JailEnded { exit: Some(code), .. } => format!("ended {code}"),
            Event::JailEnded { signal: Some(signal), .. } => format!("ended {}", 128 + signal),
            Event::JailEnded { outcome, .. } => format!("ended {}", outcome.word()),
            Event::JailTripped { reason, .. } => format!("removed {}", reason.0),
            other => other.name().to_owned(),
        };
        assert_ne!(self.broken, Some("panic"), "as ordered");
        assert!(!self.broken.is_some_and(|broken| broken == "panic at the end" && line.starts_with("ended")));
        if self.broken.is_some_and(|broken| line.starts_with(broken)) {
            let (step, path) = ("write", "/ledger".into());
            return Err(AuditError::Unwritable { step, path, source: io::ErrorKind::StorageFull.into() });
        }
        self.lines.lock().unwrap().push(line);
        Ok(())
    }
}
