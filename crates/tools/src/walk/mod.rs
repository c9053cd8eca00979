//! Looking through a tree, by handle and on several threads: for `grep` and `find`.
//!
//! **Invariant.** Nothing is opened by its path: each directory is entered from the one above it, so no link is followed, and every
//! name was judged by the guard before it is seen here.

mod crew;
mod filter;
mod ignored;

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ringfence::guard::{Abort, Access, Directory, Entry, EntryKind, Guard, ListedFile, Trouble};

pub(crate) use filter::Filter;

use crew::Crew;
use ignored::Ignored;

/// Directories below directories that are entered.
const MAX_DEPTH: usize = 256;
/// Entries that are looked at, all in all.
const MAX_ENTRIES: usize = 2_000_000;
/// Entries that are handed on together, so that a large directory is work for all threads.
const CHUNK: usize = 64;

/// A tree that is looked through.
pub(crate) struct Walk<'a> {
    start: Arc<Place>,
    filter: &'a Filter,
    abort: &'a Abort,
    depth: usize,
    entries: AtomicUsize,
    unopened: AtomicUsize,
    cut: AtomicBool,
}

/// A directory on the way.
struct Place {
    directory: Directory,
    /// As it is shown: below the workspace, or from the root if it lies elsewhere. Empty for the workspace.
    path: Vec<u8>,
    ignored: Arc<Ignored>,
    depth: usize,
}

/// Something that was found and that no filter left out.
pub(crate) struct Found<'a> {
    /// The directory that it is in.
    pub(crate) directory: &'a Directory,
    /// The entry.
    pub(crate) entry: &'a Entry,
    /// Its path as it is shown, byte for byte.
    pub(crate) path: &'a [u8],
    /// Length of the part of the path that belongs to the directory that the walk began in.
    pub(crate) start: usize,
}

/// Receives the entries found. Each thread has one.
pub(crate) trait Visitor: Send {
    /// Looks at something. Breaking ends the walk for all.
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()>;
}

/// Result of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Went {
    /// Entries that were looked at.
    pub(crate) entries: usize,
    /// Directories that could not be opened or were too deep.
    pub(crate) unopened: usize,
    /// True if there is more than was looked at.
    pub(crate) cut: bool,
}

/// A piece of work for a thread.
enum Work {
    Enter(Arc<Place>, Entry),
    Visit(Arc<Place>, Vec<Entry>),
}

impl<'a> Walk<'a> {
    /// A walk through a directory. What is ignored above it is ignored in it.
    pub(crate) fn new(guard: &Guard, start: Directory, filter: &'a Filter, abort: &'a Abort) -> Self {
        let path = shown(start.path(), guard.workspace());
        let ignored =
            if filter.ignores { above(guard, &start, abort).unwrap_or_default() } else { Arc::default() };
        let start = Arc::new(Place { directory: start, path, ignored, depth: 0 });
        let (entries, unopened, cut) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        Self { start, filter, abort, depth: MAX_DEPTH, entries, unopened, cut }
    }

    /// Looks no deeper than this.
    pub(crate) fn at_most(mut self, depth: usize) -> Self {
        self.depth = depth.min(MAX_DEPTH);
        self
    }

    /// Looks through all of it. Returns the visitors, one of each thread.
    pub(crate) fn run<V: Visitor>(&self, visitor: impl Fn() -> V + Sync) -> (Went, Vec<V>) {
        let crew = Crew::new(self.list(&self.start));
        let visitors = crew.work(visitor, |visitor: &mut V, work| self.do_one(visitor, work, &crew));
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        let cut = self.cut.load(Ordering::Relaxed);
        (Went { entries: count(&self.entries), unopened: count(&self.unopened), cut }, visitors)
    }

    /// Opens a file once more that was found, by its path as it was shown: each name on the way is judged, and no link is followed.
    pub(crate) fn open(&self, path: &[u8]) -> Option<ListedFile> {
        let below = path.strip_prefix(&*self.start.path)?;
        let mut names: Vec<&[u8]> =
            below.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let name = names.pop()?;
        let mut directory = self.start.directory.clone();
        for name in names {
            directory = directory.directory_called(OsStr::from_bytes(name)).ok()?;
        }
        directory.file_called(OsStr::from_bytes(name)).ok()
    }

    fn do_one<V: Visitor>(&self, visitor: &mut V, work: Work, crew: &Crew<Work>) -> ControlFlow<()> {
        if self.abort.is_aborted() || self.cut.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        match work {
            Work::Enter(place, entry) => crew.add(self.enter(&place, &entry)),
            Work::Visit(place, entries) => {
                for entry in &entries {
                    self.visit(visitor, &place, entry)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn visit<V: Visitor>(&self, visitor: &mut V, place: &Place, entry: &Entry) -> ControlFlow<()> {
        if self.abort.is_aborted() {
            return ControlFlow::Break(());
        }
        let path = join(&place.path, entry.name());
        let start = self.start.path.len();
        // Between the two there is a slash, unless the walk began in the workspace or at the root.
        let start = if path.get(start) == Some(&b'/') { start + 1 } else { start };
        visitor.visit(&Found { directory: &place.directory, entry, path: &path, start })
    }

    fn enter(&self, above: &Place, entry: &Entry) -> Vec<Work> {
        let Ok(directory) = above.directory.enter(entry) else {
            self.unopened.fetch_add(1, Ordering::Relaxed);
            return Vec::new();
        };
        let (path, ignored) = (join(&above.path, entry.name()), Arc::clone(&above.ignored));
        self.list(&Arc::new(Place { directory, path, ignored, depth: above.depth + 1 }))
    }

    /// Returns the work in a directory: its entries as far as no filter leaves them out, and the directories among them.
    fn list(&self, place: &Arc<Place>) -> Vec<Work> {
        let entries: Result<Vec<Entry>, Trouble> =
            place.directory.entries().and_then(|entries| entries.take(MAX_ENTRIES + 1).collect());
        let Ok(entries) = entries else {
            self.unopened.fetch_add(1, Ordering::Relaxed);
            return Vec::new();
        };
        if self.entries.fetch_add(entries.len(), Ordering::Relaxed) + entries.len() > MAX_ENTRIES {
            self.cut.store(true, Ordering::Relaxed);
            return Vec::new();
        }
        let place = &self.with_ignored(place, &entries);
        let mut entries: Vec<Entry> = entries
            .into_iter()
            .filter(|entry| self.filter.takes(&place.ignored, &place.path, entry))
            .collect();
        // The last is done first.
        entries.sort_unstable_by(|a, b| b.name().cmp(a.name()));
        self.to_do(place, entries)
    }

    fn with_ignored(&self, place: &Arc<Place>, entries: &[Entry]) -> Arc<Place> {
        let names = || entries.iter().filter(|entry| entry.kind() == EntryKind::File).map(Entry::name);
        if !self.filter.ignores || !names().any(ignored::is_one) {
            return Arc::clone(place);
        }
        let ignored = place.ignored.below(&place.directory, &place.path);
        let (directory, path) = (place.directory.clone(), place.path.clone());
        Arc::new(Place { directory, path, ignored: Arc::new(ignored), depth: place.depth })
    }

    fn to_do(&self, place: &Arc<Place>, entries: Vec<Entry>) -> Vec<Work> {
        let mut work = Vec::new();
        let directories = entries.iter().filter(|entry| entry.kind() == EntryKind::Directory);
        if place.depth + 1 < self.depth {
            work.extend(directories.map(|entry| Work::Enter(Arc::clone(place), entry.clone())));
        } else if self.depth == MAX_DEPTH {
            self.unopened.fetch_add(directories.count(), Ordering::Relaxed);
        }
        let mut entries = entries.into_iter().peekable();
        while entries.peek().is_some() {
            work.push(Work::Visit(Arc::clone(place), entries.by_ref().take(CHUNK).collect()));
        }
        work
    }
}

/// Returns the ignore rules above a directory, as far as the workspace reaches.
fn above(guard: &Guard, start: &Directory, abort: &Abort) -> Option<Arc<Ignored>> {
    let below = start.path().strip_prefix(guard.workspace()).ok()?;
    if below.as_os_str().is_empty() {
        return Some(Arc::new(Ignored::default().excluded_by_repository(start, b"")));
    }
    // No person is asked about a directory that the agent did not name.
    if !guard.can_access(Access::Read(Path::new("."))) {
        return None;
    }
    let mut directory = guard.list(Path::new("."), abort).ok()?;
    let (mut ignored, mut path) = (Ignored::default(), Vec::new());
    for name in below {
        let here = Arc::new(ignored.excluded_by_repository(&directory, &path));
        ignored = here.below(&directory, &path);
        directory = directory.directory_called(name).ok()?;
        path = join(&path, name);
    }
    Some(Arc::new(ignored.excluded_by_repository(&directory, &path)))
}

/// A path as it is shown: below the workspace, or from the root.
pub(crate) fn shown(path: &Path, workspace: &Path) -> Vec<u8> {
    path.strip_prefix(workspace).unwrap_or(path).as_os_str().as_bytes().to_vec()
}

/// The path of an entry.
pub(crate) fn join(directory: &[u8], name: &OsStr) -> Vec<u8> {
    let mut path = Vec::with_capacity(directory.len() + 1 + name.len());
    path.extend_from_slice(directory);
    if !directory.is_empty() && directory != b"/" {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    path
}
