//! Matches, as many as are shown: the first by path, independent of the order in which threads find them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::line::Text;

/// The first matches by path, and how many there are in all.
pub(super) struct Hits {
    most: usize,
    /// True if each file is one result, false if each match is.
    by_file: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    files: BTreeMap<Vec<u8>, FileHits>,
    /// Results that are kept.
    number: usize,
    total: Total,
}

/// Total number of matches, kept or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) matches: usize,
    pub(super) files: usize,
}

/// Matches in a file.
#[derive(Debug, Default)]
pub(super) struct FileHits {
    /// Number of matches.
    pub(super) count: usize,
    /// The lines that are shown, each with the number of the match that it belongs to.
    pub(super) lines: Vec<(usize, Line)>,
}

/// A line that is shown.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number in the file, from one.
    pub(super) number: u64,
    pub(super) text: Text,
    /// True if it matches, false if it only stands near a line that does.
    pub(super) matches: bool,
}

impl Hits {
    /// Keeps as many results as this, and little more.
    pub(super) fn new(most: usize, by_file: bool) -> Self {
        Self { most, by_file, kept: Mutex::default() }
    }

    /// Returns the number of matches of a file that would be kept. None, if enough is known that comes before it.
    pub(super) fn wanted(&self, path: &[u8]) -> usize {
        let kept = self.lock();
        let is_full = kept.number >= self.most;
        let last = kept.files.last_key_value().filter(|_| is_full);
        if last.is_some_and(|(last, _)| &**last < path) { 0 } else { self.most }
    }

    /// Adds what was found in a file.
    pub(super) fn add(&self, path: &[u8], hits: FileHits) {
        let mut kept = self.lock();
        kept.total.files += 1;
        kept.total.matches += hits.count;
        kept.number += self.results(&hits);
        kept.files.insert(path.to_vec(), hits);
        // Whole files are dropped from the end, as long as enough is left.
        while let Some((_, last)) = kept.files.last_key_value() {
            let results = self.results(last);
            if kept.number - results < self.most {
                break;
            }
            kept.number -= results;
            kept.files.pop_last();
        }
    }

    fn results(&self, hits: &FileHits) -> usize {
        if self.by_file { 1 } else { hits.count }
    }

    /// Everything that was kept, by path.
    pub(super) fn into_parts(self) -> (Total, BTreeMap<Vec<u8>, FileHits>) {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        (kept.total, kept.files)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
