//! Detection of moved files: one name is removed, another is added, and the content is the same or similar.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Read as _;
use std::path::Path;

use rustix::io::Errno;

use crate::change::{Change, Kind, Node};
use crate::error::OverlayError;
use crate::store::Overlay;
use git::Directory;

/// A moved file, by the positions of its two changes in the list of all changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rename {
    /// The change that removes it.
    pub from: usize,
    /// The change that adds it.
    pub to: usize,
    /// Share of the content that is the same, in per cent.
    pub alike: u64,
}

/// Limits of the line-by-line comparison: length of a file, and number of pairs.
const LONGEST: u64 = 1 << 20;
const MOST_PAIRS: usize = 200_000;
/// Limits over all compared files: bytes, lines, and lines of all pairs. Beyond them no two files are
/// similar.
const MOST_BYTES: u64 = 64 << 20;
const MOST_LINES: usize = 2_000_000;
const MOST_COMPARED: usize = 500_000_000;
/// Minimum similarity in per cent; less is considered unrelated.
const LEAST_ALIKE: u64 = 50;

impl Overlay {
    /// Finds the moved files among the changes at these positions in the list. Content decides: a file that
    /// was moved and rewritten is reported as one removed and one added.
    pub fn renames(
        &self,
        changes: &[Change],
        among: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<Rename>, OverlayError> {
        let mut found = Vec::new();
        for view in 0..self.manifest.views.len() {
            let (lower, upper) = (self.lower(view)?, self.upper(view)?);
            let search = Search { lower: &lower, upper: &upper, changes, among, keys: RandomState::new() };
            found.extend(search.renames(view));
        }
        Ok(found)
    }
}

struct Search<'a> {
    lower: &'a Directory,
    upper: &'a Directory,
    changes: &'a [Change],
    among: &'a dyn Fn(usize) -> bool,
    /// Random hash keys: without them, content cannot be made to collide on purpose.
    keys: RandomState,
}

/// The lines of a file, sorted: hash and length of each.
type Lines = Vec<(u64, u64)>;

impl Search<'_> {
    fn renames(&self, view: usize) -> Vec<Rename> {
        let of_git = |path: &Path| path.iter().any(|part| part.eq_ignore_ascii_case(".git"));
        let listed = || {
            self.changes
                .iter()
                .enumerate()
                .filter(move |(at, change)| change.view == view && !of_git(&change.path) && (self.among)(*at))
        };
        let is_file =
            |node: &Option<Node>| matches!(node, Some(Node { kind: Kind::File, size, .. }) if *size > 0);
        let gone: Vec<_> =
            listed().filter(|(_, it)| it.after.is_none() && is_file(&it.before)).map(|(at, _)| at).collect();
        let come: Vec<_> =
            listed().filter(|(_, it)| it.before.is_none() && is_file(&it.after)).map(|(at, _)| at).collect();
        let mut found = self.unchanged(&gone, &come);
        let used: HashSet<_> = found.iter().flat_map(|rename| [rename.from, rename.to]).collect();
        let left = |all: Vec<usize>| all.into_iter().filter(|at| !used.contains(at)).collect::<Vec<_>>();
        found.extend(self.alike(&left(gone), &left(come)));
        found
    }

    /// Returns the pairs with the same content. Among several sources, one with the same name is preferred.
    fn unchanged(&self, gone: &[usize], come: &[usize]) -> Vec<Rename> {
        let lengths: HashSet<_> = come.iter().map(|at| self.size(*at)).collect();
        let mut sources: HashMap<(u64, u64), Vec<usize>> = HashMap::new();
        for &at in gone.iter().filter(|at| lengths.contains(&self.size(**at))) {
            if let Ok(content) = self.digest(at) {
                sources.entry((self.size(at), content)).or_default().push(at);
            }
        }
        let lengths: HashSet<_> = sources.keys().map(|(size, _)| *size).collect();
        let mut found = Vec::new();
        for &to in come.iter().filter(|at| lengths.contains(&self.size(**at))) {
            let Ok(content) = self.digest(to) else { continue };
            let Some(same) = sources.get_mut(&(self.size(to), content)).filter(|same| !same.is_empty())
            else {
                continue;
            };
            let place = same.iter().position(|from| self.have_same_name(*from, to)).unwrap_or(0);
            found.push(Rename { from: same.remove(place), to, alike: 100 });
        }
        found
    }

    /// Returns the pairs with similar content, most similar first.
    fn alike(&self, gone: &[usize], come: &[usize]) -> Vec<Rename> {
        let near = |all: &[usize], others: &[usize]| -> Vec<usize> {
            let near = |at: &usize| others.iter().any(|other| self.are_near(*at, *other));
            all.iter().copied().filter(|at| self.size(*at) <= LONGEST).filter(near).collect()
        };
        if gone.len().saturating_mul(come.len()) > MOST_PAIRS * 10 {
            return Vec::new();
        }
        let (gone, come) = (near(gone, come), near(come, gone));
        if gone.len().saturating_mul(come.len()) > MOST_PAIRS {
            return Vec::new();
        }
        if gone.iter().chain(&come).map(|at| self.size(*at)).sum::<u64>() > MOST_BYTES {
            return Vec::new();
        }
        let mut left = MOST_LINES;
        let [sources, targets] = [gone, come].map(|all| self.read(&all, &mut left));
        let (Some(sources), Some(targets)) = (sources, targets) else { return Vec::new() };
        let count = |files: &BTreeMap<usize, Lines>| files.values().map(Vec::len).sum::<usize>();
        if count(&sources) * targets.len() + count(&targets) * sources.len() > MOST_COMPARED {
            return Vec::new();
        }
        let mut pairs = Vec::new();
        for (from, old) in &sources {
            for (to, new) in &targets {
                let longer = self.size(*from).max(self.size(*to)).max(1);
                let alike = if self.are_near(*from, *to) { common(old, new) * 100 / longer } else { 0 };
                if alike >= LEAST_ALIKE {
                    pairs.push((
                        alike,
                        self.have_same_name(*from, *to),
                        Rename { from: *from, to: *to, alike: alike.min(99) },
                    ));
                }
            }
        }
        pairs.sort_by_key(|(alike, same_name, rename)| {
            (std::cmp::Reverse((*alike, *same_name)), rename.from, rename.to)
        });
        let mut used = HashSet::new();
        pairs.retain(|(_, _, rename)| {
            let free = !used.contains(&rename.from) && !used.contains(&rename.to);
            if free {
                used.extend([rename.from, rename.to]);
            }
            free
        });
        pairs.into_iter().map(|(_, _, rename)| rename).collect()
    }

    fn size(&self, at: usize) -> u64 {
        let change = &self.changes[at];
        change.after.as_ref().or(change.before.as_ref()).map_or(0, |node| node.size)
    }

    /// Returns true if the lengths of two files allow them to be similar.
    fn are_near(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.size(one), self.size(other));
        one.min(other).saturating_mul(100) >= one.max(other).saturating_mul(LEAST_ALIKE)
    }

    fn have_same_name(&self, one: usize, other: usize) -> bool {
        self.changes[one].path.file_name() == self.changes[other].path.file_name()
    }

    fn file(&self, at: usize) -> Result<File, Errno> {
        let change = &self.changes[at];
        let root = if change.after.is_some() { self.upper } else { self.lower };
        let (parent, name) = root.holding(&change.path)?;
        parent.file(name)
    }

    /// Hashes the content of a file.
    fn digest(&self, at: usize) -> std::io::Result<u64> {
        let mut file = self.file(at)?;
        let (mut hasher, mut piece) = (self.keys.build_hasher(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(hasher.finish()),
                count => hasher.write(&piece[..count]),
            }
        }
    }

    /// Reads the lines of all files that are text. Returns `None` if they exceed the number of lines left.
    fn read(&self, all: &[usize], left: &mut usize) -> Option<BTreeMap<usize, Lines>> {
        let mut found = BTreeMap::new();
        for at in all {
            let Some(lines) = self.lines(*at) else { continue };
            *left = left.checked_sub(lines.len())?;
            found.insert(*at, lines);
        }
        Some(found)
    }

    /// Reads the lines of a file. Returns `None` if it is too long or not text.
    fn lines(&self, at: usize) -> Option<Lines> {
        let mut content = Vec::new();
        self.file(at).ok()?.take(LONGEST + 1).read_to_end(&mut content).ok()?;
        if content.len() as u64 > LONGEST || content.contains(&0) {
            return None;
        }
        let lines = content.split_inclusive(|byte| *byte == b'\n');
        let mut lines: Lines = lines.map(|line| (self.keys.hash_one(line), line.len() as u64)).collect();
        lines.sort_unstable();
        Some(lines)
    }
}

/// Returns the number of bytes in lines that both files have.
fn common(one: &Lines, other: &Lines) -> u64 {
    let (mut left, mut right, mut bytes) = (one.iter().peekable(), other.iter().peekable(), 0);
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                bytes += a.1;
                left.next();
                right.next();
            }
        }
    }
    bytes
}
