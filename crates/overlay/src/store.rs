//! The directory of overlays, and their locks.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use policy::{Ground, Protected};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::change::Change;
use crate::error::{At as _, OverlayError};
use crate::manifest::{Manifest, Moment, State, View};
use crate::protection::Protection;
use crate::side::Side;
use crate::walk::Walk;
use crate::{marks, remove};
use git::{Directory, Look, raw};

/// Directory of overlays.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
}

/// Which overlay a command writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlayChoice {
    /// The newest of the workspace, or a new one.
    Newest,
    /// A new one.
    New,
    /// This one, by the beginning of its id.
    Id(String),
}

/// One overlay.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Overlay {
    /// Its name.
    pub id: String,
    /// Its manifest.
    pub manifest: Manifest,
    path: PathBuf,
}

/// Directories for the changes of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeDirectory {
    /// The view.
    pub path: PathBuf,
    /// A directory with `upper` and `work` in it.
    pub directory: PathBuf,
}

/// Proof that no other process uses an overlay.
#[derive(Debug)]
pub struct Lock {
    held: OwnedFd,
}

/// Prefix of names that are being removed.
pub(crate) const GONE: &str = ".gone-";

impl Store {
    /// The store in the directory of Ringfence's state.
    #[must_use]
    pub fn at(state: &Path) -> Self {
        Self { path: state.join("overlays") }
    }

    /// Every overlay, the newest first. What is damaged is told in its place.
    pub fn list(&self) -> Result<Vec<Result<Overlay, OverlayError>>, OverlayError> {
        let directory = match Directory::open(&self.path) {
            Err(Errno::NOENT) => return Ok(Vec::new()),
            other => other.at("cannot open", &self.path)?,
        };
        let names = directory.names().at("cannot read", &self.path)?;
        let names = names.iter().filter_map(|name| name.to_str()).filter(|name| !name.starts_with('.'));
        let mut all: Vec<_> = names.map(|name| Overlay::open(&self.path, name)).collect();
        let began = |found: &Result<Overlay, _>| found.as_ref().ok().map(|overlay| overlay.manifest.began);
        all.sort_by_key(|found| std::cmp::Reverse(began(found)));
        Ok(all)
    }

    /// The newest overlay of a workspace.
    pub fn newest(&self, workspace: &Path) -> Result<Option<Overlay>, OverlayError> {
        let mut sound = self.list()?.into_iter().filter_map(Result::ok);
        Ok(sound.find(|overlay| overlay.manifest.workspace == workspace))
    }

    /// The overlay whose id begins like this.
    pub fn find(&self, start: &str) -> Result<Overlay, OverlayError> {
        let fits = |found: &Result<Overlay, OverlayError>| match found {
            Ok(overlay) => overlay.id.starts_with(start),
            Err(OverlayError::Damaged { id, .. }) => id.starts_with(start),
            Err(_) => false,
        };
        let mut found = self.list()?.into_iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(only), None) if !start.is_empty() => only,
            (Some(_), Some(_)) => Err(OverlayError::Ambiguous(start.to_owned())),
            _ => Err(OverlayError::Unknown(start.to_owned())),
        }
    }

    /// Removes an overlay that is damaged, by its whole id.
    pub fn remove(&self, id: &str) -> Result<(), OverlayError> {
        let path = self.path.join(id);
        let plain = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !plain || !path.is_dir() {
            return Err(OverlayError::Unknown(id.to_owned()));
        }
        let lock = Lock::take(&path, id)?;
        remove_at(&self.path, id, lock)
    }

    /// An overlay for a command that may change these views; each is the directory of a repository itself, or not.
    pub fn begin(
        &self,
        wanted: &OverlayChoice,
        workspace: &Path,
        command: &str,
        views: &[(PathBuf, bool)],
    ) -> Result<(Overlay, Lock, Vec<ChangeDirectory>), OverlayError> {
        let old = match wanted {
            OverlayChoice::Newest => self.newest(workspace)?,
            OverlayChoice::New => None,
            OverlayChoice::Id(id) => Some(self.find(id)?),
        };
        let Some(overlay) = old else {
            let (overlay, lock) = self.make(workspace)?;
            let id = overlay.id.clone();
            return match overlay.go_on(command, views) {
                Ok((overlay, kept)) => Ok((overlay, lock, kept)),
                // It is empty, and its name was not given out.
                Err(error) => remove_at(&self.path, &id, lock).and(Err(error)),
            };
        };
        if overlay.manifest.workspace != workspace {
            return Err(OverlayError::Unknown(overlay.id));
        }
        let lock = overlay.hold()?;
        let (overlay, kept) = overlay.go_on(command, views)?;
        Ok((overlay, lock, kept))
    }

    fn make(&self, workspace: &Path) -> Result<(Overlay, Lock), OverlayError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.path);
        made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            .at("cannot make", &self.path)?;
        let store = Directory::open(&self.path).at("cannot open", &self.path)?;
        let id = loop {
            let id = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
            let id = id[..8].to_owned();
            if store.make(&id, 0o700).at("cannot make", &self.path.join(&id))? {
                break id;
            }
        };
        let path = self.path.join(&id);
        let lock = Lock::take(&path, &id)?;
        let began = lock.moment().at("cannot write", &path)?;
        let manifest = Manifest {
            workspace: workspace.to_owned(),
            began,
            command: String::new(),
            state: State::Running,
            views: Vec::new(),
            own: BTreeMap::new(),
            unlinked: BTreeMap::new(),
        };
        Ok((Overlay { id, manifest, path }, lock))
    }
}

impl Overlay {
    fn open(store: &Path, id: &str) -> Result<Self, OverlayError> {
        let path = store.join(id);
        let damaged = |why: &str| OverlayError::Damaged { id: id.to_owned(), why: why.to_owned() };
        let directory = Directory::open(&path).map_err(|_| damaged("it is not a directory"))?;
        let file = directory.file(OsStr::new(MANIFEST)).map_err(|_| damaged("it has no manifest"))?;
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text).map_err(|_| damaged("its manifest cannot be read"))?;
        let manifest = Manifest::read(&text).ok_or_else(|| damaged("its manifest is not one of ours"))?;
        Ok(Self { id: id.to_owned(), manifest, path })
    }

    /// Locks it against other processes.
    pub fn hold(&self) -> Result<Lock, OverlayError> {
        Lock::take(&self.path, &self.id)
    }

    /// Returns true if a process uses it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self.hold(), Err(OverlayError::Busy(_)))
    }

    /// Every change, in the order of their paths.
    pub fn changes(&self) -> Result<Vec<Change>, OverlayError> {
        let mut all = Vec::new();
        for (view, at) in self.manifest.views.iter().enumerate() {
            let (upper, lower) = (self.upper(view)?, self.lower(view)?);
            let ground = if at.repository { Ground::Repository } else { Ground::Tree };
            let names = Protected::all();
            let protection = Protection { names, ground, lower: &lower, upper: &upper };
            let walk = Walk {
                id: &self.id,
                view,
                manifest: &self.manifest,
                protection,
                changes: Vec::new(),
                linked: HashSet::new(),
                undecided: Vec::new(),
            };
            all.extend(walk.whole()?);
        }
        all.sort_by(|one, other| (one.view, &one.path).cmp(&(other.view, &other.path)));
        self.settle_moved(&mut all)?;
        free_finished(&mut all);
        Ok(all)
    }

    /// Clears the mark of an outside removal from a new name if the command moved a file to it that still
    /// exists outside, unchanged.
    fn settle_moved(&self, changes: &mut [Change]) -> Result<(), OverlayError> {
        if !changes.iter().any(|change| change.outside && change.before.is_none()) {
            return Ok(());
        }
        for rename in self.renames(changes, &|_| true)? {
            if !changes[rename.from].outside {
                changes[rename.to].outside = false;
            }
        }
        Ok(())
    }

    /// Returns the content of a changed file before and after, if it is no longer than this.
    pub fn contents(&self, change: &Change, most: u64) -> Result<[Option<Vec<u8>>; 2], OverlayError> {
        let read = |root: Directory| -> Result<Option<Vec<u8>>, Errno> {
            let (parent, name) = root.holding(&change.path)?;
            let mut text = Vec::new();
            let read = parent.file(name)?.take(most + 1).read_to_end(&mut text);
            read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            Ok((text.len() as u64 <= most).then_some(text))
        };
        // An entry that is no file, or cannot be read, has no content to show.
        let text = |root| read(root).unwrap_or(None);
        Ok([text(self.lower(change.view)?), text(self.upper(change.view)?)])
    }

    /// Reads a file outside that is not longer than `most`, by its path in a view. Follows no link.
    pub fn outside(&self, view: usize, path: &Path, most: u64) -> Result<Option<Vec<u8>>, OverlayError> {
        let lower = self.lower(view)?;
        match Side::before(&lower).read(path, most) {
            Err(Errno::FBIG | Errno::ACCESS) => Ok(None),
            other => other.at("cannot read", path),
        }
    }

    /// Writes down that the command has ended. Says whether it has changed anything; an overlay without changes is removed.
    pub fn ended(mut self, lock: Lock) -> Result<bool, OverlayError> {
        for view in 0..self.manifest.views.len() {
            if !self.upper(view)?.names().at("cannot read", &self.path)?.is_empty() {
                self.manifest.state = State::Ended;
                return self.write().map(|()| true);
            }
        }
        self.discard(lock).map(|()| false)
    }

    /// Removes it with everything in it.
    pub fn discard(self, lock: Lock) -> Result<(), OverlayError> {
        remove_at(self.path.parent().unwrap_or(Path::new("/")), &self.id, lock)
    }

    /// The real directory of a view.
    pub(crate) fn lower(&self, view: usize) -> Result<Directory, OverlayError> {
        let at = &self.manifest.views[view];
        let directory = Directory::open(&at.path).at("cannot open", &at.path)?;
        let found = directory.own().at("cannot open", &at.path)?;
        if found.id() == at.id { Ok(directory) } else { Err(OverlayError::Moved(at.path.clone())) }
    }

    /// The directory of changes of a view.
    pub(crate) fn upper(&self, view: usize) -> Result<Directory, OverlayError> {
        let path = self.path.join(view.to_string()).join(UPPER);
        Directory::open(&path).at("cannot open", &path)
    }

    /// Gets ready for the next command.
    fn go_on(
        mut self,
        command: &str,
        views: &[(PathBuf, bool)],
    ) -> Result<(Self, Vec<ChangeDirectory>), OverlayError> {
        let kept = views.iter().map(|(path, repository)| self.keep(path, *repository));
        let kept = kept.collect::<Result<_, _>>()?;
        command.clone_into(&mut self.manifest.command);
        self.manifest.state = State::Running;
        self.write()?;
        Ok((self, kept))
    }

    /// Returns the directory for the changes of a directory, which is made if it does not exist yet.
    fn keep(&mut self, path: &Path, repository: bool) -> Result<ChangeDirectory, OverlayError> {
        let found = Directory::open(path).and_then(|directory| directory.own()).at("cannot open", path)?;
        let known = self.manifest.views.iter().position(|view| view.path == path);
        if known.is_some_and(|view| self.manifest.views[view].id != found.id()) {
            return Err(OverlayError::Moved(path.to_owned()));
        }
        let view = known.unwrap_or(self.manifest.views.len());
        let directory = self.path.join(view.to_string());
        if known.is_none() {
            self.make_view(view, &found)?;
            self.manifest.views.push(View { path: path.to_owned(), id: found.id(), repository });
        }
        Ok(ChangeDirectory { path: path.to_owned(), directory })
    }

    /// Makes the place for a view's changes. It belongs to the owner of the view, as whom the command sees itself.
    fn make_view(&self, view: usize, like: &Look) -> Result<(), OverlayError> {
        let place = self.path.join(view.to_string());
        let made = || -> Result<Directory, Errno> {
            let own = Directory::open(&self.path)?;
            own.make(&view.to_string(), 0o700)?;
            let directory = own.enter(OsStr::new(&view.to_string()))?;
            give(&directory, like)?;
            // The upper directory gives the whole its mode.
            for (name, mode) in [(UPPER, like.0.st_mode & 0o1777), (WORK, 0o700)] {
                directory.make(name, 0o700)?;
                let inner = directory.enter(OsStr::new(name))?;
                give(&inner, like)?;
                rustix::fs::fchmod(&inner, Mode::from_raw_mode(mode))?;
            }
            directory.enter(OsStr::new(UPPER))
        };
        let upper = made().at("cannot make", &place)?;
        if marks::can_be_kept(&upper) { Ok(()) } else { Err(OverlayError::NoMarks(place)) }
    }

    /// Writes the manifest atomically: a crash leaves the old one or the new one.
    pub(crate) fn write(&self) -> Result<(), OverlayError> {
        let (path, new) = (self.path.join(MANIFEST), self.path.join(".manifest.new"));
        let written = fs::File::create(&new).and_then(|mut file| {
            file.write_all(self.manifest.text().as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        });
        written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)).at("cannot write", &path)
    }
}

/// Removes the protection from an unfinished git operation that the command has finished: nothing of it is
/// left that git would run.
fn free_finished(changes: &mut [Change]) {
    let gone: HashSet<_> =
        changes.iter().filter(|it| it.after.is_none()).map(|it| (it.view, it.path.clone())).collect();
    let is_directory =
        |path: &Path| path.file_name().is_some_and(|name| policy::UNFINISHED.iter().any(|it| name == *it));
    for change in changes.iter_mut().filter(|it| it.after.is_none() && it.is_unfinished()) {
        let directory = change.path.ancestors().find(|path| is_directory(path));
        if directory.is_some_and(|path| gone.contains(&(change.view, path.to_owned()))) {
            change.protected = None;
        }
    }
}

const MANIFEST: &str = "manifest.json";
pub(crate) const UPPER: &str = "upper";
pub(crate) const WORK: &str = "work";
/// Maximum length of the manifest, which has a line for each path that was applied.
const LONGEST: u64 = 1 << 28;

pub(crate) fn remove_at(store: &Path, id: &str, lock: Lock) -> Result<(), OverlayError> {
    let directory = Directory::open(store).at("cannot open", store)?;
    // Under another name first: half an overlay must not look like one.
    let gone = format!("{GONE}{id}");
    rustix::fs::renameat(&directory, id, &directory, &gone).at("cannot rename", &store.join(id))?;
    let removed = remove::remove(&directory, OsStr::new(&gone)).at("cannot remove", &store.join(&gone));
    drop(lock);
    removed
}

/// Root works on files of others, and leaves them to those.
pub(crate) fn give(to: &Directory, like: &Look) -> Result<(), Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owner = (rustix::fs::Uid::from_raw(like.0.st_uid), rustix::fs::Gid::from_raw(like.0.st_gid));
    rustix::fs::fchown(to, Some(owner.0), Some(owner.1))
}

impl Lock {
    pub(crate) fn take(overlay: &Path, id: &str) -> Result<Self, OverlayError> {
        let path = overlay.join("lock");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::from_raw_mode(raw(0o600)));
        let file = file.at("cannot open", &path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { held: file }),
            Err(Errno::WOULDBLOCK) => Err(OverlayError::Busy(id.to_owned())),
            Err(errno) => Err(errno).at("cannot lock", &path),
        }
    }

    /// A moment that is later than every change so far, and not later than any to come, by the clock that file systems use.
    /// That one stands still for some milliseconds at a time.
    fn moment(&self) -> Result<Moment, Errno> {
        let first = self.touched()?;
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let now = self.touched()?;
            if now > first {
                return Ok(now);
            }
            if Instant::now() > deadline {
                return Err(Errno::TIME);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn touched(&self) -> Result<Moment, Errno> {
        rustix::fs::fchmod(&self.held, Mode::from_raw_mode(raw(0o600)))?;
        Ok(Look(rustix::fs::fstat(&self.held)?).touched())
    }
}
