//! Removes instructions that a command has left in an unfinished operation of git, and that the host's git would run.
//!
//! A rebase, a series of picks and `git am` keep the rest of their work in files of the repository. A command in a jail has to be able to
//! write them, and could leave an `exec` line or the name of a merge strategy there, which the host's `git rebase --continue` would
//! run. The files are read before the command starts and again when no process of it is left; an instruction that runs a program and was
//! not there before is commented out or removed. Directories are opened one by one, and links are never followed.
//!
//! The second look reads what the command wrote, before the end of the run is recorded. Depth, number of directories, sizes and time
//! are limited, and so is the number of rows that are reported.

mod file;
mod index;
mod instruction;
mod tracked;
mod tracked_path;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use policy::{Ground, Protected, UNFINISHED};
use rustix::fs::{AtFlags, FileType, Mode as Bits};
use rustix::io::Errno;

#[doc(hidden)]
pub use self::index::read_as_git_index;

use self::file::{FileSnapshot, Finding};
use self::instruction::{FILES, Mend, StateFile};
use self::tracked::TrackedSnapshot;
use self::walk::{Budget, Gaps, MODULE_DEPTH, Visit, Walk, directory, directory_below, is_no_directory};
use crate::spec::{Mode, Spec};

/// The unfinished operations in the repositories that a jail may change, before its command starts.
#[derive(Debug)]
pub struct GitStateSnapshot {
    tops: Vec<(PathBuf, Ground)>,
    protected: Protected,
    files: BTreeMap<PathBuf, FileSnapshot>,
    tracked: TrackedSnapshot,
    /// Directories that can hold a state, each with its top.
    repositories: Vec<(usize, PathBuf)>,
    /// Directories of other users that could not be read.
    foreign: BTreeSet<PathBuf>,
    /// Number of unread directories that were not remembered.
    more: usize,
}

/// An instruction that was removed from an unfinished operation, or could not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedInstruction {
    /// The file.
    pub path: PathBuf,
    /// The effect that it would have had, and the one on the file.
    pub reason: String,
}

impl GitStateSnapshot {
    /// Reads the states.
    #[must_use]
    pub fn capture(spec: &Spec) -> Self {
        let writable = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
        let ground = |path: &PathBuf| {
            if spec.repositories.contains(path) { Ground::Repository } else { Ground::Tree }
        };
        let mut snapshot = Self {
            tops: writable.map(|view| (view.path.clone(), ground(&view.path))).collect(),
            protected: spec.protected.clone(),
            files: BTreeMap::new(),
            tracked: TrackedSnapshot::new(),
            repositories: Vec::new(),
            foreign: BTreeSet::new(),
            more: 0,
        };
        let (mut files, mut tracked, mut repositories) =
            (BTreeMap::new(), TrackedSnapshot::new(), Vec::new());
        let gaps = snapshot.walk(Budget::new(), &mut |top, repository, path, budget| {
            repositories.push((top, path.to_owned()));
            tracked::capture(repository, path, budget, &mut tracked);
            for (state, path) in snapshot.states(repository, path, snapshot.tops[top].1) {
                for (at, file, path) in state.ok().iter().flat_map(|state| state.files(repository, &path)) {
                    files.extend(FileSnapshot::capture(at, &file, budget).map(|file| (path, file)));
                }
            }
        });
        (snapshot.files, snapshot.tracked, snapshot.repositories) = (files, tracked, repositories);
        for gaps in gaps {
            snapshot.more += gaps.more;
            snapshot.foreign.extend(gaps.unread.into_iter().filter(|gap| gap.foreign).map(|gap| gap.path));
        }
        snapshot
    }

    /// Removes the instructions that are not in the snapshot. Only to be called when no process of the jail is left.
    ///
    /// The number of rows is limited; the ones that need attention come first.
    #[must_use]
    pub fn remove_new(&self) -> Vec<RemovedInstruction> {
        self.remove_new_within(Budget::new())
    }

    fn remove_new_within(&self, budget: Budget) -> Vec<RemovedInstruction> {
        let (mut known, mut found) = (Report::default(), Report::default());
        let gaps = self.walk(budget, &mut |top, repository, path, budget| {
            self.inspect(top, repository, path, budget, &mut found);
        });
        if gaps.iter().any(|gaps| gaps.cut.is_some() || !gaps.unread.is_empty()) {
            self.inspect_known(&mut known);
        }
        let mut rows = known.into_rows();
        let found = found.into_rows();
        rows.extend(found.into_iter().filter(|row| !rows.contains(row)).collect::<Vec<_>>());
        rows.extend(self.rows_of(&gaps));
        rows
    }

    /// Inspects the repositories that were there before, which directories that a command has made cannot outnumber.
    fn inspect_known(&self, report: &mut Report) {
        let mut budget = Budget::new();
        for (top, path) in &self.repositories {
            if budget.is_spent() {
                return;
            }
            if let Ok(repository) = directory_below(&self.tops[*top].0, path) {
                self.inspect(*top, &repository, path, &mut budget, report);
            }
        }
    }

    fn inspect(
        &self,
        top: usize,
        repository: &OwnedFd,
        path: &Path,
        budget: &mut Budget,
        report: &mut Report,
    ) {
        for (state, path) in self.states(repository, path, self.tops[top].1) {
            let state = state.or_else(|(name, errno)| State::open_own(repository, name, errno));
            let Ok(state) = state.as_ref().map_err(|errno| report.add(path.clone(), unopened(*errno))) else {
                continue;
            };
            for (at, file, path) in state.files(repository, &path) {
                let finding = file::remove_new(at, &file, self.files.get(&path), budget);
                if let Some(finding) = finding {
                    report.add(path, finding);
                }
            }
        }
        // The working tree of a repository that bears this name is the directory around it.
        let tree =
            (path.file_name() == Some(OsStr::new(".git"))).then(|| directory(repository, OsStr::new("..")));
        let tree = tree.and_then(Result::ok);
        tracked::remove_new((repository, tree.as_ref()), path, &self.tracked, budget, report);
    }

    /// Calls for each directory that can hold a state, with the number of its top.
    fn walk(
        &self,
        mut budget: Budget,
        visit: &mut dyn FnMut(usize, &OwnedFd, &Path, &mut Budget),
    ) -> Vec<Gaps> {
        let each = |(number, (top, ground)): (usize, &(PathBuf, Ground))| {
            let mut visit: Box<Visit<'_>> =
                Box::new(|repository, path, budget| visit(number, repository, path, budget));
            Walk::run(top, *ground, &mut budget, &mut *visit)
        };
        self.tops.iter().enumerate().map(each).collect()
    }

    /// Opens the states of a repository that are there and protected.
    fn states(&self, repository: &OwnedFd, path: &Path, ground: Ground) -> Vec<(OpenedState, PathBuf)> {
        let row = |name: &str| match ground {
            Ground::Tree => self.protected.unfinished(ground, &Path::new(".git").join(name)),
            Ground::Repository => self.protected.unfinished(ground, Path::new(name)),
        };
        let names = UNFINISHED.iter().filter(|name| row(name).is_some());
        names.filter_map(|name| Some((State::open(repository, name)?, path.join(name)))).collect()
    }

    /// One row for each kind of gap that was not there before.
    fn rows_of(&self, gaps: &[Gaps]) -> Vec<RemovedInstruction> {
        let row = |path: &Path, reason: String| RemovedInstruction { path: path.to_owned(), reason };
        let unread = gaps.iter().flat_map(|gaps| &gaps.unread);
        let mut unread = unread.filter(|gap| !(gap.foreign && self.foreign.contains(&gap.path)));
        let first = unread.next();
        let more = gaps.iter().map(|gaps| gaps.more).sum::<usize>().saturating_sub(self.more);
        let unread = first.map(|gap| {
            let reason = match unread.count() + more {
                0 => format!("it cannot be read, so it was not inspected: {LOOK}"),
                more => format!("it and {more} more directories cannot be read or inspected: {LOOK}"),
            };
            row(&gap.path, reason)
        });
        let deep = gaps.iter().find_map(|gaps| gaps.deep.as_ref()).map(|path| {
            row(
                path,
                format!("it lies more than {MODULE_DEPTH} directories deep and was not inspected: {LOOK}"),
            )
        });
        let cut = gaps.iter().find_map(|gaps| gaps.cut.as_ref()).map(|path| {
            let reason =
                "there are too many directories to inspect all of them; the rest of this one was not";
            row(path, format!("{reason}: {LOOK}"))
        });
        [cut, deep, unread].into_iter().flatten().collect()
    }
}

const LOOK: &str = "a rebase in it may run a program, and an index in it may name files elsewhere, so look before you use git there";

fn unopened(errno: Errno) -> Finding {
    Finding { remains: true, reason: format!("it cannot be opened ({errno}) and was not inspected: {LOOK}") }
}

/// A state, or its name and the reason why it cannot be opened.
type OpenedState = Result<State, (&'static str, Errno)>;

/// The directory in which git keeps an operation, or a file of that name.
enum State {
    Directory(&'static str, OwnedFd),
    Other(&'static str),
}

impl State {
    fn open(repository: &OwnedFd, name: &'static str) -> Option<OpenedState> {
        match directory(repository, OsStr::new(name)) {
            Ok(state) => Some(Ok(Self::Directory(name, state))),
            Err(Errno::NOENT) => None,
            Err(errno) if is_no_directory(errno) => Some(Ok(Self::Other(name))),
            Err(errno) => Some(Err((name, errno))),
        }
    }

    /// Gives the owner access again: git opens files in a directory that it cannot list.
    fn open_own(repository: &OwnedFd, name: &'static str, errno: Errno) -> Result<Self, Errno> {
        let found = rustix::fs::statat(repository, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if errno != Errno::ACCESS || FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return Err(errno);
        }
        let mode = Bits::from_raw_mode(found.st_mode) | Bits::RWXU;
        rustix::fs::chmodat(repository, name, mode, AtFlags::empty())?;
        Ok(Self::Directory(name, directory(repository, OsStr::new(name))?))
    }

    /// Its files that are inspected, with the directory that each lies in.
    fn files<'a>(&'a self, repository: &'a OwnedFd, path: &Path) -> Vec<(&'a OwnedFd, StateFile, PathBuf)> {
        match self {
            Self::Directory(name, state) => {
                let files = FILES.iter().filter(|file| file.state == *name);
                files.map(|file| (state, *file, path.join(file.name))).collect()
            }
            Self::Other(name) => {
                let runs = |_: &[u8]| Some("git keeps a directory there");
                let file = StateFile { state: "", name, mend: Mend::Remove, runs };
                vec![(repository, file, path.to_owned())]
            }
        }
    }
}

/// Rows to tell, up to a limit for those that need attention and for the others.
#[derive(Default)]
struct Report {
    remaining: Rows,
    removed: Rows,
}

#[derive(Default)]
struct Rows {
    kept: Vec<RemovedInstruction>,
    first_left_out: Option<PathBuf>,
    left_out: usize,
}

impl Report {
    fn add(&mut self, path: PathBuf, finding: Finding) {
        let rows = if finding.remains { &mut self.remaining } else { &mut self.removed };
        if rows.kept.len() < Rows::MOST {
            rows.kept.push(RemovedInstruction { path, reason: finding.reason });
        } else {
            rows.first_left_out.get_or_insert(path);
            rows.left_out += 1;
        }
    }

    fn into_rows(self) -> Vec<RemovedInstruction> {
        let mut rows = self.remaining.into_rows("could not be inspected or still run a program");
        rows.extend(self.removed.into_rows("had instructions that were removed"));
        rows
    }
}

impl Rows {
    const MOST: usize = 16;

    fn into_rows(mut self, what: &str) -> Vec<RemovedInstruction> {
        let count = self.left_out;
        let reason = format!("it and {} more files {what}", count.saturating_sub(1));
        self.kept.extend(self.first_left_out.map(|path| RemovedInstruction { path, reason }));
        self.kept
    }
}

#[cfg(test)]
mod tests;
