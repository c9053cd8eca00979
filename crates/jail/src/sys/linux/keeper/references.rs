//! What the references of repositories led to before the command changed them.
//!
//! Everything that writes a reference passes the supervisor, so the references are read right before the first such write, and
//! only in runs that write one or ask what a repository had. What a repository had is proved from there, commit by commit.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use policy::{Act, Ground, Protected, ProtectedName, Verdict};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::known::Identity;
use super::{Shared, spawn};
use crate::commit_record::{BegunRun, CommitRecord, Recorded};
use crate::git_history::{Answer, History, tips};
use crate::launch::ProtectedCommit;

/// The repositories whose references the command has written, or which were asked.
pub(super) struct References {
    /// `None`: nothing counts as known.
    record: Option<CommitRecord>,
    /// Where the record is used from: other threads of the supervisor may not use the launcher's files.
    recorder: OnceLock<Sender<Job>>,
    repositories: Mutex<HashMap<PathBuf, Repository>>,
}

type Job = Box<dyn FnOnce() + Send>;

struct Repository {
    directory: OwnedFd,
    /// A word that stands for it in the record.
    word: String,
    run: BegunRun,
    recorded: Recorded,
    /// What was before this run and every other one that has not ended; read when it is needed.
    history: Option<History>,
    /// The time that questions may still take.
    left: Duration,
}

/// Time for all questions about one repository.
const LONGEST_QUESTIONS: Duration = Duration::from_secs(10);
/// Time for the look at what has come to a repository.
const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// Repositories of one run.
const MOST_REPOSITORIES: usize = 1000;
/// Commits that are told.
const MOST_TOLD: usize = 1000;

impl References {
    pub(super) fn new(record: Option<CommitRecord>) -> Self {
        Self { record, recorder: OnceLock::new(), repositories: Mutex::default() }
    }

    /// Starts the thread that uses the record, from one that may use the launcher's files.
    pub(super) fn start(&self) -> Result<(), Errno> {
        if self.record.is_none() {
            return Ok(());
        }
        let (sender, jobs) = channel::<Job>();
        spawn(move || jobs.into_iter().for_each(|job| job()))?;
        let _first = self.recorder.set(sender);
        Ok(())
    }

    /// Reads the references of a repository before the first of them is written. Fails if that cannot be recorded.
    pub(super) fn before_write(&self, shared: &Shared, top: &Path, path: &Path) -> Result<(), Errno> {
        if self.record.is_none() {
            return Ok(());
        }
        for directory in written_in(top, path) {
            let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
            if repositories.contains_key(directory) || !is_repository(shared, directory) {
                continue;
            }
            if repositories.len() >= MOST_REPOSITORIES {
                return Err(Errno::DQUOT);
            }
            let Ok(handle) = shared.listed_directory(directory) else { continue };
            let read = self.read(shared, handle).map_err(|error| {
                shared.fail(format!("the record of commits cannot be written: {error}"));
                Errno::from_io_error(&error).unwrap_or(Errno::IO)
            })?;
            repositories.insert(directory.to_owned(), read);
        }
        Ok(())
    }

    /// Whether a repository had a content at a path before the run.
    pub(super) fn had(&self, shared: &Shared, repository: &Path, path: &[u8], content: &[u8]) -> bool {
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        if !repositories.contains_key(repository) {
            if repositories.len() >= MOST_REPOSITORIES {
                return false;
            }
            let Ok(handle) = shared.listed_directory(repository) else { return false };
            let Ok(read) = self.read(shared, handle) else { return false };
            repositories.insert(repository.to_owned(), read);
        }
        let Some(repository) = repositories.get_mut(repository) else { return false };
        let (start, left) = (Instant::now(), repository.left);
        let answer = repository.history().map(|history| history.had(path, content, start + left));
        repository.left = left.saturating_sub(start.elapsed());
        matches!(answer, Some(Answer::Yes { .. }))
    }

    fn read(&self, shared: &Shared, directory: OwnedFd) -> io::Result<Repository> {
        let record = self.record.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let identity = Identity::of(&directory)?;
        // What the command has made itself had nothing before.
        let is_made = shared.repositories.is_made(identity) || identity.is_younger_than(shared.start);
        let now = if is_made { BTreeSet::new() } else { tips(&directory) };
        let word = identity.word();
        let (run, recorded) = self.record(
            move |record, word| {
                let run = record.begin(word, &now)?;
                Ok((run, record.read(word)?))
            },
            record.clone(),
            word.clone(),
        )?;
        Ok(Repository { directory, word, run, recorded, history: None, left: LONGEST_QUESTIONS })
    }

    /// Uses the record in the thread that may.
    fn record<T: Send + 'static>(
        &self,
        act: impl FnOnce(&CommitRecord, &str) -> io::Result<T> + Send + 'static,
        record: CommitRecord,
        word: String,
    ) -> io::Result<T> {
        let recorder = self.recorder.get().ok_or(io::ErrorKind::Unsupported)?;
        let (done, result) = channel();
        let job = move || {
            // Nobody else waits for it.
            let _gone = done.send(act(&record, &word));
        };
        recorder.send(Box::new(job)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        result.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?
    }

    /// Looks at what has come to the repositories, and records it. The jail has ended.
    pub(super) fn end(&self, protected: &Protected) -> (Vec<ProtectedCommit>, Vec<String>) {
        let (mut commits, mut notes) = (Vec::new(), Vec::new());
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, mut repository) in repositories.drain() {
            match self.end_one(&path, &mut repository, protected, &mut commits) {
                Ok(true) => {}
                Ok(false) => notes.push(format!(
                    "too much has changed in {} to look at every commit",
                    policy::Shown::path(&path)
                )),
                Err(error) => notes.push(format!("the record of commits cannot be written: {error}")),
            }
        }
        (commits, notes)
    }

    /// Returns false if it is not known what has come.
    fn end_one(
        &self,
        path: &Path,
        repository: &mut Repository,
        protected: &Protected,
        commits: &mut Vec<ProtectedCommit>,
    ) -> io::Result<bool> {
        let Some(record) = &self.record else { return Ok(true) };
        let wanted = |path: &Path| row(protected, path).is_some();
        let (now, until) = (tips(&repository.directory), Instant::now() + LONGEST_LOOK);
        let new = repository.history().map(|history| history.new_commits(&now, MOST_TOLD, wanted, until));
        let Repository { word, run, .. } = repository;
        let Some(new) = new else { return record.leave(run, word).map(|()| now.is_empty()) };
        commits.extend(new.commits.into_iter().map(|commit| {
            ProtectedCommit {
                repository: path.to_owned(),
                id: commit.id.to_string(),
                subject: commit.subject,
                paths: commit
                    .paths
                    .into_iter()
                    .filter_map(|path| Some((row(protected, &path)?, path)))
                    .map(|(row, path)| (path, row))
                    .collect(),
            }
        }));
        if !new.is_whole {
            return record.leave(run, word).map(|()| false);
        }
        record.end(run, word, &new.ids).map(|()| !new.cut)
    }
}

impl Repository {
    /// What it had before. `None` if it has no objects.
    fn history(&mut self) -> Option<&mut History> {
        if self.history.is_none() {
            // This run is among those that have not ended.
            let roots = self.recorded.oldest.clone().unwrap_or_default();
            self.history = History::new(&self.directory, roots, self.recorded.made.clone()).ok();
        }
        self.history.as_mut()
    }
}

/// The row of a path in a working tree.
fn row(protected: &Protected, path: &Path) -> Option<&'static ProtectedName> {
    match protected.judge(Ground::Tree, path, Act::File) {
        Verdict::Kept(row) => Some(row),
        _ => None,
    }
}

/// Every directory of a path that would be one of a repository whose references are written.
fn written_in<'a>(top: &'a Path, path: &'a Path) -> impl Iterator<Item = &'a Path> {
    let above = path.ancestors().take_while(move |above| above.starts_with(top));
    above.filter(|above| above.file_name().is_some_and(leads_to_references)).filter_map(Path::parent)
}

fn leads_to_references(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let begins = |start: &[u8]| name.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
    let ends = |end: &[u8]| {
        name.len().checked_sub(end.len()).is_some_and(|start| name[start..].eq_ignore_ascii_case(end))
    };
    ["refs", "logs", "worktrees", "reftable"].iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
        || begins(b"packed-refs")
        || ends(b"HEAD")
        || ends(b"HEAD.lock")
}

/// Whether a directory is one of a repository, or has the name of one.
fn is_repository(shared: &Shared, directory: &Path) -> bool {
    if directory.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git")) {
        return true;
    }
    let Ok(handle) = shared.directory(directory) else { return false };
    let has = |name: &str| rustix::fs::statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    // The part of a linked working tree has its references elsewhere.
    has("HEAD") && has("objects") && has("refs")
}

impl Identity {
    /// A word that stands for it.
    fn word(&self) -> String {
        let mut word = String::new();
        let (major, minor) = self.device;
        let (seconds, nanoseconds) = self.born;
        let _infallible = write!(word, "{major:x}.{minor:x}.{:x}.{seconds:x}.{nanoseconds:x}", self.inode);
        word
    }
}
