//! Files at one path in the commits of a walk.

use std::collections::HashMap;

use super::id::ObjectId;
use super::object::entry_called;
use super::store::ObjectStore;

/// The files that commits have at a path.
pub(super) struct PathHistory {
    names: Vec<Vec<u8>>,
    /// File that a tree below the root leads to, for every name of the path but the first.
    known: Vec<HashMap<ObjectId, Option<TreeFile>>>,
    /// The root that was looked at last: commits that change nothing follow each other.
    last: Option<ObjectId>,
    /// Number of commits of the walk that have been looked at.
    pub(super) seen: usize,
    /// The files, each as the first commit had it.
    files: HashMap<ObjectId, TreeFile>,
}

/// A plain file in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) id: ObjectId,
    pub(super) executable: bool,
}

const DEEPEST: usize = 256;

impl PathHistory {
    /// `None` if no file of a tree can have that path.
    pub(super) fn new(path: &[u8]) -> Option<Self> {
        let names: Vec<_> = path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect();
        let valid = |name: &Vec<u8>| !matches!(&name[..], b"" | b"." | b"..") && !name.contains(&0);
        (names.len() <= DEEPEST && names.iter().all(valid)).then_some(())?;
        let known = names.iter().skip(1).map(|_| HashMap::new()).collect();
        Some(Self { names, known, last: None, seen: 0, files: HashMap::new() })
    }

    /// The file with one of these names, if a commit that has been looked at had it.
    pub(super) fn file(&self, ids: &[ObjectId]) -> Option<TreeFile> {
        ids.iter().find_map(|id| self.files.get(id)).copied()
    }

    /// Looks at the next commit of the walk, by its tree.
    pub(super) fn look(&mut self, store: &mut ObjectStore, root: ObjectId) {
        self.seen += 1;
        if self.last.replace(root) == Some(root) {
            return;
        }
        if let Some(file) = self.descend(store, root) {
            self.files.entry(file.id).or_insert(file);
        }
    }

    fn descend(&mut self, store: &mut ObjectStore, root: ObjectId) -> Option<TreeFile> {
        let (mut tree, mut trail, mut found) = (root, Vec::new(), None);
        for (depth, name) in self.names.iter().enumerate() {
            let known = depth.checked_sub(1).and_then(|row| self.known[row].get(&tree));
            if let Some(known) = known {
                found = *known;
                break;
            }
            trail.push(tree);
            let Some(object) = store.tree(&tree) else { break };
            let Some(entry) = entry_called(tree.format(), &object.content, name) else { break };
            if depth + 1 == self.names.len() {
                let file = TreeFile { id: entry.id, executable: entry.is_executable() };
                found = entry.is_file().then_some(file);
            } else if !entry.is_tree() {
                break;
            }
            tree = entry.id;
        }
        for (known, tree) in self.known.iter_mut().zip(trail.into_iter().skip(1)) {
            known.insert(tree, found);
        }
        found
    }
}
