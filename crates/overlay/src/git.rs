//! Changes that a command made to a git repository: commits, references and the index.
//!
//! Git itself is not run: it would execute and trust the content of the repository, and the command wrote
//! that.

mod history;
mod index;
mod objects;
mod refs;
mod trusted;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use policy::{Act, Ground, Protected, ProtectedName, Surroundings};

use crate::change::Change;
use crate::error::{At as _, OverlayError};
use crate::side::Side;
use crate::store::Overlay;
use git::Directory;
use history::History;
use objects::{Object, ObjectId, Objects, SHA1, Unreadable, parse_id};
use trusted::{File, Trusted};

/// Changes that a command made to one repository.
#[derive(Debug)]
pub struct GitChanges {
    /// Index of the view that contains the repository.
    pub view: usize,
    /// Path of the repository in the view, such as `.git`.
    pub path: PathBuf,
    /// Number of new objects.
    pub objects: u64,
    /// Branches, tags and other references that differ.
    pub refs: Vec<RefChange>,
    /// New commits that are reachable from a reference, newest first.
    pub commits: Vec<Commit>,
    /// New content at protected names that is staged for the next commit.
    pub staged: Vec<Touched>,
    /// Reason why the commits cannot be read.
    pub unreadable: Option<String>,
}

impl GitChanges {
    /// Returns true if it brings new content to protected names, or if that cannot be determined.
    #[must_use]
    pub fn carries_protected(&self) -> bool {
        let commits = self.commits.iter().any(|commit| !commit.touched.is_empty());
        commits || !self.staged.is_empty() || self.unreadable.is_some()
    }

    /// Returns true if a change lies in this repository.
    #[must_use]
    pub fn holds(&self, change: &Change) -> bool {
        change.view == self.view && change.path.starts_with(&self.path)
    }
}

/// A reference that differs.
#[derive(Debug)]
pub struct RefChange {
    /// Full name: `refs/heads/main`, `HEAD`.
    pub name: String,
    /// Target before the command ran.
    pub before: Option<Head>,
    /// Target after the command ran.
    pub after: Option<Head>,
    /// Number of new commits that are reachable from it.
    pub commits: usize,
}

/// Target of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Object ID in hexadecimal.
    Object(String),
    /// Name of another reference.
    Reference(String),
}

/// A new commit.
#[derive(Debug)]
pub struct Commit {
    /// Object ID in hexadecimal.
    pub id: String,
    /// First line of the message.
    pub subject: String,
    /// New content that the commit brings to protected names.
    pub touched: Vec<Touched>,
}

/// A protected name in a commit or in the index.
#[derive(Debug)]
pub struct Touched {
    /// Path in the working tree.
    pub path: PathBuf,
    /// Rule that protects it.
    pub name: &'static ProtectedName,
}

impl Overlay {
    /// Returns the changes to every repository that contains one of `changes`.
    pub fn repositories(&self, changes: &[Change]) -> Result<Vec<GitChanges>, OverlayError> {
        let mut found = Vec::new();
        for (view, at) in self.manifest.views.iter().enumerate() {
            let (upper, lower) = (self.upper(view)?, self.lower(view)?);
            let sides = Sides { before: Side::before(&lower), after: Side::after(&upper, &lower) };
            let mut repositories: BTreeMap<PathBuf, Vec<&Change>> = BTreeMap::new();
            for change in changes.iter().filter(|change| change.view == view) {
                if let Some(path) =
                    sides.repository_of(&change.path, at.repository).at("cannot read", &change.path)?
                {
                    repositories.entry(path).or_default().push(change);
                }
            }
            found.extend(repositories.into_iter().map(|(path, own)| sides.changes(view, path, &own)));
        }
        Ok(found)
    }
}

/// Both sides of a view.
struct Sides<'a> {
    before: Side<'a>,
    after: Side<'a>,
}

impl Sides<'_> {
    /// Returns the git directory that contains a change: `.git`, or the one of a submodule below it.
    fn repository_of(&self, path: &Path, is_repository: bool) -> Result<Option<PathBuf>, rustix::io::Errno> {
        let depth = path.components().position(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        let depth = if is_repository { 0 } else { depth.map_or(usize::MAX, |depth| depth + 1) };
        let parts: Vec<_> = path.components().collect();
        if depth >= parts.len() && !is_repository {
            return Ok(None);
        }
        let upto = |count: usize| parts[..count].iter().collect::<PathBuf>();
        if parts.get(depth).is_some_and(|part| part.as_os_str() == "modules") {
            for count in (depth + 2..parts.len()).rev() {
                let inner = upto(count);
                if self.after.has(&inner.join("HEAD"))? && self.after.has(&inner.join("objects"))? {
                    return Ok(Some(inner));
                }
            }
        }
        Ok(Some(upto(depth)))
    }

    fn changes(&self, view: usize, path: PathBuf, own: &[&Change]) -> GitChanges {
        let mut told = GitChanges {
            view,
            path,
            objects: 0,
            refs: Vec::new(),
            commits: Vec::new(),
            staged: Vec::new(),
            unreadable: None,
        };
        if let Err(why) = self.fill(&mut told, own) {
            told.unreadable = Some(why.to_string());
        }
        told
    }

    fn fill(&self, told: &mut GitChanges, own: &[&Change]) -> Result<(), Unreadable> {
        let inner: BTreeSet<&Path> =
            own.iter().filter_map(|change| change.path.strip_prefix(&told.path).ok()).collect();
        let after = Objects::open(self.after, &told.path)?;
        told.objects = new_objects(&told.path, own, &after);
        if inner.iter().any(|path| path.starts_with("reftable")) {
            return Err(Unreadable::Format("its references are kept in a form that is not known here"));
        }
        if ["shallow", "info/grafts"].iter().any(|name| inner.contains(Path::new(name))) {
            return Err(Unreadable::Format(ANCESTORS));
        }
        let leads = refs::changed(self, &told.path, &inner)?;
        let before = Objects::open(self.before, &told.path)?;
        is_unaltered(&told.path, own, &before, &after)?;
        let judge = |path: &Path| judged(path);
        let indexes: Vec<_> =
            inner.iter().filter(|path| is_index(path)).map(|it| told.path.join(it)).collect();
        let roots = refs::roots(self.before, &told.path)?;
        let trusted = Trusted::new(&before, roots, self.staged_before(&told.path, &indexes)?);
        let mut history = History { trusted, after: &after, judge: &judge };
        history.fill(told, leads)?;
        for index in indexes {
            for entry in staged(self.after, &index)? {
                if let Some(name) = judged(&entry.path)
                    && !history.trusted.had(&entry.path, entry.file)?
                {
                    told.staged.push(Touched { path: entry.path, name });
                }
            }
        }
        Ok(())
    }

    /// Returns the files at protected names in the index outside, and in the indexes that differ.
    fn staged_before(
        &self,
        repository: &Path,
        indexes: &[PathBuf],
    ) -> Result<HashSet<(PathBuf, File)>, Unreadable> {
        let main = repository.join("index");
        let mut found = HashSet::new();
        for index in indexes.iter().chain((!indexes.contains(&main)).then_some(&main)) {
            let entries = staged(self.before, index)?.into_iter();
            found.extend(entries.filter(|it| judged(&it.path).is_some()).map(|it| (it.path, it.file)));
        }
        Ok(found)
    }
}

/// Counts the new objects: loose ones, and those in new packs.
fn new_objects(repository: &Path, own: &[&Change], after: &Objects<'_>) -> u64 {
    let new = own.iter().filter(|change| change.before.is_none());
    new.map(|change| match Stored::at(repository, &change.path) {
        Some(Stored::Loose(_)) => 1,
        Some(Stored::Index) => {
            after.pack(&change.path.with_extension("pack")).map_or(0, |(_, it)| it.count())
        }
        Some(Stored::Pack | Stored::Cache) | None => 0,
    })
    .sum()
}

/// Checks that the content of every object that existed before is the same. Git trusts object IDs and its
/// own caches about commits, so a change to either would put other content under a known ID.
fn is_unaltered(
    repository: &Path,
    own: &[&Change],
    before: &Objects<'_>,
    after: &Objects<'_>,
) -> Result<(), Unreadable> {
    let same = |id: ObjectId, now: Object| -> Result<(), Unreadable> {
        if before.read(id)? == now { Ok(()) } else { Err(ALTERED) }
    };
    for change in own.iter().filter(|change| change.after.is_some()) {
        match Stored::at(repository, &change.path) {
            Some(Stored::Cache) => return Err(Unreadable::Format(CACHE)),
            Some(Stored::Loose(_) | Stored::Index | Stored::Pack)
                if change.before.is_some() && change.content =>
            {
                return Err(ALTERED);
            }
            Some(Stored::Loose(id)) if before.has(id)? => same(id, after.read_loose(id)?)?,
            Some(Stored::Index) => {
                let pack = after.pack(&change.path.with_extension("pack"));
                let Some((at, index)) = pack else { continue };
                for row in 0..index.count() {
                    let (id, offset) = index.object(row, SHA1)?;
                    if before.has(id)? {
                        same(id, after.read_packed(at, offset)?)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

const ALTERED: Unreadable = Unreadable::Format("objects that were there before are not the same any more");
const CACHE: &str =
    "git would believe what is written about commits in commit-graph or multi-pack-index, and not look";

const ANCESTORS: &str =
    "git would believe what is written about ancestors of commits in shallow or info/grafts";

/// Kind of a file in the object directory of a repository.
enum Stored {
    /// A loose object.
    Loose(ObjectId),
    /// A pack index.
    Index,
    Pack,
    /// Data about other objects that git trusts: the commit graph or the multi-pack index.
    Cache,
}

impl Stored {
    fn at(repository: &Path, path: &Path) -> Option<Self> {
        let inner = path.strip_prefix(repository.join("objects")).ok()?;
        let parts: Vec<_> = inner.iter().map(std::ffi::OsStr::to_str).collect::<Option<_>>()?;
        let ends = |name: &str, end: &str| Path::new(name).extension().is_some_and(|found| found == end);
        match parts[..] {
            ["info", name, ..] if name.starts_with("commit-graph") => Some(Self::Cache),
            ["pack", name, ..] if name.starts_with("multi-pack-index") => Some(Self::Cache),
            ["pack", name] if ends(name, "idx") => Some(Self::Index),
            ["pack", name] if ends(name, "pack") => Some(Self::Pack),
            [top, name] => parse_id([top, name].concat().as_bytes()).map(Self::Loose),
            _ => None,
        }
    }
}

fn staged(side: Side<'_>, index: &Path) -> Result<Vec<index::Staged>, Unreadable> {
    side.read(index, index::LONGEST)?.map_or(Ok(Vec::new()), |index| index::parse(&index))
}

/// Returns true if a path in a repository is the index of its main or of a linked working tree.
fn is_index(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().collect();
    match parts[..] {
        [name] => name == "index",
        [top, _, name] => top == "worktrees" && name == "index",
        _ => false,
    }
}

/// Returns true if replacing the index of a repository outside loses nothing: its tree is that of the last
/// commit, and only the times and inodes in it are newer. `git status` writes those.
pub(crate) fn is_clean_index(lower: &Directory, path: &Path) -> bool {
    let Some(directory) = path.parent().filter(|_| path.file_name().is_some_and(|name| name == "index"))
    else {
        return false;
    };
    let is_further = directory.parent().is_some_and(|above| above.ends_with("worktrees"));
    let repository = if is_further { directory.ancestors().nth(2) } else { Some(directory) };
    let clean = || -> Result<Option<bool>, Unreadable> {
        let side = Side::before(lower);
        let Some(repository) = repository else { return Ok(None) };
        let Some(staged) = index::tree(&side.read(path, index::LONGEST)?.unwrap_or_default()) else {
            return Ok(None);
        };
        let head = directory.strip_prefix(repository).unwrap_or(directory).join("HEAD");
        let Some(head) = refs::resolve(side, repository, head)? else { return Ok(None) };
        Ok(Some(history::tree_of(&Objects::open(side, repository)?, head)? == staged))
    };
    clean().is_ok_and(|clean| clean == Some(true))
}

/// Returns the protected name that a path in a commit matches.
fn judged(path: &Path) -> Option<&'static ProtectedName> {
    let names = Protected::all();
    names.rule(Ground::Tree, path, Act::File, &Nothing).name()
}

/// Empty surroundings: a commit is judged by its names alone.
struct Nothing;

impl Surroundings for Nothing {
    fn has(&self, _: &Path, _: &str) -> bool {
        false
    }

    fn was_repository(&self, _: &Path) -> bool {
        false
    }
}
