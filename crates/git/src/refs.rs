//! The names that the references of a repository lead to.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::file;
use super::id::ObjectId;

/// Lists what the references of a repository lead to. `git_dir` is the directory that its working trees share.
///
/// These are `HEAD` and the others of its sort, everything below `refs`, packed references, the same of linked working trees,
/// and the entries of the stash. A symbolic reference adds nothing: its target is listed by itself. What cannot be read adds nothing,
/// and the result says so. A reference with a second name by a hard link counts as one that cannot be read: git makes none, and
/// a process could write to it by the other.
pub fn tips(git_dir: &OwnedFd) -> References {
    let mut tips = Tips { found: BTreeSet::new(), files: MOST_FILES, is_whole: true };
    tips.packed(git_dir);
    tips.stash(git_dir);
    tips.working_tree(git_dir);
    let trees = tips.seen(file::directory(git_dir, b"worktrees"));
    for name in trees.map_or_else(Vec::new, |all| tips.names(&all, MOST_TREES)) {
        if let Some(tree) = tips.seen(file::directory_below(git_dir, &[b"worktrees", &name])) {
            tips.working_tree(&tree);
        }
    }
    References { ids: tips.found, is_whole: tips.is_whole }
}

/// Objects that the references of a repository lead to.
pub struct References {
    /// The names.
    pub ids: BTreeSet<ObjectId>,
    /// True if everything could be read.
    pub is_whole: bool,
}

impl References {
    /// Returns true if there is certainly no reference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_whole && self.ids.is_empty()
    }
}

/// The commit that one working tree of a repository has checked out. `tree` is the directory of the repository that belongs to it.
#[must_use]
pub fn head(git_dir: &OwnedFd, tree: &OwnedFd) -> Option<ObjectId> {
    let text = file::text(tree, b"HEAD", LONGEST_REFERENCE).ok()?;
    let text = text.trim_ascii_end();
    let Some(name) = text.strip_prefix(b"ref: ") else { return ObjectId::from_hex(text) };
    let (above, last) = name.split_at(name.iter().rposition(|byte| *byte == b'/')?);
    let above: Vec<_> = above.split(|byte| *byte == b'/').collect();
    let loose = file::directory_below(git_dir, &above)
        .and_then(|directory| file::text(&directory, &last[1..], LONGEST_REFERENCE));
    if let Ok(loose) = loose {
        return ObjectId::from_hex(loose.trim_ascii_end());
    }
    let packed = file::text(git_dir, b"packed-refs", LONGEST_PACKED).ok()?;
    lines(&packed).find_map(|line| {
        let (id, of) = line.split_at(line.iter().position(|byte| *byte == b' ')?);
        (&of[1..] == name).then(|| ObjectId::from_hex(id)).flatten()
    })
}

struct Tips {
    found: BTreeSet<ObjectId>,
    /// Number of files that may still be read.
    files: usize,
    is_whole: bool,
}

const MOST_IDS: usize = 200_000;
const MOST_FILES: usize = 200_000;
const MOST_TREES: usize = 1000;
const MOST_TOP_NAMES: usize = 10_000;
const DEEPEST: usize = 64;
const LONGEST_PACKED: u64 = 64 << 20;
const LONGEST_STASH: u64 = 16 << 20;
/// `FETCH_HEAD` has a line for every branch.
const LONGEST_HEAD: u64 = 16 << 20;
const LONGEST_REFERENCE: u64 = 4096;

impl Tips {
    /// Notes whether something is there and cannot be read.
    fn seen<T>(&mut self, read: Result<T, Errno>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(Errno::NOENT) => None,
            Err(_) => {
                self.is_whole = false;
                None
            }
        }
    }

    /// The names in a directory, and whether there are more.
    fn names(&mut self, directory: &OwnedFd, most: usize) -> Vec<Vec<u8>> {
        let names = self.seen(file::names(directory, most + 1)).unwrap_or_default();
        self.is_whole &= names.len() <= most;
        names
    }

    /// The text of a file that has one name.
    fn text(&mut self, above: &OwnedFd, name: &[u8], longest: u64) -> Option<Vec<u8>> {
        let text = file::plain_file(above, name).and_then(|(file, _)| {
            let found = rustix::fs::fstat(&file)?;
            if found.st_nlink == 1 { file::text(above, name, longest) } else { Err(Errno::MLINK) }
        });
        self.seen(text)
    }

    /// Adds the first word of a line, if it is a name.
    fn add(&mut self, line: &[u8]) {
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let Some(id) = ObjectId::from_hex(word).filter(|id| !id.is_null()) else { return };
        if self.found.len() < MOST_IDS {
            self.found.insert(id);
        } else {
            self.is_whole = false;
        }
    }

    fn packed(&mut self, git_dir: &OwnedFd) {
        for line in lines(&self.text(git_dir, b"packed-refs", LONGEST_PACKED).unwrap_or_default()) {
            self.add(line.strip_prefix(b"^").unwrap_or(line));
        }
    }

    fn stash(&mut self, git_dir: &OwnedFd) {
        let Some(directory) = self.seen(file::directory_below(git_dir, &[b"logs", b"refs"])) else { return };
        let log = self.text(&directory, b"stash", LONGEST_STASH);
        for line in lines(&log.unwrap_or_default()) {
            self.add(line);
            let second = line.iter().position(|byte| *byte == b' ').map_or(line.len(), |space| space + 1);
            self.add(&line[second..]);
        }
    }

    /// Adds what belongs to one working tree.
    fn working_tree(&mut self, directory: &OwnedFd) {
        for name in self.names(directory, MOST_TOP_NAMES).iter().filter(|name| is_head(name)) {
            for line in lines(&self.text(directory, name, LONGEST_HEAD).unwrap_or_default()) {
                self.add(line);
            }
        }
        self.below(directory);
    }

    /// Adds every reference below `refs`. Directories are opened from the top, so that few are open at once.
    fn below(&mut self, directory: &OwnedFd) {
        let mut paths = vec![vec![b"refs".to_vec()]];
        while let Some(path) = paths.pop() {
            let names: Vec<_> = path.iter().map(Vec::as_slice).collect();
            let Some(handle) = self.seen(file::directory_below(directory, &names)) else { continue };
            for name in self.names(&handle, self.files) {
                self.files = self.files.saturating_sub(1);
                let is_directory = file::directory(&handle, &name).is_ok();
                match (is_directory, path.len() < DEEPEST) {
                    (true, true) => paths.push([&path[..], &[name]].concat()),
                    (true, false) => self.is_whole = false,
                    (false, _) => {
                        let text = self.text(&handle, &name, LONGEST_REFERENCE).unwrap_or_default();
                        self.add(&text);
                    }
                }
            }
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// `HEAD`, `ORIG_HEAD`, `CHERRY_PICK_HEAD` and the like.
fn is_head(name: &[u8]) -> bool {
    name.ends_with(b"HEAD") && name.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}
