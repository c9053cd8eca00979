//! New commits, and the files that they change.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use policy::ProtectedName;

use super::objects::{Object, ObjectId, ObjectKind, Objects, SHA1, Unreadable};
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

impl History<'_> {
    /// Counts the new commits of each reference, and reports each commit once.
    pub(super) fn fill(&mut self, told: &mut GitChanges, leads: refs::Leads) -> Result<(), Unreadable> {
        let mut known: BTreeMap<ObjectId, git::Commit> = BTreeMap::new();
        for mut lead in leads.refs {
            lead.told.commits = self.follow(lead.tips, &mut known)?;
            told.refs.push(lead.told);
        }
        self.follow(leads.others, &mut known)?;
        let mut budget = MOST_ENTRIES;
        let mut commits = Vec::new();
        for (id, commit) in &known {
            let touched = self.touched(commit, &mut budget)?;
            let subject = String::from_utf8_lossy(&commit.subject).into_owned();
            commits.push((commit.date, Commit { id: id.to_string(), subject, touched }));
        }
        commits.sort_by(|one, other| (other.0, &other.1.id).cmp(&(one.0, &one.1.id)));
        told.commits = commits.into_iter().map(|(_, commit)| commit).collect();
        Ok(())
    }

    /// Reads the new commits that are reachable from objects, and returns their number.
    fn follow(
        &mut self,
        mut todo: Vec<ObjectId>,
        known: &mut BTreeMap<ObjectId, git::Commit>,
    ) -> Result<usize, Unreadable> {
        let (mut seen, mut commits) = (HashSet::new(), 0);
        while let Some(id) = todo.pop() {
            // A commit that is reachable from references outside was not made by the command, nor were its
            // ancestors.
            if !seen.insert(id) || (!known.contains_key(&id) && self.trusted.reaches(id)?) {
                continue;
            }
            if let std::collections::btree_map::Entry::Vacant(place) = known.entry(id) {
                let object = self.after.read(id)?;
                match object.kind {
                    ObjectKind::Commit => drop(place.insert(parse(&object)?)),
                    ObjectKind::Tag => {
                        todo.push(tagged(&object)?);
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
    fn touched(&mut self, commit: &git::Commit, budget: &mut usize) -> Result<Vec<Touched>, Unreadable> {
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
    let object = objects.read_as(tree, ObjectKind::Tree)?;
    let mut entries = BTreeMap::new();
    for entry in git::entries(SHA1, &object.content).ok_or(DAMAGED)? {
        // A name that leads out of the directory is invalid, and so is one that stands there twice.
        let sound = !entry.name.contains(&b'/') && entry.name != b"." && entry.name != b"..";
        let own = TreeEntry { is_tree: entry.is_tree(), file: File::new(entry.id, entry.mode) };
        if !sound || entries.insert(entry.name.to_vec(), own).is_some() {
            return Err(DAMAGED);
        }
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

/// Returns the tree of a commit.
pub(super) fn tree_of(objects: &Objects<'_>, commit: ObjectId) -> Result<ObjectId, Unreadable> {
    parse(&objects.read_as(commit, ObjectKind::Commit)?).map(|commit| commit.tree)
}

/// Returns the object that a tag points to.
pub(super) fn tagged(tag: &Object) -> Result<ObjectId, Unreadable> {
    git::tagged(SHA1, &tag.content).ok_or(DAMAGED)
}

pub(super) fn parse(commit: &Object) -> Result<git::Commit, Unreadable> {
    git::Commit::parse(SHA1, &commit.content).ok_or(DAMAGED)
}
