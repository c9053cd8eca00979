//! The commits that can be reached from trusted names, walked once and remembered.

use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

use super::id::ObjectId;
use super::store::ObjectStore;

/// A walk from the roots to their ancestors, as far as it was needed until now.
pub(super) struct Walk {
    /// Trusted names that have not been visited.
    roots: VecDeque<ObjectId>,
    /// Parents of visited commits, each with the date of the child: what is newer comes first without being read for that.
    parents: BinaryHeap<(i64, ObjectId)>,
    /// Visited objects; the value is true for a commit that could be read.
    visited: HashMap<ObjectId, bool>,
    /// The trees of the visited commits, in the order of the walk.
    trees: Vec<ObjectId>,
    /// Commits whose trees do not count.
    left_out: BTreeSet<ObjectId>,
}

/// Result of one step of a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Made,
    /// Nothing is left.
    End,
    /// More has been visited than is remembered.
    TooMany,
}

const MOST_VISITED: usize = 3_000_000;

impl Walk {
    pub(super) fn new(roots: impl IntoIterator<Item = ObjectId>, left_out: BTreeSet<ObjectId>) -> Self {
        let (roots, parents) = (roots.into_iter().collect(), BinaryHeap::new());
        Self { roots, parents, visited: HashMap::new(), trees: Vec::new(), left_out }
    }

    /// Visits one more commit, if there is one.
    pub(super) fn advance(&mut self, store: &mut ObjectStore) -> Step {
        if self.visited.len() >= MOST_VISITED {
            return Step::TooMany;
        }
        if let Some(root) = self.roots.pop_front() {
            self.visit(root, |id| store.peeled(id));
            return Step::Made;
        }
        let Some((_, parent)) = self.parents.pop() else { return Step::End };
        self.visit(parent, |id| store.commit(id).map(|commit| (*id, commit)));
        Step::Made
    }

    /// A commit that cannot be read leads nowhere.
    fn visit(
        &mut self,
        name: ObjectId,
        read: impl FnOnce(&ObjectId) -> Option<(ObjectId, super::object::Commit)>,
    ) {
        if self.visited.contains_key(&name) {
            return;
        }
        let found = read(&name);
        self.visited.insert(name, found.is_some());
        let Some((id, commit)) = found else { return };
        // The object that a tag names may have been visited under its own name.
        if id != name && self.visited.insert(id, true).is_some() {
            return;
        }
        if !self.left_out.contains(&id) {
            self.trees.push(commit.tree);
        }
        let new = commit.parents.iter().filter(|parent| !self.visited.contains_key(parent));
        self.parents.extend(new.map(|parent| (commit.date, *parent)));
    }

    /// Returns true if a commit has been visited and read.
    pub(super) fn has_reached(&self, id: &ObjectId) -> bool {
        self.visited.get(id) == Some(&true)
    }

    /// The tree of the commit that was visited as the `at`th.
    pub(super) fn tree(&self, at: usize) -> Option<ObjectId> {
        self.trees.get(at).copied()
    }
}
