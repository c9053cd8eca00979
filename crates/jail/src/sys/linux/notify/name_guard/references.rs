//! References of repositories as they were before the command changed them.
//!
//! Every call that writes a reference passes the supervisor, so the references are read right before the first such call, and only
//! in runs that make one or ask for the history of a repository. The history is proved from there, commit by commit. Repositories
//! near the top are opened before the command starts: the command can close directories on the way to them.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::fmt::Write as _;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use policy::{Act, Ground, Protected, ProtectedName, Verdict};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::known::Identity;
use super::path::{STRAIGHT, kind};
use super::{Shared, spawn};
use crate::git::commit_record::{BegunRun, CommitRecord, Recorded};
use crate::launch::ProtectedCommit;
use ::git::{Answer, History, NewCommits, ObjectId, tips};

/// Repositories that existed when the command started, and directories that it made for new ones.
pub(super) struct References {
    /// `None`: no content counts as known.
    record: Option<CommitRecord>,
    /// Queue of the thread that uses the record: the other threads of the supervisor cannot open the launcher's files.
    recorder: OnceLock<Sender<Job>>,
    repositories: Mutex<Vec<Repository>>,
    made: Mutex<HashMap<Identity, PathBuf>>,
    /// Remaining time for questions.
    left: Mutex<Duration>,
}

type Job = Box<dyn FnOnce() + Send>;

/// A repository that existed when the command started, by handle.
struct Repository {
    path: PathBuf,
    directory: OwnedFd,
    identity: Identity,
    read: Option<ReadReferences>,
}

/// References of a repository, recorded.
struct ReadReferences {
    run: BegunRun,
    recorded: Recorded,
    /// History before this run and every other one that has not ended; opened when it is needed.
    history: Option<History>,
}

/// Time for all questions.
const LONGEST_QUESTIONS: Duration = Duration::from_secs(10);
/// Time for the look at what has come to all repositories.
const LONGEST_LOOK: Duration = Duration::from_secs(3);
/// Repositories that are held by a handle. In others no content counts as known, in this run or in a later one.
const MOST_REPOSITORIES: usize = 64;
/// Commits that are told.
const MOST_TOLD: usize = 1000;

impl References {
    pub(super) fn new(record: Option<CommitRecord>) -> Self {
        Self {
            record,
            recorder: OnceLock::new(),
            repositories: Mutex::default(),
            made: Mutex::default(),
            left: Mutex::new(LONGEST_QUESTIONS),
        }
    }

    /// Opens a repository before the command starts. One that cannot be opened is read when a reference in it is written.
    pub(super) fn add(&self, shared: &Shared, path: &Path) {
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        if self.record.is_none() || repositories.len() >= MOST_REPOSITORIES {
            return;
        }
        let Ok(directory) = shared.listed_directory(path) else { return };
        // The part of a linked working tree has its references elsewhere.
        if kind(&directory, &c"commondir".to_owned()).is_some() {
            return;
        }
        let Ok(identity) = Identity::of(&directory) else { return };
        if repositories.iter().all(|known| known.identity != identity) {
            repositories.push(Repository { path: path.to_owned(), directory, identity, read: None });
        }
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

    /// Reads and records the references of a repository before the first of them is written. Fails if that is not possible.
    pub(super) fn before_write(&self, shared: &Shared, top: &Path, path: &Path) -> Result<(), Errno> {
        if self.record.is_none() {
            return Ok(());
        }
        for directory in written_in(top, path) {
            self.before_write_in(shared, directory).map_err(|error| {
                shared.fail(format!("the record of commits cannot be used: {error}"));
                Errno::from_io_error(&error).unwrap_or(Errno::IO)
            })?;
        }
        Ok(())
    }

    fn before_write_in(&self, shared: &Shared, path: &Path) -> io::Result<()> {
        let handle = match shared.directory(path) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            handle => handle?,
        };
        let identity = Identity::of(&handle)?;
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = repositories.iter_mut().find(|known| known.identity == identity) {
            return self.read(known).map(drop);
        }
        if !has_parts(&handle) || self.is_made(&identity) || is_part(shared, path, &handle)? {
            return Ok(());
        }
        if repositories.len() >= MOST_REPOSITORIES {
            let record = self.record.clone().ok_or(io::ErrorKind::Unsupported)?;
            return self.record(CommitRecord::add_unknown, record, identity.word());
        }
        // Without its references nothing would be known about the commits that come.
        let directory = shared.listed_directory(path)?;
        let mut found = Repository { path: path.to_owned(), directory, identity, read: None };
        self.read(&mut found).map(drop)?;
        repositories.push(found);
        Ok(())
    }

    fn is_made(&self, identity: &Identity) -> bool {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).contains_key(identity)
    }

    /// Remembers and records a directory that may become a repository. Fails if that is not possible.
    pub(super) fn add_made(&self, path: PathBuf, identity: Identity) -> Result<(), Errno> {
        let Some(record) = self.record.clone() else { return Ok(()) };
        let recorded = self.record(CommitRecord::begin_new, record, identity.word());
        recorded.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(identity, path);
        Ok(())
    }

    /// Returns true if a repository had a content at a path before the run.
    pub(super) fn had(&self, shared: &Shared, repository: &Path, path: &[u8], content: &[u8]) -> bool {
        let identity = shared.directory(repository).and_then(|directory| Identity::of(&directory));
        let Ok(identity) = identity else { return false };
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(repository) = repositories.iter_mut().find(|known| known.identity == identity) else {
            return false;
        };
        let Ok(read) = self.read(repository) else { return false };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let answer = read.history().map(|history| history.had(path, content, start + *left));
        *left = left.saturating_sub(start.elapsed());
        matches!(answer, Some(Answer::Yes { .. }))
    }

    /// Reads and records the references of a repository, once.
    fn read<'a>(&self, repository: &'a mut Repository) -> io::Result<Opened<'a>> {
        let record = self.record.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let Repository { directory, identity, read, .. } = repository;
        if read.is_none() {
            // Fewer references prove less.
            let now = tips(directory).ids;
            let begin = move |record: &CommitRecord, word: &str| {
                let run = record.begin(word, &now)?;
                Ok((run, record.read(word)?))
            };
            let (run, recorded) = self.record(begin, record.clone(), identity.word())?;
            *read = Some(ReadReferences { run, recorded, history: None });
        }
        let read = read.as_mut().ok_or(io::ErrorKind::NotFound)?;
        Ok(Opened { directory, read })
    }

    /// Runs an operation on the record in the recorder thread.
    fn record<T: Send + 'static>(
        &self,
        act: impl FnOnce(&CommitRecord, &str) -> io::Result<T> + Send + 'static,
        record: CommitRecord,
        word: String,
    ) -> io::Result<T> {
        let recorder = self.recorder.get().ok_or(io::ErrorKind::Unsupported)?;
        let (done, result) = channel();
        let job = move || {
            // Fails if the supervisor has given up; there is no other receiver.
            let _gone = done.send(act(&record, &word));
        };
        recorder.send(Box::new(job)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        result.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?
    }

    /// Records the commits that came to the repositories, and returns those that change protected names. The jail has ended.
    pub(super) fn end(&self, protected: &Protected) -> (Vec<ProtectedCommit>, Vec<String>) {
        let Some(record) = &self.record else { return (Vec::new(), Vec::new()) };
        let mut end = End { record, protected, until: Instant::now() + LONGEST_LOOK, commits: Vec::new() };
        let mut notes = Vec::new();
        let repositories =
            std::mem::take(&mut *self.repositories.lock().unwrap_or_else(PoisonError::into_inner));
        for mut repository in repositories {
            let path = policy::Shown::path(&repository.path).to_string();
            match end.repository(&mut repository) {
                Ok(true) => {}
                Ok(false) => notes.push(format!("not every commit that came to {path} could be looked at")),
                Err(error) => notes.push(format!("the record of commits cannot be written: {error}")),
            }
        }
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        for (identity, path) in made {
            if let Err(error) = end.made(&path, identity) {
                notes.push(format!("the record of commits cannot be written: {error}"));
            }
        }
        (end.commits, notes)
    }
}

/// The end of a run.
struct End<'a> {
    record: &'a CommitRecord,
    protected: &'a Protected,
    until: Instant,
    commits: Vec<ProtectedCommit>,
}

impl End<'_> {
    /// Records the commits of one repository. Returns false if not all of them were inspected.
    fn repository(&mut self, repository: &mut Repository) -> io::Result<bool> {
        let Repository { path, directory, identity, read } = repository;
        let Some(read) = read else { return Ok(true) };
        let word = identity.word();
        let now = tips(directory);
        let new = Opened { directory, read: &mut *read }
            .history()
            .map(|history| self.look_at(path, history, &now.ids));
        match new {
            Some(new) if now.is_whole && new.is_whole => {
                self.record.end(&read.run, &word, &new.ids).map(|()| !new.cut)
            }
            // A directory without objects and references is no repository.
            None if now.is_empty() => self.record.end(&read.run, &word, &BTreeSet::new()).map(|()| true),
            _ => self.record.leave(&read.run, &word).map(|()| false),
        }
    }

    /// Records the commits of a repository that the command made. One that is no longer at its path may have been moved.
    fn made(&mut self, path: &Path, identity: Identity) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let found = rustix::fs::openat2(CWD, path, flags, Mode::empty(), STRAIGHT);
        let found = found.ok().filter(|found| Identity::of(found).is_ok_and(|own| own == identity));
        let ids = found.and_then(|directory| {
            let now = tips(&directory);
            let history = History::new(&directory, [], BTreeSet::new()).ok();
            let Some(mut history) = history else { return now.is_empty().then(BTreeSet::new) };
            let new = self.look_at(path, &mut history, &now.ids);
            (now.is_whole && new.is_whole).then_some(new.ids)
        });
        self.record.end_new(&identity.word(), ids.as_ref())
    }

    /// Collects new commits, and adds those that change protected names to the result.
    fn look_at(&mut self, path: &Path, history: &mut History, now: &BTreeSet<ObjectId>) -> NewCommits {
        let protected = self.protected;
        let wanted = |path: &Path| row(protected, path).is_some();
        let mut new = history.new_commits(now, MOST_TOLD, wanted, self.until);
        let with_row = |path: PathBuf| row(protected, &path).map(|row| (path, row));
        self.commits.extend(new.commits.drain(..).map(|commit| ProtectedCommit {
            repository: path.to_owned(),
            id: commit.id.to_string(),
            subject: commit.subject,
            paths: commit.paths.into_iter().filter_map(with_row).collect(),
        }));
        new
    }
}

/// A repository whose references are read.
struct Opened<'a> {
    directory: &'a OwnedFd,
    read: &'a mut ReadReferences,
}

impl<'a> Opened<'a> {
    /// Opens the history. `None` if the repository has no objects.
    fn history(self) -> Option<&'a mut History> {
        let ReadReferences { recorded, history, .. } = self.read;
        if history.is_none() {
            // This run is among those that have not ended.
            let roots = recorded.oldest.clone().unwrap_or_default();
            *history = History::new(self.directory, roots, recorded.made.clone()).ok();
        }
        history.as_mut()
    }
}

/// The row of a path in a working tree.
fn row(protected: &Protected, path: &Path) -> Option<&'static ProtectedName> {
    match protected.judge(Ground::Tree, path, Act::File) {
        Verdict::Kept(row) => Some(row),
        _ => None,
    }
}

/// Directories on the way to a path that would be repositories if the path is one of a reference.
fn written_in<'a>(top: &'a Path, path: &'a Path) -> impl Iterator<Item = &'a Path> {
    let above = path.ancestors().take_while(move |above| above.starts_with(top));
    above.filter(|above| above.file_name().is_some_and(leads_to_references)).filter_map(Path::parent)
}

/// Returns true if a directory has a part that no command can take from a repository and give back: without both, completing it
/// again is refused.
fn has_parts(directory: &OwnedFd) -> bool {
    let has = |name: &CString| kind(directory, name).is_some();
    has(&c"objects".to_owned()) || has(&c"HEAD".to_owned())
}

/// Returns true for a directory in `logs`, `refs` or `worktrees` of a repository that has no objects of its own: a file called `HEAD` is
/// a log or a reference of that repository there.
fn is_part(shared: &Shared, path: &Path, directory: &OwnedFd) -> io::Result<bool> {
    let objects = c"objects".to_owned();
    if kind(directory, &objects).is_some() {
        return Ok(false);
    }
    let holds = |above: &&Path| {
        above.file_name().is_some_and(|name| name == "logs" || name == "refs" || name == "worktrees")
    };
    for repository in path.ancestors().filter(holds).filter_map(Path::parent) {
        let handle = match shared.directory(repository) {
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            handle => handle?,
        };
        if kind(&handle, &objects).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true for names of references, and of directories and files that hold them.
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

impl Identity {
    /// Name in the record.
    fn word(&self) -> String {
        let mut word = String::new();
        let (major, minor) = self.device;
        let (seconds, nanoseconds) = self.born;
        let _infallible = write!(word, "{major:x}.{minor:x}.{:x}.{seconds:x}.{nanoseconds:x}", self.inode);
        word
    }
}
