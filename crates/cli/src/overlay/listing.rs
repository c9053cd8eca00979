//! Changes as they are listed: what belongs together on one line.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use ::overlay::{Change, GitChanges, Overlay, Rename};
use policy::{Shown, lexical};

use super::ignored::Ignored;
use super::{failure, place};
use crate::failure::Failure;

/// One entry of a list.
pub(crate) enum Entry<'a> {
    /// A change.
    Change(&'a Change),
    /// A file that was moved.
    Renamed {
        from: &'a Change,
        to: &'a Change,
        /// In per cent.
        alike: u64,
    },
    /// Everything in a repository but what is protected.
    Repository { git: &'a GitChanges, changes: Vec<&'a Change> },
    /// Everything at or below a name that the repository ignores.
    Ignored { path: PathBuf, changes: Vec<&'a Change> },
}

impl<'a> Entry<'a> {
    /// The changes that it stands for.
    pub(crate) fn changes(&self) -> Vec<&'a Change> {
        match self {
            Self::Change(change) => vec![change],
            Self::Renamed { from, to, .. } => vec![from, to],
            Self::Repository { changes, .. } | Self::Ignored { changes, .. } => changes.clone(),
        }
    }

    /// Returns the number of files it stands for.
    pub(crate) fn files(&self) -> usize {
        self.changes().iter().filter(|change| !super::draw::is_directory(change)).count()
    }

    /// Returns true if it stands for what a person does not read line by line.
    pub(crate) fn is_folded(&self) -> bool {
        matches!(self, Self::Repository { .. } | Self::Ignored { .. })
    }
}

/// Everything that is known of the changes of an overlay.
pub(crate) struct Found {
    pub(crate) changes: Vec<Change>,
    pub(crate) repositories: Vec<GitChanges>,
    pub(crate) renames: Vec<Rename>,
    /// The ignored name that each change is or lies in.
    ignored: Vec<Option<PathBuf>>,
}

impl Found {
    /// Looks at an overlay.
    pub(crate) fn of(overlay: &Overlay) -> Result<Self, Failure> {
        let told = |error| failure(&error);
        let changes = overlay.changes().map_err(told)?;
        let repositories = overlay.repositories(&changes).map_err(told)?;
        let mut lists = Ignored::of(overlay);
        let ignored = changes.iter().map(|change| lists.top(change)).collect::<Result<Vec<_>, _>>()?;
        let renames = overlay.renames(&changes, &|at| ignored[at].is_none()).map_err(told)?;
        Ok(Self { changes, repositories, renames, ignored })
    }

    /// The repository whose entry a change belongs to.
    pub(crate) fn repository(&self, change: &Change) -> Option<&GitChanges> {
        let around = self.repositories.iter().filter(|git| git.holds(change));
        around.max_by_key(|git| git.path.components().count())
    }

    /// Returns true if other changes of the same kind lie in a directory that came or went: then it is told by those.
    pub(crate) fn is_on_the_way(&self, change: &Change) -> bool {
        let before_or_at = |other: &Change| (other.view, &other.path) <= (change.view, &change.path);
        let next = self.changes.get(self.changes.partition_point(before_or_at));
        let holds = next.is_some_and(|next| next.view == change.view && next.is_beneath(&change.path));
        let comes = change.carries() && change.before.is_none();
        let goes = change.after.is_none();
        change.protected.is_none() && change.cannot.is_none() && holds && (comes || goes)
    }
}

/// Selection and format of the listed changes.
pub(crate) struct Listing<'a> {
    pub(crate) overlay: &'a Overlay,
    pub(crate) found: &'a Found,
    /// The paths that were asked for; none for all.
    pub(crate) paths: &'a [PathBuf],
    /// True if repositories and ignored names take one line each.
    pub(crate) folds: bool,
}

impl<'a> Listing<'a> {
    /// The entries: repositories, then changes in the order of their paths, then what is ignored.
    pub(crate) fn entries(&self) -> Vec<Entry<'a>> {
        let mut parts = Parts::default();
        for (at, change) in self.found.changes.iter().enumerate().filter(|(_, change)| self.is_wanted(change))
        {
            if change.protected.is_some() || change.cannot.is_some() {
                parts.plain.push(at);
            } else if let Some(git) =
                self.found.repository(change).filter(|git| self.is_folded(git.view, &git.path))
            {
                parts.repositories.entry((git.view, &git.path)).or_insert((git, Vec::new())).1.push(change);
            } else if let Some(top) =
                self.found.ignored[at].as_ref().filter(|top| self.is_folded(change.view, top))
            {
                parts.ignored.entry((change.view, top.clone())).or_default().push(change);
            } else if !self.found.is_on_the_way(change) {
                parts.plain.push(at);
            }
        }
        self.joined(parts)
    }

    fn joined(&self, parts: Parts<'a>) -> Vec<Entry<'a>> {
        let changes = &self.found.changes;
        let listed: HashSet<_> =
            parts.plain.iter().copied().filter(|at| changes[*at].protected.is_none()).collect();
        let whole = |rename: &&Rename| listed.contains(&rename.from) && listed.contains(&rename.to);
        let renames: HashMap<_, _> =
            self.found.renames.iter().filter(whole).map(|rename| (rename.to, rename)).collect();
        let moved: HashSet<_> = renames.values().map(|rename| rename.from).collect();
        let repositories =
            parts.repositories.into_values().map(|(git, changes)| Entry::Repository { git, changes });
        let plain = parts.plain.iter().filter(|at| !moved.contains(*at)).map(|at| match renames.get(at) {
            Some(rename) => {
                Entry::Renamed { from: &changes[rename.from], to: &changes[rename.to], alike: rename.alike }
            }
            None => Entry::Change(&changes[*at]),
        });
        let ignored = parts.ignored.into_iter().map(|((_, path), changes)| Entry::Ignored { path, changes });
        repositories.chain(plain).chain(ignored).collect()
    }

    /// A name that is asked for, or something in it, is not folded.
    fn is_folded(&self, view: usize, path: &Path) -> bool {
        let top = self.overlay.manifest.views[view].path.join(path);
        self.folds && !self.paths.iter().any(|path| path.starts_with(&top))
    }

    fn is_wanted(&self, change: &Change) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|path| place(self.overlay, change).starts_with(path))
    }

    /// A path at which nothing was changed is a mistake.
    pub(crate) fn knows(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        let changed = |path: &&PathBuf| {
            self.found.changes.iter().any(|change| place(self.overlay, change).starts_with(path))
        };
        paths.iter().find(|path| !changed(path)).map_or(Ok(()), |path| {
            let message = format!("nothing was changed at {}", Shown::path(path));
            Err(Failure::usage(message).hint("`ringfence review --stat` lists what was"))
        })
    }
}

#[derive(Default)]
struct Parts<'a> {
    /// By their places in the list of changes.
    plain: Vec<usize>,
    repositories: BTreeMap<(usize, &'a PathBuf), (&'a GitChanges, Vec<&'a Change>)>,
    ignored: BTreeMap<(usize, PathBuf), Vec<&'a Change>>,
}

/// Paths as a person types them, made absolute.
pub(crate) fn absolute(cwd: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().map(|path| lexical(&cwd.join(path))).collect()
}
