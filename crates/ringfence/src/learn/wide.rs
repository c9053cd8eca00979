//! View of a command while it is learned: the machine read-only, without what is closed.
//!
//! Everything that is shown has been looked through first. What could not be looked through in time, and all that a socket lies
//! in, is hidden: reaching a limit shows less, never more.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{DirEntry, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use policy::floor::Forbidden;
use policy::{Floor as _, Location, Request, ToolName, Want};

use super::fold::Borders;
use super::table::{APART, CREDENTIALS, STORES};

/// So many entries are looked at in the home directory, and so many elsewhere; what is left is hidden unseen.
const IN_HOME: usize = 300_000;
const ELSEWHERE: usize = 60_000;
/// For file systems that take their time.
const TIME: Duration = Duration::from_secs(20);
/// More holes than this are made fewer and larger.
const HOLES: usize = 400;
/// More than this is not shown at the top of a home directory.
const TOPS: usize = 400;

/// Facts about the machine, from which is chosen what to show.
pub(crate) struct Machine<'a> {
    /// The real home directory.
    pub(crate) home: &'a Path,
    /// The real workspace.
    pub(crate) workspace: &'a Path,
    /// Ringfence's own files.
    pub(crate) own: &'a [PathBuf],
    /// Names that nothing overrules.
    pub(crate) names: &'a Forbidden,
}

/// Paths that can be shown, and bounds on those that may be an entry.
pub(crate) struct Wide {
    /// Directories and files to show. None contains the workspace or the home directory.
    pub(crate) shown: Vec<PathBuf>,
    /// Paths that have to be hidden in them, and more that is closed.
    pub(crate) borders: Borders,
}

impl Machine<'_> {
    /// Looks through what could be shown.
    pub(crate) fn look(&self) -> Wide {
        let mut closed = self.closed();
        let above = [self.home, self.workspace].into_iter().flat_map(Path::ancestors);
        let mounts = above.map(Path::to_owned).collect();
        let until = Instant::now() + TIME;
        let mut walk =
            Walk { machine: self, left: [ELSEWHERE, IN_HOME], until, mounts, holes: BTreeMap::new() };
        let mut shown = Vec::new();
        for top in self.tops() {
            if top.path.ancestors().any(|above| closed.contains_key(above)) {
                continue;
            }
            match walk.through(&top, &closed) {
                Some(holes) => {
                    closed.extend(holes);
                    shown.push(top.path);
                }
                None => drop(closed.insert(top.path, UNSEEN)),
            }
        }
        let stores = STORES.iter().map(|row| self.home.join(row.name)).collect();
        Wide { shown, borders: Borders { closed, wide: walk.mounts, stores, executed: None } }
    }

    /// Returns the paths that are closed even if they do not exist.
    fn closed(&self) -> BTreeMap<PathBuf, &'static str> {
        let keys = CREDENTIALS.iter().flat_map(|row| {
            let path = self.home.join(row.name);
            // A link to where they are kept closes that place, too.
            let real = std::fs::canonicalize(&path).ok();
            real.into_iter().chain([path]).map(|path| (path, row.because))
        });
        let own = self.own.iter().map(|path| (path.clone(), "it belongs to Ringfence"));
        keys.chain(own).collect()
    }

    fn tops(&self) -> Vec<Top> {
        let mut tops = Vec::new();
        self.collect(self.home, true, &mut tops);
        self.collect(Path::new("/"), false, &mut tops);
        tops
    }

    /// The entries of a directory; of those that lead to the workspace or the home directory, their entries.
    fn collect(&self, directory: &Path, in_home: bool, tops: &mut Vec<Top>) {
        let mut entries = listed(directory).unwrap_or_default();
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries.into_iter().take(TOPS) {
            let path = entry.path();
            let apart = !in_home && APART.iter().any(|row| path == Path::new(row.name));
            let Some(metadata) = entry.metadata().ok().filter(|_| !apart && path != self.workspace) else {
                continue;
            };
            if path == self.home || !metadata.is_dir() && !metadata.is_file() {
                continue;
            }
            let leads = |to: &Path| to.starts_with(&path);
            if leads(self.workspace) || leads(self.home) {
                self.collect(&path, in_home, tops);
            } else if in_home || is_everybodys(&metadata) {
                tops.push(Top { path, in_home });
            }
        }
    }

    fn is_store(&self, path: &Path) -> bool {
        let below = path.strip_prefix(self.home).ok();
        below.is_some_and(|below| STORES.iter().any(|row| below == Path::new(row.name)))
    }

    fn is_forbidden(&self, path: &Path) -> bool {
        is_forbidden(self.names, self.workspace, path)
    }
}

/// Returns true if a name is one that nothing overrules.
pub(crate) fn is_forbidden(names: &Forbidden, workspace: &Path, path: &Path) -> bool {
    let Ok(location) = Location::new(workspace, path) else { return true };
    let request = Request { tool: &ToolName::exec(), want: Want::Read(&location) };
    names.forbid(&request).is_some()
}

struct Top {
    path: PathBuf,
    in_home: bool,
}

const UNSEEN: &str = "there is too much in it to look through";
const FORBIDDEN: &str = "the name is forbidden by `files.forbidden`";
const SOCKET: &str = "a socket or a pipe lies in it";
const NOT_EVERYBODYS: &str = "not everybody on this machine may read it";

struct Walk<'a> {
    machine: &'a Machine<'a>,
    /// Number of entries that are left to look at, elsewhere and in the home directory.
    left: [usize; 2],
    until: Instant,
    /// Mount points of other file systems: such a directory says too much.
    mounts: BTreeSet<PathBuf>,
    holes: BTreeMap<PathBuf, &'static str>,
}

/// A directory to look into, and the file system it lies on.
type Next = (PathBuf, u64);

impl Walk<'_> {
    /// Returns the paths that have to be hidden below a directory; `None` if that is all of it.
    fn through(
        &mut self,
        top: &Top,
        closed: &BTreeMap<PathBuf, &'static str>,
    ) -> Option<BTreeMap<PathBuf, &'static str>> {
        self.holes.clear();
        let metadata = top.path.symlink_metadata().ok().filter(|_| !self.machine.is_forbidden(&top.path))?;
        if metadata.dev() != top.path.parent()?.metadata().ok()?.dev() {
            self.mounts.insert(top.path.clone());
        }
        let start = (top.path.clone(), metadata.dev());
        let mut queue: VecDeque<Next> = metadata.is_dir().then_some(start).into_iter().collect();
        while let Some((directory, device)) = queue.pop_front() {
            let left = usize::from(top.in_home);
            let in_time = self.left[left] > 0 && Instant::now() < self.until;
            let Some(entries) = in_time.then(|| listed(&directory)).flatten() else {
                self.holes.insert(directory, UNSEEN);
                continue;
            };
            self.left[left] = self.left[left].saturating_sub(entries.len());
            let fresh = entries.iter().filter(|entry| {
                let path = entry.path();
                !closed.contains_key(&path) && !self.machine.is_store(&path)
            });
            let fresh: Vec<_> = fresh.collect();
            queue.extend(fresh.into_iter().filter_map(|entry| self.judge(top, entry, device)));
        }
        fewer(&mut self.holes, &top.path);
        (!self.holes.contains_key(&top.path)).then(|| std::mem::take(&mut self.holes))
    }

    /// Makes a hole where one is needed; else says which directory is next.
    fn judge(&mut self, top: &Top, entry: &DirEntry, device: u64) -> Option<Next> {
        let (path, kind) = (entry.path(), entry.file_type().ok());
        let (directory, file) =
            (kind.is_some_and(|kind| kind.is_dir()), kind.is_some_and(|kind| kind.is_file()));
        if kind.is_some_and(|kind| kind.is_symlink()) {
            return None;
        }
        if !directory && !file {
            // Such a thing cannot be covered by itself.
            self.holes.insert(path.parent()?.to_owned(), SOCKET);
            return None;
        }
        if self.machine.is_forbidden(&path) {
            self.holes.insert(path, FORBIDDEN);
            return None;
        }
        if top.in_home && file {
            return None;
        }
        let Some(metadata) = entry.metadata().ok().filter(|found| top.in_home || is_everybodys(found)) else {
            self.holes.insert(path, NOT_EVERYBODYS);
            return None;
        };
        if metadata.dev() != device {
            self.mounts.insert(path.clone());
        }
        directory.then(|| (path, metadata.dev()))
    }
}

/// Makes holes fewer by making the deepest ones larger.
fn fewer(holes: &mut BTreeMap<PathBuf, &'static str>, top: &Path) {
    loop {
        let inner = |path: &&PathBuf| path.ancestors().skip(1).any(|above| holes.contains_key(above));
        let covered: Vec<_> = holes.keys().filter(inner).cloned().collect();
        for path in covered {
            holes.remove(&path);
        }
        let deepest = holes.keys().map(|path| path.components().count()).max().unwrap_or_default();
        if holes.len() <= HOLES || holes.contains_key(top) {
            return;
        }
        let many: Vec<_> =
            holes.keys().filter(|path| path.components().count() == deepest).cloned().collect();
        for path in many {
            let because = holes.remove(&path).unwrap_or(UNSEEN);
            holes.insert(path.parent().unwrap_or(top).to_owned(), because);
        }
    }
}

/// The entries of a directory; `None` when they cannot all be seen.
fn listed(directory: &Path) -> Option<Vec<DirEntry>> {
    std::fs::read_dir(directory).ok()?.collect::<Result<_, _>>().ok()
}

/// Returns true if every user of the machine may read it.
fn is_everybodys(metadata: &Metadata) -> bool {
    let wanted = if metadata.is_dir() { 0o5 } else { 0o4 };
    metadata.mode() & wanted == wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Too many holes become fewer, and everything that was in one still is.
    #[test]
    fn holes_grow_where_they_are_too_many() {
        let top = Path::new("/t");
        for count in [1, HOLES, HOLES + 1, 10 * HOLES] {
            let paths: Vec<_> =
                (0..count).map(|number| top.join(format!("{}/{number}/x", number % 7))).collect();
            let mut holes = paths.iter().map(|path| (path.clone(), FORBIDDEN)).collect();
            fewer(&mut holes, top);
            assert!(holes.len() <= HOLES, "{count}: {}", holes.len());
            let covered = |path: &PathBuf| path.ancestors().any(|above| holes.contains_key(above));
            assert!(paths.iter().all(covered), "{count}");
            assert_eq!(holes.contains_key(&paths[0]), count <= HOLES, "{count}");
        }
        let mut holes = (0..10 * HOLES).map(|number| (top.join(number.to_string()), UNSEEN)).collect();
        fewer(&mut holes, top);
        assert_eq!(holes.into_keys().collect::<Vec<_>>(), [top]);
    }
}
