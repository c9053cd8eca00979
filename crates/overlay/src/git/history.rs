//! New commits, and what they change.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use policy::ProtectedName;

use super::objects::{ObjectId, ObjectKind, Objects, Unreadable};
use super::{Commit, GitChanges, Head, Touched};

/// More commits than a person looks through.
const MOST_COMMITS: usize = 20_000;
/// More differences than the commits of a session have.
const MOST_ENTRIES: usize = 2_000_000;
const DEEPEST: usize = 200;

/// The commits that one side has and the other has not.
pub(super) struct History<'a> {
    pub(super) before: &'a Objects<'a>,
    pub(super) after: &'a Objects<'a>,
    pub(super) judge: &'a dyn Fn(&Path) -> Option<&'static ProtectedName>,
}

/// A commit as it is written.
struct Parsed {
    tree: ObjectId,
    parents: Vec<ObjectId>,
    subject: String,
    /// When it was made, as it says itself.
    time: i64,
}

impl History<'_> {
    /// Counts the new commits of each reference, and tells each once.
    pub(super) fn fill(&self, told: &mut GitChanges) -> Result<(), Unreadable> {
        let mut known: BTreeMap<ObjectId, Parsed> = BTreeMap::new();
        for reference in &mut told.refs {
            let Some(Head::Object(id)) = &reference.after else { continue };
            let Some(tip) = ObjectId::parse(id.as_bytes()) else { continue };
            reference.commits = self.follow(tip, &mut known)?;
        }
        let mut budget = MOST_ENTRIES;
        let mut commits = Vec::new();
        for (id, commit) in &known {
            let touched = self.touched(commit, &mut budget)?;
            commits
                .push((commit.time, Commit { id: id.to_string(), subject: commit.subject.clone(), touched }));
        }
        commits.sort_by(|one, other| (other.0, &other.1.id).cmp(&(one.0, &one.1.id)));
        told.commits = commits.into_iter().map(|(_, commit)| commit).collect();
        Ok(())
    }

    /// Reads the new commits that an object leads to, and says how many there are.
    fn follow(&self, tip: ObjectId, known: &mut BTreeMap<ObjectId, Parsed>) -> Result<usize, Unreadable> {
        let (mut todo, mut seen, mut commits) = (vec![tip], HashSet::new(), 0);
        while let Some(id) = todo.pop() {
            // What was there before was not made by the command, nor was anything that it builds upon.
            if !seen.insert(id) || self.before.has(id)? {
                continue;
            }
            if let std::collections::btree_map::Entry::Vacant(place) = known.entry(id) {
                let (kind, content) = self.after.read(id)?;
                match kind {
                    ObjectKind::Commit => drop(place.insert(parse(&content)?)),
                    ObjectKind::Tag => {
                        todo.push(field(&content, b"object ").ok_or(DAMAGED)?);
                        continue;
                    }
                    // A reference may lead to anything; without a commit there is no history.
                    ObjectKind::Tree | ObjectKind::Blob => {
                        return Err(Unreadable::Format("a reference leads to something else than a commit"));
                    }
                }
                if known.len() > MOST_COMMITS {
                    return Err(Unreadable::Format("there are too many new commits"));
                }
            }
            commits += 1;
            todo.extend(known.get(&id).map(|commit| commit.parents.as_slice()).unwrap_or_default());
        }
        Ok(commits)
    }

    /// Protected names to which a commit brings content that the repository did not have. A merge is held against every parent.
    fn touched(&self, commit: &Parsed, budget: &mut usize) -> Result<Vec<Touched>, Unreadable> {
        let mut common: Option<BTreeMap<PathBuf, &'static ProtectedName>> = None;
        let parents: Vec<_> = match commit.parents[..] {
            [] => vec![None],
            _ => commit.parents.iter().copied().map(Some).collect(),
        };
        for parent in parents {
            let before = parent.map(|parent| tree_of(self.after, parent)).transpose()?;
            let mut found = BTreeMap::new();
            self.compare(before, Some(commit.tree), &mut PathBuf::new(), &mut found, budget)?;
            common = Some(match common {
                Some(mut common) => {
                    common.retain(|path, _| found.contains_key(path));
                    common
                }
                None => found,
            });
        }
        Ok(common.unwrap_or_default().into_iter().map(|(path, name)| Touched { path, name }).collect())
    }

    fn compare(
        &self,
        before: Option<ObjectId>,
        after: Option<ObjectId>,
        path: &mut PathBuf,
        found: &mut BTreeMap<PathBuf, &'static ProtectedName>,
        budget: &mut usize,
    ) -> Result<(), Unreadable> {
        if before == after {
            return Ok(());
        }
        if path.components().count() > DEEPEST {
            return Err(Unreadable::Format("a commit has directories that are nested too deep"));
        }
        let [old, new] = [before, after].map(|tree| tree.map(|tree| self.entries(tree)).transpose());
        let (old, new) = (old?.unwrap_or_default(), new?.unwrap_or_default());
        let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (was, is) = (old.get(name), new.get(name));
            if was == is {
                continue;
            }
            *budget = budget.checked_sub(1).ok_or(Unreadable::Format("the new commits change too much"))?;
            path.push(OsStr::from_bytes(name));
            let tree = |entry: Option<&TreeEntry>| entry.filter(|entry| entry.is_tree).map(|entry| entry.id);
            self.file(was, is, path, found)?;
            self.compare(tree(was), tree(is), path, found, budget)?;
            path.pop();
        }
        Ok(())
    }

    /// A file, a link or a submodule that comes, goes or changes.
    fn file(
        &self,
        was: Option<&TreeEntry>,
        is: Option<&TreeEntry>,
        path: &Path,
        found: &mut BTreeMap<PathBuf, &'static ProtectedName>,
    ) -> Result<(), Unreadable> {
        let plain = |entry: Option<&TreeEntry>| entry.filter(|entry| !entry.is_tree).map(|entry| entry.id);
        let (was, is) = (plain(was), plain(is));
        if was.is_none() && is.is_none() {
            return Ok(());
        }
        let known = is.map(|is| self.before.has(is)).transpose()?.unwrap_or(false);
        if let Some(name) = (self.judge)(path).filter(|_| !known) {
            found.insert(path.to_owned(), name);
        }
        Ok(())
    }

    fn entries(&self, tree: ObjectId) -> Result<BTreeMap<Vec<u8>, TreeEntry>, Unreadable> {
        let content = self.after.read_as(tree, ObjectKind::Tree)?;
        let mut rest = content.as_slice();
        let mut entries = BTreeMap::new();
        while !rest.is_empty() {
            let (name, entry, after) = tree_entry(rest).ok_or(DAMAGED)?;
            entries.insert(name, entry);
            rest = after;
        }
        Ok(entries)
    }
}

#[derive(PartialEq, Eq)]
struct TreeEntry {
    mode: Vec<u8>,
    is_tree: bool,
    id: ObjectId,
}

const DAMAGED: Unreadable = Unreadable::Format("a commit or a directory in it is damaged");

/// `100644 name\0`, then the name of the object. A name that leads elsewhere is none.
fn tree_entry(from: &[u8]) -> Option<(Vec<u8>, TreeEntry, &[u8])> {
    let space = from.iter().position(|byte| *byte == b' ')?;
    let end = from.iter().position(|byte| *byte == 0)?;
    let (mode, name) = (from.get(..space)?, from.get(space + 1..end)?);
    let sound = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
    let id = ObjectId::from_bytes(from.get(end + 1..end + 21)?)?;
    let is_tree = mode == b"40000" || mode == b"040000";
    sound.then(|| (name.to_vec(), TreeEntry { mode: mode.to_vec(), is_tree, id }, &from[end + 21..]))
}

/// The directory of a commit.
pub(super) fn tree_of(objects: &Objects<'_>, commit: ObjectId) -> Result<ObjectId, Unreadable> {
    parse(&objects.read_as(commit, ObjectKind::Commit)?).map(|commit| commit.tree)
}

fn field(content: &[u8], name: &[u8]) -> Option<ObjectId> {
    let line = content.split(|byte| *byte == b'\n').next()?;
    ObjectId::parse(line.strip_prefix(name)?)
}

fn parse(content: &[u8]) -> Result<Parsed, Unreadable> {
    let tree = field(content, b"tree ").ok_or(DAMAGED)?;
    let (mut parents, mut time) = (Vec::new(), 0);
    let mut lines = content.split(|byte| *byte == b'\n').skip(1);
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if let Some(parent) = line.strip_prefix(b"parent ") {
            parents.push(ObjectId::parse(parent).ok_or(DAMAGED)?);
        } else if let Some(by) = line.strip_prefix(b"committer ") {
            let by = String::from_utf8_lossy(by);
            time = by.rsplit(' ').nth(1).and_then(|time| time.parse().ok()).unwrap_or(0);
        }
    }
    let subject = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    Ok(Parsed { tree, parents, subject, time })
}
