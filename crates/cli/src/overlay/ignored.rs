//! Ignore rules of a repository.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ::overlay::{Change, Kind, Node, Overlay};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::failure::Failure;

/// Longer lists are not read, and then nothing is ignored by them.
const LONGEST: u64 = 1 << 20;

/// The lists of ignored names as they are outside. What the command wrote into them does not count: it could hide its changes.
pub(crate) struct Ignored<'a> {
    overlay: &'a Overlay,
    lists: HashMap<(usize, PathBuf), Gitignore>,
    /// The ignored directory that a directory is or lies in.
    known: HashMap<(usize, PathBuf), Option<PathBuf>>,
}

impl<'a> Ignored<'a> {
    /// Nothing is read before it is needed.
    pub(crate) fn of(overlay: &'a Overlay) -> Self {
        Self { overlay, lists: HashMap::new(), known: HashMap::new() }
    }

    /// The ignored directory that a change lies in, or its own path if only that is ignored.
    pub(crate) fn top(&mut self, change: &Change) -> Result<Option<PathBuf>, Failure> {
        let is_directory = |node: &Option<Node>| matches!(node, Some(Node { kind: Kind::Directory, .. }));
        let directory = is_directory(&change.after) || is_directory(&change.before) && change.after.is_none();
        self.find(change.view, &change.path, directory)
    }

    fn find(&mut self, view: usize, path: &Path, is_directory: bool) -> Result<Option<PathBuf>, Failure> {
        let Some(parent) = path.parent() else { return Ok(None) };
        let key = (view, path.to_owned());
        if let Some(known) = self.known.get(&key).filter(|_| is_directory) {
            return Ok(known.clone());
        }
        let found = match self.find(view, parent, true)? {
            Some(top) => Some(top),
            None => self.is_listed(view, path, is_directory)?.then(|| path.to_owned()),
        };
        if is_directory {
            self.known.insert(key, found.clone());
        }
        Ok(found)
    }

    /// The nearest list that speaks of a name decides.
    fn is_listed(&mut self, view: usize, path: &Path, is_directory: bool) -> Result<bool, Failure> {
        for directory in path.ancestors().skip(1) {
            match self.list(view, directory)?.matched(path, is_directory) {
                Match::Ignore(_) => return Ok(true),
                Match::Whitelist(_) => return Ok(false),
                Match::None => {}
            }
        }
        Ok(false)
    }

    fn list(&mut self, view: usize, directory: &Path) -> Result<&Gitignore, Failure> {
        let key = (view, directory.to_owned());
        if !self.lists.contains_key(&key) {
            let mut builder = GitignoreBuilder::new(directory);
            let here = directory.as_os_str().is_empty();
            // Earlier files count less.
            for file in here.then_some(".git/info/exclude").into_iter().chain([".gitignore"]) {
                let text = self.overlay.outside(view, &directory.join(file), LONGEST);
                let text = text.map_err(|error| super::failure(&error))?.unwrap_or_default();
                for line in String::from_utf8_lossy(&text).lines() {
                    // A line that is no pattern ignores nothing.
                    drop(builder.add_line(None, line));
                }
            }
            let list = builder.build().unwrap_or_else(|_| Gitignore::empty());
            self.lists.insert(key.clone(), list);
        }
        Ok(&self.lists[&key])
    }
}
