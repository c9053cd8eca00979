//! The commits that are new: reachable from names of today, and not from trusted ones.
//!
//! Both sorts are walked together, newest first, and the trusted side takes away what it reaches. The walk ends when nothing new is left
//! and the trusted side is older than everything that was found, so that a long history is not read to its beginning.

use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use super::id::ObjectId;
use super::object::Commit;
use super::store::ObjectStore;
use super::walk::Walk;

/// New commits.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewCommits {
    /// All of them, regardless of what they change.
    pub ids: BTreeSet<ObjectId>,
    /// True if these are certainly all.
    pub is_whole: bool,
    /// Those that change a wanted path, newest first.
    pub commits: Vec<NewCommit>,
    /// True if there may be more: by the limit, the time, or because an object cannot be read.
    pub cut: bool,
}

/// A new commit that changes wanted paths.
#[derive(Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its name.
    pub id: ObjectId,
    /// The first line of its message, as it was written: not to be shown unescaped.
    pub subject: Vec<u8>,
    /// The wanted paths at which it differs from every parent.
    pub paths: Vec<PathBuf>,
}

/// Which side a commit belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    New,
    Trusted,
}

/// A walk of both sides.
pub(super) struct BothSides<'a> {
    store: &'a mut ObjectStore,
    /// Objects known to be reachable from the trusted names.
    walked: &'a Walk,
    queue: BinaryHeap<Queued>,
    sides: HashMap<ObjectId, Visit>,
    /// Number of commits in the queue that are new.
    new_queued: usize,
    found: Vec<(ObjectId, Commit)>,
    /// The oldest date of what was found.
    oldest: i64,
    pub(super) cut: bool,
}

struct Visit {
    side: Side,
    is_queued: bool,
}

struct Queued {
    id: ObjectId,
    commit: Commit,
}

const MOST_NEW: usize = 50_000;
/// Commits of the trusted side that are looked at beyond the end, because clocks differ.
const EXTRA: usize = 64;

impl<'a> BothSides<'a> {
    pub(super) fn new(store: &'a mut ObjectStore, walked: &'a Walk) -> Self {
        let (queue, sides) = (BinaryHeap::new(), HashMap::new());
        Self { store, walked, queue, sides, new_queued: 0, found: Vec::new(), oldest: i64::MAX, cut: false }
    }

    /// Adds names to start from. `false` if the time is up.
    pub(super) fn start(
        &mut self,
        names: impl IntoIterator<Item = ObjectId>,
        side: Side,
        until: Instant,
    ) -> bool {
        for name in names {
            if Instant::now() >= until {
                self.cut = true;
                return false;
            }
            match self.store.peeled(&name) {
                Some((id, commit)) => self.add(id, side, Some(commit)),
                None => self.cut |= side == Side::New,
            }
        }
        true
    }

    /// Walks, and gives the new commits, newest first.
    pub(super) fn run(mut self, until: Instant) -> (Vec<(ObjectId, Commit)>, bool) {
        let mut extra = EXTRA;
        while extra > 0 && (self.new_queued > 0 || !self.found.is_empty()) {
            if Instant::now() >= until || self.found.len() >= MOST_NEW {
                self.cut = true;
                break;
            }
            let Some(next) = self.queue.pop() else { break };
            if self.new_queued == 0 && next.commit.date < self.oldest {
                extra -= 1;
            }
            self.visit(next);
        }
        let Self { found, sides, cut, .. } = self;
        let is_new = |id: &ObjectId| sides.get(id).is_some_and(|visit| visit.side == Side::New);
        (found.into_iter().filter(|(id, _)| is_new(id)).collect(), cut)
    }

    fn visit(&mut self, next: Queued) {
        let Queued { id, commit } = next;
        let Some(visit) = self.sides.get_mut(&id) else { return };
        visit.is_queued = false;
        let side = visit.side;
        for parent in &commit.parents {
            self.add(*parent, side, None);
        }
        if side == Side::New {
            self.new_queued -= 1;
            self.oldest = self.oldest.min(commit.date);
            self.found.push((id, commit));
        }
    }

    /// Puts a commit into the queue, unless its side has been told before. What is trusted stays so.
    fn add(&mut self, id: ObjectId, side: Side, commit: Option<Commit>) {
        let side = if self.walked.has_reached(&id) { Side::Trusted } else { side };
        if let Some(visit) = self.sides.get_mut(&id) {
            if visit.side == side || side == Side::New {
                return;
            }
            visit.side = side;
            if visit.is_queued {
                self.new_queued -= 1;
                return;
            }
        }
        let commit = commit.or_else(|| self.store.commit(&id));
        self.sides.insert(id, Visit { side, is_queued: commit.is_some() });
        match commit {
            Some(commit) => {
                self.new_queued += usize::from(side == Side::New);
                self.queue.push(Queued { id, commit });
            }
            None => self.cut |= side == Side::New,
        }
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.commit.date, self.id).cmp(&(other.commit.date, other.id))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Queued {}
