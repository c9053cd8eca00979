//! Commits that are reachable from references outside, and the files in them.
//!
//! **Invariant.** An object is not trusted because it exists. An overlay that adds objects and no reference
//! to them is applied without confirmation; commits that a later overlay builds on them are new.

use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::history;
use super::objects::{ObjectId, ObjectKind, Objects, Unreadable};

/// Maximum number of commits that are searched; more than a history has.
const MOST_COMMITS: usize = 300_000;
/// Maximum number of trees that are read to find earlier content of files.
const MOST_TREES: usize = 200_000;
/// Maximum depth of tags that point to tags.
const MOST_TAGS: usize = 10;

/// A file of a commit or of the index: its content and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct File {
    pub(super) id: ObjectId,
    mode: u32,
}

const EXECUTABLE: u32 = 0o100;

impl File {
    /// Creates a file from its mode in a commit. Git uses only the file type and the executable bit of it.
    pub(super) fn new(id: ObjectId, mode: u32) -> Self {
        Self { id, mode: mode & (0o170_000 | EXECUTABLE) }
    }

    fn executable(self) -> Self {
        Self { mode: self.mode | EXECUTABLE, ..self }
    }
}

/// The history of a repository outside.
pub(super) struct Trusted<'a> {
    objects: &'a Objects<'a>,
    roots: BTreeSet<ObjectId>,
    /// Files in the index outside.
    staged: HashSet<(PathBuf, File)>,
    walk: Option<Walk>,
    paths: HashMap<PathBuf, PathHistory>,
    trees_left: usize,
}

/// A walk over commits, newest first.
#[derive(Default)]
struct Walk {
    todo: BinaryHeap<(i64, ObjectId, ObjectId, Vec<ObjectId>)>,
    reached: HashSet<ObjectId>,
    trees: Vec<ObjectId>,
}

/// The files that commits have at one path.
#[derive(Default)]
struct PathHistory {
    /// Number of commits that were examined.
    next: usize,
    /// Trees that were examined, with their depth.
    seen: HashSet<(usize, ObjectId)>,
    files: HashSet<File>,
}

impl<'a> Trusted<'a> {
    pub(super) fn new(
        objects: &'a Objects<'a>,
        roots: BTreeSet<ObjectId>,
        staged: HashSet<(PathBuf, File)>,
    ) -> Self {
        Self { objects, roots, staged, walk: None, paths: HashMap::new(), trees_left: MOST_TREES }
    }

    /// Returns true if a commit or a tag is reachable from references outside.
    pub(super) fn reaches(&mut self, id: ObjectId) -> Result<bool, Unreadable> {
        if !self.objects.has(id)? {
            return Ok(false);
        }
        // Most new commits have the tip of a branch as parent, and need no walk.
        if self.roots.contains(&id) && self.is_history(id)? {
            return Ok(true);
        }
        loop {
            if self.walk()?.reached.contains(&id) {
                return Ok(true);
            }
            if !self.advance()? {
                return Ok(false);
            }
        }
    }

    /// Returns true if the index outside, or a commit reachable from references outside, has a file at a
    /// path.
    pub(super) fn had(&mut self, path: &Path, file: File) -> Result<bool, Unreadable> {
        if !self.objects.has(file.id)? {
            return Ok(false);
        }
        if self.staged.contains(&(path.to_owned(), file)) {
            return Ok(true);
        }
        let mut history = self.paths.remove(path).unwrap_or_default();
        let answer = self.search(&mut history, path, file);
        self.paths.insert(path.to_owned(), history);
        answer
    }

    fn search(&mut self, history: &mut PathHistory, path: &Path, file: File) -> Result<bool, Unreadable> {
        loop {
            if history.files.contains(&file) || history.files.contains(&file.executable()) {
                return Ok(true);
            }
            if self.trees_left == 0 {
                return Ok(false);
            }
            match self.walk()?.trees.get(history.next).copied() {
                Some(tree) => {
                    history.next += 1;
                    history.look(self.objects, tree, path, &mut self.trees_left)?;
                }
                None if self.advance()? => {}
                None => return Ok(false),
            }
        }
    }

    fn is_history(&self, id: ObjectId) -> Result<bool, Unreadable> {
        Ok(matches!(self.objects.read(id)?.kind, ObjectKind::Commit | ObjectKind::Tag))
    }

    /// Returns the walk; starts it at all references if there is none.
    fn walk(&mut self) -> Result<&mut Walk, Unreadable> {
        let walk = if let Some(walk) = self.walk.take() {
            walk
        } else {
            let mut walk = Walk::default();
            self.roots.iter().try_for_each(|root| walk.push(self.objects, *root))?;
            walk
        };
        Ok(self.walk.insert(walk))
    }

    /// Visits the next commit. Returns `false` if there is none.
    fn advance(&mut self) -> Result<bool, Unreadable> {
        let objects = self.objects;
        let walk = self.walk()?;
        let Some((_, _, tree, parents)) = walk.todo.pop() else { return Ok(false) };
        if walk.reached.len() > MOST_COMMITS {
            return Err(Unreadable::Format("its history is too long to be looked through"));
        }
        walk.trees.push(tree);
        parents.into_iter().try_for_each(|parent| walk.push(objects, parent))?;
        Ok(true)
    }
}

impl Walk {
    /// Adds a commit, or the one that a tag points to. A missing object, as in a shallow clone, is not
    /// trusted.
    fn push(&mut self, objects: &Objects<'_>, mut id: ObjectId) -> Result<(), Unreadable> {
        for _ in 0..MOST_TAGS {
            if self.reached.contains(&id) {
                return Ok(());
            }
            let object = match objects.read(id) {
                Err(Unreadable::Missing(_)) => return Ok(()),
                other => other?,
            };
            match object.kind {
                ObjectKind::Commit => {
                    let git::Commit { tree, parents, date, .. } = history::parse(&object)?;
                    self.reached.insert(id);
                    self.todo.push((date, id, tree, parents));
                    return Ok(());
                }
                ObjectKind::Tag => {
                    self.reached.insert(id);
                    id = history::tagged(&object)?;
                }
                ObjectKind::Tree | ObjectKind::Blob => return Ok(()),
            }
        }
        Ok(())
    }
}

impl PathHistory {
    /// Records the file that a commit has at the path.
    fn look(
        &mut self,
        objects: &Objects<'_>,
        mut tree: ObjectId,
        path: &Path,
        left: &mut usize,
    ) -> Result<(), Unreadable> {
        let parts: Vec<_> = path.iter().collect();
        for (depth, name) in parts.iter().enumerate() {
            if !self.seen.insert((depth, tree)) || *left == 0 {
                return Ok(());
            }
            *left -= 1;
            let entries = match history::entries(objects, tree) {
                Err(Unreadable::Missing(_)) => return Ok(()),
                other => other?,
            };
            match entries.get(name.as_bytes()) {
                Some(entry) if entry.is_tree => tree = entry.file.id,
                Some(entry) if depth + 1 == parts.len() => {
                    self.files.insert(entry.file);
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}
