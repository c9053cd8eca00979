//! The paths that a commit changes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::id::ObjectId;
use super::object::{Commit, entries};
use super::store::ObjectStore;

/// Compares trees, and keeps the paths that are wanted.
pub(super) struct Comparison<'a, F> {
    pub(super) store: &'a mut ObjectStore,
    pub(super) wanted: &'a F,
    pub(super) until: Instant,
    /// True if something has been left out.
    pub(super) cut: bool,
}

/// The directory of a commit, and the same one of its parents.
struct Directory {
    path: Vec<u8>,
    own: Option<ObjectId>,
    parents: Vec<Option<ObjectId>>,
}

/// An entry of a tree, by its name: as a file of any sort, and as a directory.
type Entries = BTreeMap<Vec<u8>, Entry>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Entry {
    file: Option<(u32, ObjectId)>,
    tree: Option<ObjectId>,
}

const MOST_PARENTS: usize = 16;
const MOST_PATHS: usize = 1000;
const LONGEST_PATH: usize = 4096;

impl<F: Fn(&Path) -> bool> Comparison<'_, F> {
    /// The wanted paths at which a commit differs from every one of its parents.
    pub(super) fn paths(&mut self, commit: &Commit) -> Vec<PathBuf> {
        let known = commit.parents.iter().take(MOST_PARENTS);
        let mut parents: Vec<_> = known.map(|id| self.store.commit(id).map(|found| found.tree)).collect();
        if parents.is_empty() {
            parents.push(None);
        }
        let mut paths = Vec::new();
        let mut open = vec![Directory { path: Vec::new(), own: Some(commit.tree), parents }];
        while let Some(directory) = open.pop() {
            if Instant::now() >= self.until {
                self.cut = true;
                break;
            }
            self.compare(&directory, &mut paths, &mut open);
        }
        paths.sort_unstable();
        paths
    }

    fn compare(&mut self, directory: &Directory, paths: &mut Vec<PathBuf>, open: &mut Vec<Directory>) {
        if directory.parents.contains(&directory.own) {
            return;
        }
        let own = self.entries(directory.own);
        let parents: Vec<_> = directory.parents.iter().map(|tree| self.entries(*tree)).collect();
        let mut names: Vec<_> = own.keys().chain(parents.iter().flat_map(BTreeMap::keys)).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let entry = |entries: &Entries| entries.get(name).copied().unwrap_or_default();
            let (own, parents): (_, Vec<_>) = (entry(&own), parents.iter().map(entry).collect());
            let path = if directory.path.is_empty() {
                name.clone()
            } else {
                [&directory.path[..], name].join(&b'/')
            };
            if parents.iter().all(|parent| parent.file != own.file) {
                self.keep(&path, paths);
            }
            if path.len() > LONGEST_PATH {
                self.cut = true;
            } else if parents.iter().all(|parent| parent.tree != own.tree) {
                let parents = parents.iter().map(|parent| parent.tree).collect();
                open.push(Directory { path, own: own.tree, parents });
            }
        }
    }

    fn keep(&mut self, path: &[u8], paths: &mut Vec<PathBuf>) {
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        if !(self.wanted)(&path) {
            return;
        }
        if paths.len() < MOST_PATHS {
            paths.push(path);
        } else {
            self.cut = true;
        }
    }

    /// Reads a tree. One that cannot be read, or that git would not have made, may hide something.
    fn entries(&mut self, tree: Option<ObjectId>) -> Entries {
        let mut found = Entries::new();
        let Some(tree) = tree else { return found };
        let object = self.store.tree(&tree);
        let Some(listed) = object.as_ref().and_then(|object| entries(tree.format(), &object.content)) else {
            self.cut = true;
            return found;
        };
        for entry in listed {
            let odd = matches!(entry.name, b"." | b"..") || entry.name.contains(&b'/');
            let value = if entry.is_tree() {
                Entry { file: None, tree: Some(entry.id) }
            } else {
                Entry { file: Some((entry.mode, entry.id)), tree: None }
            };
            if odd || found.insert(entry.name.to_vec(), value).is_some() {
                self.cut = true;
            }
        }
        found
    }
}
