//! Skills as they were when somebody looked at them: the lock file.

use std::path::Path;

use ::audit::Digest;
use config::Scope;
use policy::Shown;
use skill::{Changed, Lock, Pinned, Tree, Verdict};

use super::directory::{Taken, typed_file};
use super::gather::Spot;
use super::read::{MAX_FILE, read};
use super::scanned::Scanned;
use crate::failure::Failure;
use crate::write::replace;

/// A lock file that was read.
#[derive(Debug)]
pub(crate) struct Pins(Lock);

impl Pins {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let unusable = || Failure::new(format!("the lock {} cannot be used", Shown::path(path)));
        let hint = "`ringfence skill scan PATH --write-lock FILE` writes one";
        let taken = typed_file(path, MAX_FILE).map_err(|error| unusable().because(&error).hint(hint))?;
        let Taken::Whole(bytes, _) = taken else { return Err(unusable().hint("it is too large")) };
        Lock::read(&bytes).map(Self).map_err(|error| unusable().because(&error))
    }

    /// What is different from what is pinned, a line for each; nothing if it is what it was.
    pub(crate) fn differences(&self, name: &str, tree: &Tree) -> Vec<String> {
        let mut now = Lock::empty();
        if let Err(error) = now.pin_skill(name, tree) {
            return vec![error.to_string()];
        }
        if self.0.skill_hash(name).is_none() {
            return vec!["it is not pinned".to_owned()];
        }
        let Changed { added, removed, changed } = self.0.compare(&now);
        let lists = [("came", added), ("gone", removed), ("changed", changed)];
        let line = |word: &str, pinned: &Pinned| match pinned {
            Pinned::File { skill, path, .. } if skill == name => Some(format!("{word}: {path}")),
            _ => None,
        };
        lists
            .iter()
            .flat_map(|(word, list)| list.iter().filter_map(move |pinned| line(word, pinned)))
            .collect()
    }
}

/// What a skill is called in a lock: by its place in the workspace, or by its own name elsewhere.
pub(crate) fn pin_name(named: Option<&Path>, tree: &Tree) -> String {
    let inside = named.filter(|named| named.is_relative() && !named.as_os_str().is_empty());
    inside.map_or_else(|| tree.name.clone(), |named| Shown::path(named).to_string())
}

/// Pins what was scanned and is not blocked. What has changed since it was scanned is not pinned.
pub(crate) fn write(path: &Path, spots: &[Spot], scanned: &[Scanned]) -> Result<(), Failure> {
    let mut lock = Lock::empty();
    for (spot, one) in spots.iter().zip(scanned).filter(|(_, one)| one.verdict != Verdict::Blocked) {
        let unpinned = || Failure::new(format!("{} cannot be pinned", Shown::path(&one.shown)));
        let (tree, _) = read(spot);
        if Digest::of(&tree.listing()) != one.sha256 {
            return Err(unpinned().hint("it has changed since it was scanned: scan it again"));
        }
        let name = pin_name(one.named.as_deref(), &tree);
        lock.pin_skill(&name, &tree).map_err(|error| unpinned().because(&error))?;
    }
    replace(Scope::Project, path, &String::from_utf8_lossy(&lock.write()))
}
