//! New commits, and the files that they change.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use policy::ProtectedName;

use super::objects::{ObjectId, ObjectKind, Objects, Unreadable};
use super::trusted::{File, Trusted};
use super::{Commit, GitChanges, Touched, refs};

/// Maximum number of new commits; more than a person reviews.
const MOST_COMMITS: usize = 20_000;
/// Maximum number of differences; more than the commits of a session have.
const MOST_ENTRIES: usize = 2_000_000;
const DEEPEST: usize = 200;

/// The commits that only the side after the command has.
pub(super) struct History<'a> {
    pub(super) trusted: Trusted<'a>,
    pub(super) after: &'a Objects<'a>,
    pub(super) judge: &'a dyn Fn(&Path) -> Option<&'static ProtectedName>,
}

/// A parsed commit.
pub(super) struct Parsed {
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    subject: String,
    /// Commit time, as the commit states it.
    pub(super) time: i64,
}

impl History<'_> {
    /// Counts the new commits of each reference, and reports each commit once.
    pub(super) fn fill(&mut self, told: &mut GitChanges, leads: refs::Leads) -> Result<(), Unreadable> {
        let mut known: BTreeMap<ObjectId, Parsed> = BTreeMap::new();
        for mut lead in leads.refs {
            lead.told.commits = self.follow(lead.tips, &mut known)?;
            told.refs.push(lead.told);
        }
        self.follow(leads.others, &mut known)?;
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

    /// Reads the new commits that are reachable from objects, and returns their number.
    fn follow(
        &mut self,
        mut todo: Vec<ObjectId>,
        known: &mut BTreeMap<ObjectId, Parsed>,
    ) -> Result<usize, Unreadable> {
        let (mut seen, mut commits) = (HashSet::new(), 0);
        while let Some(id) = todo.pop() {
            // A commit that is reachable from references outside was not made by the command, nor were its
            // ancestors.
            if !seen.insert(id) || (!known.contains_key(&id) && self.trusted.reaches(id)?) {
                continue;
            }
            if let std::collections::btree_map::Entry::Vacant(place) = known.entry(id) {
                let (kind, content) = self.after.read(id)?;
                match kind {
                    ObjectKind::Commit => drop(place.insert(parse(&content)?)),
                    ObjectKind::Tag => {
                        todo.push(tagged(&content)?);
                        continue;
                    }
                    // A reference may point to any object; without a commit there is no history.
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

    /// Returns protected names to which a commit brings content that the repository did not have there. A
    /// merge is compared with every parent.
    fn touched(&mut self, commit: &Parsed, budget: &mut usize) -> Result<Vec<Touched>, Unreadable> {
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
        &mut self,
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
        let [old, new] = [before, after].map(|tree| tree.map(|tree| entries(self.after, tree)).transpose());
        let (old, new) = (old?.unwrap_or_default(), new?.unwrap_or_default());
        let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (was, is) = (old.get(name), new.get(name));
            if was == is {
                continue;
            }
            *budget = budget.checked_sub(1).ok_or(Unreadable::Format("the new commits change too much"))?;
            path.push(OsStr::from_bytes(name));
            let tree =
                |entry: Option<&TreeEntry>| entry.filter(|entry| entry.is_tree).map(|entry| entry.file.id);
            self.file(was, is, path, found)?;
            self.compare(tree(was), tree(is), path, found, budget)?;
            path.pop();
        }
        Ok(())
    }

    /// Compares a file, a link or a submodule that was added, removed or changed.
    fn file(
        &mut self,
        was: Option<&TreeEntry>,
        is: Option<&TreeEntry>,
        path: &Path,
        found: &mut BTreeMap<PathBuf, &'static ProtectedName>,
    ) -> Result<(), Unreadable> {
        let plain = |entry: Option<&TreeEntry>| entry.filter(|entry| !entry.is_tree).map(|entry| entry.file);
        let (was, is) = (plain(was), plain(is));
        if was.is_none() && is.is_none() {
            return Ok(());
        }
        let Some(name) = (self.judge)(path) else { return Ok(()) };
        if !is.map(|is| self.trusted.had(path, is)).transpose()?.unwrap_or(false) {
            found.insert(path.to_owned(), name);
        }
        Ok(())
    }
}

/// Reads the entries of a tree.
pub(super) fn entries(
    objects: &Objects<'_>,
    tree: ObjectId,
) -> Result<BTreeMap<Vec<u8>, TreeEntry>, Unreadable> {
    let content = objects.read_as(tree, ObjectKind::Tree)?;
    let mut rest = content.as_slice();
    let mut entries = BTreeMap::new();
    while !rest.is_empty() {
        let (name, entry, after) = tree_entry(rest).ok_or(DAMAGED)?;
        if entries.insert(name, entry).is_some() {
            return Err(DAMAGED);
        }
        rest = after;
    }
    Ok(entries)
}

/// An entry of a tree.
#[derive(PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) is_tree: bool,
    pub(super) file: File,
}

const DAMAGED: Unreadable = Unreadable::Format("a commit or a directory in it is damaged");

/// Parses `100644 name\0` and the object ID. A name that leads out of the directory is invalid.
fn tree_entry(from: &[u8]) -> Option<(Vec<u8>, TreeEntry, &[u8])> {
    let space = from.iter().position(|byte| *byte == b' ')?;
    let end = from.iter().position(|byte| *byte == 0)?;
    let (mode, name) = (from.get(..space)?, from.get(space + 1..end)?);
    let sound = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
    let id = ObjectId::from_bytes(from.get(end + 1..end + 21)?)?;
    let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
    let is_tree = mode & 0o170_000 == 0o040_000;
    sound.then(|| (name.to_vec(), TreeEntry { is_tree, file: File::new(id, mode) }, &from[end + 21..]))
}

/// Returns the tree of a commit.
pub(super) fn tree_of(objects: &Objects<'_>, commit: ObjectId) -> Result<ObjectId, Unreadable> {
    parse(&objects.read_as(commit, ObjectKind::Commit)?).map(|commit| commit.tree)
}

/// Returns the object that a tag points to.
pub(super) fn tagged(content: &[u8]) -> Result<ObjectId, Unreadable> {
    field(content, b"object ").ok_or(DAMAGED)
}

fn field(content: &[u8], name: &[u8]) -> Option<ObjectId> {
    let line = content.split(|byte| *byte == b'\n').next()?;
    ObjectId::parse(line.strip_prefix(name)?)
}

pub(super) fn parse(content: &[u8]) -> Result<Parsed, Unreadable> {
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
