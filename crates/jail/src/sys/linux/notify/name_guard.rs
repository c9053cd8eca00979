//! The notify supervisor: makes names in a command's place.
//!
//! A call that makes or moves a name or opens a file for writing is not done by the kernel as the command made it, but here:
//! the path is read once, looked up once by handle, judged, and the call is done with that handle. The command gets the result.
//!
//! **Invariant.** A call with a path is never continued: the command could change the path after it was judged.
//! **Invariant.** Everything is done on a mount of the jail, as the jail's user, without powers: never more than the command
//! could have done itself. Only a pipe that the caller has open already may come from elsewhere.

mod brokered_call;
mod caller;
mod checkout;
mod fold;
mod ground;
mod known;
mod links;
mod names_lock;
mod path;
mod perform;
mod references;
mod repository;
mod settings;
mod socket;
mod staging;

use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use policy::Protected;
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::process::Pid;

use super::observe::call::{self, Notice};
use super::observe::{denial, uses};
use crate::git::commit_record::CommitRecord;
use crate::launch::{Denial, ProtectedCommit, ProtectedWrite, WriteResult};
use crate::plan::{Owner, Plan, Sight};
use crate::spec::Spec;
use crate::sys::linux::calls::{confine, notify};
use crate::uses::{Use, Uses};
use checkout::Checkouts;
use ground::Grounds;
use known::Repositories;
use names_lock::NamesLock;
use references::References;
use socket::SocketNames;

/// Threads that answer the supervised calls of a jail until its last process has ended.
///
/// **Invariant.** Every wait for them has a limit: a file system that does not answer can hold one for ever.
pub(crate) struct NameGuard {
    shared: Arc<Shared>,
    /// Every thread has the other end until it ends.
    ended: Receiver<Infallible>,
    /// The first thread has the other end until the repositories are known.
    ready: Receiver<Infallible>,
}

/// Results of the supervisor when the jail has ended.
#[derive(Default)]
pub(crate) struct Report {
    /// Refusals, each once, in the order of the first attempts.
    pub(crate) denials: Vec<Denial>,
    /// Protected names that were written.
    pub(crate) protected_writes: Vec<ProtectedWrite>,
    /// Commits that change protected names.
    pub(crate) commits: Vec<ProtectedCommit>,
    /// Observed uses.
    pub(crate) uses: Uses,
    /// Failures of the supervisor itself.
    pub(crate) notes: Vec<String>,
}

/// Time for the threads to notice that the jail has ended.
const LAST_CALLS: Duration = Duration::from_secs(2);
/// Longest delay of the command until the repositories are known.
const LONGEST_LOOK: Duration = Duration::from_millis(200);

/// Facts about the jail that the supervisor needs.
pub(crate) struct About {
    /// Protected names and mounts.
    pub(crate) grounds: Grounds,
    /// User that files are made as.
    pub(crate) user: Owner,
    /// Visible paths, if refusals are explained.
    pub(crate) sight: Option<Sight>,
    /// Record of the commits that jails make.
    pub(crate) record: Option<CommitRecord>,
}

impl About {
    /// Collects the facts; `None` if nothing of the host can be changed and refusals are not explained.
    pub(crate) fn of(spec: &Spec, plan: &Plan, explain: bool) -> Option<Self> {
        let grounds = Grounds::of(spec, plan);
        let user = plan.identity.outside;
        let sight = explain.then(|| Sight::of(plan));
        (sight.is_some() || !grounds.is_empty()).then_some(Self {
            grounds,
            user,
            sight,
            record: spec.commit_record.clone(),
        })
    }

    /// Returns true if names are made by the supervisor.
    pub(crate) fn keeps(&self) -> bool {
        !self.grounds.is_empty()
    }
}

/// State that all threads of the supervisor share.
struct Shared {
    listener: OwnedFd,
    /// The root directory of the jail.
    root: OwnedFd,
    /// Its first process, which is there as long as the jail is.
    first: Pid,
    about: About,
    /// The mounts of the jail; known when the first call comes.
    mounts: OnceLock<Vec<u64>>,
    /// The umask that the command started with; looked up when the first call comes.
    umask: OnceLock<Mode>,
    /// Set once a process has changed its umask.
    umasks_differ: AtomicBool,
    /// Held from the lookup of a path until the call is done.
    names_lock: NamesLock,
    repositories: Repositories,
    references: References,
    checkouts: Checkouts,
    sockets: SocketNames,
    /// Failures of the supervisor itself.
    failures: Mutex<Vec<String>>,
    told: Mutex<Told>,
    writes: Mutex<Writes>,
    seen: Mutex<Uses>,
    /// The directory in which a name was made last.
    place: Mutex<Option<Place>>,
}

/// A directory and its path a moment ago.
struct Place {
    identity: (u64, u64),
    since: Instant,
    path: PathBuf,
}

/// Life of a remembered path: a process outside the jail may move the directory.
const MOMENT: Duration = Duration::from_millis(20);

/// Refusals, each once.
#[derive(Default)]
struct Told {
    order: Vec<Denial>,
    known: HashSet<Denial>,
}

/// Protected names that were written, by their paths.
#[derive(Default)]
struct Writes {
    written: BTreeMap<PathBuf, (&'static policy::ProtectedName, WriteResult)>,
    /// Writes beyond those that are listed.
    unlisted: usize,
}

/// Written names that are listed.
const MOST_WRITES: usize = 5000;

/// A program that is refused something new every time is told about this often.
const MOST: usize = 200;
/// Failures that are told.
const MOST_FAILURES: usize = 10;

impl NameGuard {
    /// Starts listening. `root` is the root directory of the jail, and `first` its first process.
    pub(crate) fn start(listener: OwnedFd, root: OwnedFd, first: Pid, about: About) -> Result<Self, Errno> {
        notify::listen_on_the_spot(listener.as_fd());
        let references = References::new(about.record.clone());
        let shared = Arc::new(Shared {
            listener,
            root,
            first,
            about,
            mounts: OnceLock::new(),
            umask: OnceLock::new(),
            umasks_differ: AtomicBool::new(false),
            names_lock: NamesLock::default(),
            repositories: Repositories::default(),
            references,
            checkouts: Checkouts::default(),
            sockets: SocketNames::default(),
            failures: Mutex::default(),
            told: Mutex::default(),
            writes: Mutex::default(),
            seen: Mutex::default(),
            place: Mutex::default(),
        });
        let ((alive, ended), (looking, ready)) = (channel(), channel());
        let listening = Arc::clone(&shared);
        spawn(move || listening.listen_together(&alive, looking))?;
        Ok(Self { shared, ended, ready })
    }

    /// Waits until the repositories are known: the command could take them apart. Not for ever; no call is answered before.
    pub(crate) fn wait_until_ready(&self) {
        let _known_or_late = self.ready.recv_timeout(LONGEST_LOOK);
    }

    /// Returns the results. The jail has ended; a thread that does not notice in time is left behind.
    pub(crate) fn report(self) -> Report {
        let stuck = self.ended.recv_timeout(LAST_CALLS) == Err(RecvTimeoutError::Timeout);
        let mut report = Report::default();
        if !stuck {
            checkout::finish_all(&self.shared);
            let everything = self.shared.protected().clone().everything();
            (report.commits, report.notes) = self.shared.references.end(&everything);
        }
        if let Some(mut writes) = available(&self.shared.writes) {
            let written = std::mem::take(&mut writes.written).into_iter();
            report.protected_writes =
                written.map(|(path, (name, result))| ProtectedWrite { path, name, result }).collect();
            let unlisted = writes.unlisted;
            report.notes.extend(
                (unlisted > 0).then(|| format!("{unlisted} more writes to protected names are not listed")),
            );
        }
        if let Some(mut told) = available(&self.shared.told) {
            report.denials = std::mem::take(&mut told.order);
        }
        if let Some(mut seen) = available(&self.shared.seen) {
            report.uses = std::mem::take(&mut seen);
        }
        if let Some(mut failures) = available(&self.shared.failures) {
            report.notes.append(&mut failures);
        }
        report.notes.extend(stuck.then(|| STUCK.to_owned()));
        report
    }
}

const STUCK: &str = "the notify supervisor did not stop within 2 s; its last refusals may be missing";

/// Takes a lock unless it is held.
fn available<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Errno> {
    let work = move || {
        let _ends_the_launcher = AbortOnPanic;
        work();
    };
    let spawned = std::thread::Builder::new().name("names".to_owned()).spawn(work);
    spawned.map(drop).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))
}

/// Aborts the process if its thread panics: the jail ends with the launcher, and no caller waits for an answer that does not
/// come. The release profile aborts by itself; this is for profiles that unwind.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

impl Shared {
    /// Waits for the first call alone: many commands make none.
    ///
    /// Others then do the next calls while one waits for its caller to take the answer.
    fn listen_together(self: &Arc<Self>, alive: &Sender<Infallible>, looking: Sender<Infallible>) {
        if self.about.keeps() {
            self.look_around();
        }
        drop(looking);
        let Some(notice) = call::next(&self.listener) else { return };
        if let Err(errno) = self.references.start() {
            self.fail(format!("cannot start a thread of the notify supervisor: {errno}"));
        }
        let others = if call::ends_by_itself() { 2 } else { 0 };
        for _ in 0..others {
            let (listening, alive) = (Arc::clone(self), alive.clone());
            let spawned = spawn(move || {
                listening.listen(None);
                drop(alive);
            });
            if let Err(errno) = spawned {
                self.fail(format!("cannot start a thread of the notify supervisor: {errno}"));
            }
        }
        self.listen(Some(notice));
    }

    /// Looks for repositories before the command starts.
    fn look_around(&self) {
        for top in self.about.grounds.tops() {
            let Ok(handle) = self.listed_directory(top) else { continue };
            // The repository of the top comes first: not all can be held.
            let own = repository::common_directory(self, top);
            let modules = own.iter().flat_map(|own| repository::modules(self, own)).collect::<Vec<_>>();
            let below = self.repositories.look_through(&handle).into_iter().map(|below| top.join(below));
            for path in own.into_iter().chain(modules).chain(below) {
                self.references.add(self, &path.components().collect::<PathBuf>());
            }
        }
        checkout::remember(self, self.about.grounds.tops());
    }

    fn listen(self: &Arc<Self>, first: Option<Notice>) {
        let user = self.about.user;
        let ready = confine::use_files_as(user.uid, user.gid);
        let mut callers = caller::Callers::default();
        let mut next = first.or_else(|| call::next(&self.listener));
        while let Some(notice) = next {
            let done = match ready {
                Ok(()) => self.hear(&notice, &mut callers),
                Err(errno) => Done::Answered(Err(errno)),
            };
            self.reply(notice.id, done);
            next = call::next(&self.listener);
        }
    }

    fn fail(&self, what: String) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < MOST_FAILURES {
            failures.push(what);
        }
    }

    /// A directory of the jail by its path, to be listed.
    fn listed_directory(&self, path: &std::path::Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(self.directory(path)?, c".", flags, Mode::empty())
    }

    fn hear(self: &Arc<Self>, notice: &Notice, callers: &mut caller::Callers) -> Done {
        if let Some(sight) = &self.about.sight {
            let (denial, uses) = (denial(notice, sight), uses::of(notice));
            // If the caller no longer waits, its memory may have been that of another process.
            if self.is_waiting(notice.id) {
                if let Some(denial) = denial {
                    self.tell(denial);
                }
                self.note(uses);
            }
        }
        if !self.about.keeps() {
            return Done::Continue;
        }
        perform::perform(self, notice, callers)
    }

    fn is_waiting(&self, id: u64) -> bool {
        notify::is_waiting(self.listener.as_fd(), id)
    }

    fn reply(&self, id: u64, done: Done) {
        let listener = self.listener.as_fd();
        // Fails if the caller has ended meanwhile or has too many descriptors.
        let _ended = match done {
            Done::Continue => notify::go_on(listener, id),
            Done::Answered(result) => notify::answer(listener, id, result),
            Done::Opened(file, close_on_exec) => notify::give(listener, id, file, close_on_exec)
                .or_else(|errno| notify::answer(listener, id, Err(errno))),
            // Another thread answers.
            Done::Later => Ok(()),
        };
    }

    fn note(&self, uses: Vec<Use>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for used in uses {
            seen.add(used);
        }
    }

    fn tell(&self, denial: Denial) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.order.len() < MOST && told.known.insert(denial.clone()) {
            told.order.push(denial);
        }
    }

    /// Records that a protected name was written. The last result counts.
    fn wrote(&self, path: PathBuf, name: &'static policy::ProtectedName, result: WriteResult) {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        if writes.written.len() < MOST_WRITES || writes.written.contains_key(&path) {
            writes.written.insert(path, (name, result));
        } else {
            writes.unlisted += 1;
        }
    }

    /// Fails with `EACCES` unless a handle is on a mount of the jail.
    fn is_inside(&self, handle: &OwnedFd) -> Result<(), Errno> {
        self.identity(handle).map(drop)
    }

    /// The mount and the number of something on a mount of the jail.
    fn identity(&self, handle: &OwnedFd) -> Result<(u64, u64), Errno> {
        let mounts = self.mounts.get_or_init(|| caller::mounts(self.first));
        let wanted = StatxFlags::MNT_ID | StatxFlags::INO;
        let found = rustix::fs::statx(handle, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, wanted)?;
        let inside = mounts.binary_search(&found.stx_mnt_id).is_ok();
        if inside { Ok((found.stx_mnt_id, found.stx_ino)) } else { Err(Errno::ACCESS) }
    }

    /// The path of a directory on a mount of the jail. Files are made many at a time in one: it is remembered for a moment, and
    /// only until a directory is made or moved.
    fn place(&self, directory: &OwnedFd) -> Result<PathBuf, Errno> {
        let identity = self.identity(directory)?;
        let mut known = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(place) if place.identity == identity && place.since.elapsed() < MOMENT => {
                Ok(place.path.clone())
            }
            _ => {
                let path = path::place(directory)?;
                *known = Some(Place { identity, since: Instant::now(), path: path.clone() });
                Ok(path)
            }
        }
    }

    fn forget_places(&self) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A directory of the jail by its path.
    fn directory(&self, path: &std::path::Path) -> Result<OwnedFd, Errno> {
        let path = path.strip_prefix("/").unwrap_or(path);
        let path = if path.as_os_str().is_empty() { std::path::Path::new(".") } else { path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), path::STRAIGHT)
    }

    const fn protected(&self) -> &Protected {
        self.about.grounds.protected()
    }

    fn usual_umask(&self) -> Mode {
        *self.umask.get_or_init(caller::own_umask)
    }

    fn start_differing(&self, umask: u32) {
        if Mode::from_raw_mode(umask & 0o777) != self.usual_umask() {
            self.umasks_differ.store(true, Ordering::Release);
        }
    }
}

/// Result of a call.
enum Done {
    /// It has no path in it, or nothing is kept.
    Continue,
    /// It was done, or refused.
    Answered(Result<(), Errno>),
    /// A file was opened; true if it is closed on exec.
    Opened(OwnedFd, bool),
    /// It takes long, and another thread answers.
    Later,
}

/// Records a refusal because of a name.
fn refused(shared: &Shared, path: PathBuf, name: &'static policy::ProtectedName) -> Errno {
    shared.tell(Denial::Protected(path, name));
    Errno::PERM
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs itself a second time, with a variable that has a thread panic.
    #[test]
    fn a_panic_of_a_thread_ends_the_process() {
        use std::os::unix::process::ExitStatusExt as _;
        const PANICS: &str = "RINGFENCE_TEST_PANICS";
        if std::env::var_os(PANICS).is_some() {
            spawn(|| panic!("deliberate")).unwrap();
            // The abort comes first.
            std::thread::park_timeout(Duration::from_secs(60));
            return;
        }
        let name = "sys::linux::notify::name_guard::tests::a_panic_of_a_thread_ends_the_process";
        let mut second = std::process::Command::new(std::env::current_exe().unwrap());
        let second = second.args(["--exact", name]).env(PANICS, "1").output().unwrap();
        assert_eq!(second.status.signal(), Some(libc::SIGABRT), "{second:?}");
    }

    #[test]
    fn what_is_locked_is_not_waited_for() {
        let lock = Mutex::new(1);
        let held = lock.lock();
        assert!(available(&lock).is_none());
        drop(held);
        assert!(available(&lock).is_some());
    }
}
