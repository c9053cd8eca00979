//! Questions about the contents of trusted commits.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use rustix::io::Errno;

use super::changes::Comparison;
use super::id::ObjectId;
use super::new_commits::{BothSides, NewCommit, NewCommits, Side};
use super::object::{Commit, ObjectKind, id_of};
use super::path_history::PathHistory;
use super::store::ObjectStore;
use super::walk::{Step, Walk};

/// Contents of trusted commits and their ancestors.
///
/// Objects that have been read are remembered, so that one value should serve all questions about a repository.
pub struct History {
    store: ObjectStore,
    roots: BTreeSet<ObjectId>,
    walk: Walk,
    paths: HashMap<Vec<u8>, PathHistory>,
}

/// Result of looking for a file in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It was.
    Yes {
        /// True if the commit that was found had it as an executable.
        executable: bool,
    },
    /// It was not, as far as the history can be read.
    No,
    /// The time was up, or the history is too long, before it was known.
    TimeUp,
}

/// Result of looking for a commit in a history.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It is.
    Yes,
    /// It is not, as far as the history can be read.
    No,
    /// The time was up, or the history is too long, before it was known.
    TimeUp,
}

/// Paths whose files are remembered.
const MOST_PATHS: usize = 256;

impl History {
    /// Opens the objects of a repository and of those that it borrows from. `git_dir` is the directory that its working trees share; `roots`
    /// are names that are trusted.
    /// The files of `left_out` do not count; their ancestors do.
    pub fn new(
        git_dir: &OwnedFd,
        roots: impl IntoIterator<Item = ObjectId>,
        left_out: BTreeSet<ObjectId>,
    ) -> Result<Self, Errno> {
        let roots: BTreeSet<_> = roots.into_iter().collect();
        let walk = Walk::new(roots.iter().copied(), left_out);
        Ok(Self { store: ObjectStore::open(git_dir)?, roots, walk, paths: HashMap::new() })
    }

    /// Tells whether a commit that the roots reach has a plain file with this content at a path, relative to the top of the working tree.
    ///
    /// A content in which every line ends in CR LF is also the one with LF alone, as `eol=crlf` checks it out.
    pub fn had(&mut self, path: &[u8], content: &[u8], until: Instant) -> Answer {
        let Some(mut history) = self.paths.remove(path).or_else(|| PathHistory::new(path)) else {
            return Answer::No;
        };
        let answer = self.search(&mut history, &self.blobs(content), until);
        if self.paths.len() >= MOST_PATHS {
            self.paths.clear();
        }
        self.paths.insert(path.to_vec(), history);
        answer
    }

    /// Tells whether one of the roots itself has a plain file with this content at a path.
    pub fn has_now(&mut self, path: &[u8], content: &[u8]) -> bool {
        let Some(mut history) = PathHistory::new(path) else { return false };
        let blobs = self.blobs(content);
        self.roots.iter().filter_map(|root| self.store.peeled(root)).collect::<Vec<_>>().iter().any(
            |(_, commit)| {
                history.look(&mut self.store, commit.tree);
                history.file(&blobs).is_some()
            },
        )
    }

    /// The names that a content may have in the object store.
    fn blobs(&self, content: &[u8]) -> Vec<ObjectId> {
        // The roots are in the order of their formats, and a repository has one.
        let formats: BTreeSet<_> =
            [self.roots.first(), self.roots.last()].into_iter().flatten().map(ObjectId::format).collect();
        let other = without_returns(content);
        let contents = || [Some(content), other.as_deref()].into_iter().flatten();
        let ids = formats
            .into_iter()
            .flat_map(|format| contents().map(move |content| id_of(format, ObjectKind::Blob, content)));
        ids.flatten().collect()
    }

    fn search(&mut self, history: &mut PathHistory, blobs: &[ObjectId], until: Instant) -> Answer {
        loop {
            if let Some(file) = history.file(blobs) {
                return Answer::Yes { executable: file.executable };
            }
            if Instant::now() >= until {
                return Answer::TimeUp;
            }
            match self.walk.tree(history.seen) {
                Some(tree) => history.look(&mut self.store, tree),
                None => match self.walk.advance(&mut self.store) {
                    Step::Made => {}
                    Step::End => return Answer::No,
                    Step::TooMany => return Answer::TimeUp,
                },
            }
        }
    }

    /// Tells whether a commit is one of the roots or of their ancestors, and can be read.
    #[cfg(test)]
    pub(crate) fn reaches(&mut self, commit: ObjectId, until: Instant) -> Reach {
        while !self.walk.has_reached(&commit) {
            if Instant::now() >= until {
                return Reach::TimeUp;
            }
            match self.walk.advance(&mut self.store) {
                Step::Made => {}
                Step::End => return Reach::No,
                Step::TooMany => return Reach::TimeUp,
            }
        }
        Reach::Yes
    }

    /// Lists commits that `tips` reach and the roots do not, and that change wanted paths: newest first, at most `limit`.
    ///
    /// A merge changes what differs from every parent. When the time is up, commits may be listed that are not new.
    pub fn new_commits(
        &mut self,
        tips: &BTreeSet<ObjectId>,
        limit: usize,
        wanted: impl Fn(&Path) -> bool,
        until: Instant,
    ) -> NewCommits {
        let (new, cut) = self.new_side(tips, until);
        let ids = new.iter().map(|(id, _)| *id).collect();
        let is_whole = !cut;
        let mut comparison = Comparison { store: &mut self.store, wanted: &wanted, until, cut };
        let mut commits = Vec::new();
        for (id, commit) in new {
            if Instant::now() >= until {
                comparison.cut = true;
                break;
            }
            let paths = comparison.paths(&commit);
            if paths.is_empty() {
                continue;
            }
            if commits.len() == limit {
                comparison.cut = true;
                break;
            }
            commits.push(NewCommit { id, subject: commit.subject, paths });
        }
        NewCommits { ids, is_whole, commits, cut: comparison.cut }
    }

    /// The commits that are new, newest first, and whether there may be more.
    fn new_side(&mut self, tips: &BTreeSet<ObjectId>, until: Instant) -> (Vec<(ObjectId, Commit)>, bool) {
        let mut sides = BothSides::new(&mut self.store, &self.walk);
        let new: Vec<_> = tips.difference(&self.roots).copied().collect();
        let started = new.is_empty()
            || (sides.start(new, Side::New, until)
                && sides.start(self.roots.iter().copied(), Side::Trusted, until));
        if started { sides.run(until) } else { (Vec::new(), true) }
    }
}

/// The content with LF for CR LF, if every line ends so.
fn without_returns(content: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<_> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let whole = lines.iter().all(|line| line.ends_with(b"\r\n") || !line.ends_with(b"\n"));
    let any = lines.first().is_some_and(|line| line.ends_with(b"\n"));
    (whole && any).then(|| {
        let mut without = Vec::with_capacity(content.len());
        for line in lines {
            match line.strip_suffix(b"\r\n") {
                Some(text) => without.extend_from_slice(&[text, b"\n"].concat()),
                None => without.extend_from_slice(line),
            }
        }
        without
    })
}

#[cfg(test)]
#[cfg(feature = "objects")]
mod tests;
