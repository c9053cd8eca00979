//! Skills as they were at the time of their review: the lock file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ::audit::Digest;
use config::Scope;
use policy::Shown;
use ringfence::skill_files::{MAX_FILE, read_file};
use serde_json::Value;
use skill::{Changed, Content, Lock, Pinned, Tree, Verdict, manifests, server_name};

use super::gather::ScanTarget;
use super::read::read;
use super::scanned::Scanned;
use crate::failure::Failure;
use crate::write::replace;

/// A lock file that was read.
#[derive(Debug)]
pub(crate) struct Pins(Lock);

/// Something that is not as it was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) change: Change,
    /// The file, below the tree; nothing where it is about all of it.
    pub(crate) path: Option<PathBuf>,
    /// The tool of a manifest, if it is about one.
    pub(crate) tool: Option<String>,
    /// The tool as it is now, if it is there.
    pub(crate) now: Option<Now>,
}

/// Kind of change since something was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing of all this is in the lock.
    Unpinned,
    /// It could not be pinned as it is, for this reason, so it cannot be compared.
    Unpinnable(String),
    Came,
    Gone,
    Changed,
}

/// A tool as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Now {
    /// Line and column of its description of itself, counted from one.
    pub(crate) at: (usize, usize),
    /// Its own description.
    pub(crate) says: Option<String>,
    /// All of it.
    pub(crate) whole: Value,
}

impl Change {
    /// Its name, as it is written in reports.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Unpinned => "unpinned",
            Self::Unpinnable(_) => "unpinnable",
            Self::Came => "came",
            Self::Gone => "gone",
            Self::Changed => "changed",
        }
    }
}

impl Difference {
    fn whole(change: Change) -> Self {
        Self { change, path: None, tool: None, now: None }
    }

    /// It in one line, not escaped.
    pub(crate) fn line(&self) -> String {
        let path = self.path.as_deref().map(super::json::path).unwrap_or_default();
        match (&self.change, &self.tool) {
            (Change::Unpinned, _) => "it is not pinned".to_owned(),
            (Change::Unpinnable(why), _) => why.clone(),
            (change, None) => format!("{}: {path}", change.word()),
            (change, Some(tool)) => format!("{}: tool {tool} of {path}", change.word()),
        }
    }

    /// Returns true if this difference makes a file new or changes its content.
    pub(crate) fn concerns(&self, path: &Path) -> bool {
        self.change != Change::Gone && self.path.as_deref().is_none_or(|changed| path.starts_with(changed))
    }
}

impl Pins {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let unusable = || Failure::new(format!("the lock {} cannot be used", Shown::path(path)));
        let hint = "`ringfence skill scan PATH --write-lock FILE` writes one";
        let taken = read_file(path, MAX_FILE).map_err(|error| unusable().because(&error).hint(hint))?;
        let Content::File { bytes, .. } = taken else { return Err(unusable().hint("it is too large")) };
        Lock::read(&bytes).map(Self).map_err(|error| unusable().because(&error))
    }

    /// Returns what is pinned below some places and was not found there. Places and finds are named as in a lock; what is pinned
    /// by its name alone, because it was elsewhere, is missed at the top of the workspace.
    pub(crate) fn gone(&self, places: &[PathBuf], found: &BTreeSet<&str>) -> Vec<PathBuf> {
        let below = |name: &&str| places.iter().any(|place| Path::new(name).starts_with(place));
        let names = self.0.skills().into_iter().filter(|name| !found.contains(name));
        names.filter(below).map(PathBuf::from).collect()
    }

    /// Returns the differences from the pins: files first, then tools; empty if there are none.
    pub(crate) fn differences(&self, name: &str, tree: &Tree) -> Vec<Difference> {
        let mut now = Lock::empty();
        if let Err(error) = now.pin_tree(name, tree) {
            return vec![Difference::whole(Change::Unpinnable(error.to_string()))];
        }
        if self.0.skill_hash(name).is_none() {
            return vec![Difference::whole(Change::Unpinned)];
        }
        let Changed { added, removed, changed } = self.0.compare(&now);
        let lists = [(Change::Came, added), (Change::Gone, removed), (Change::Changed, changed)];
        let of = Tools::of(name, tree);
        let all = lists
            .iter()
            .flat_map(|(change, list)| list.iter().filter_map(|pinned| of.difference(change, pinned)));
        let (mut files, tools): (Vec<_>, Vec<_>) = all.partition(|difference| difference.tool.is_none());
        files.extend(tools);
        files
    }
}

/// The tools of a tree, as a lock calls them.
struct Tools<'a> {
    name: &'a str,
    now: Vec<(String, String, Now)>,
}

impl<'a> Tools<'a> {
    fn of(name: &'a str, tree: &Tree) -> Self {
        let now = manifests(tree).flat_map(|(path, manifest)| {
            let server = server_name(name, path);
            let file = tree.entries.iter().find(|entry| entry.path == path).map(|entry| &entry.content);
            let bytes = if let Some(Content::File { bytes, .. }) = file { bytes.as_slice() } else { &[] };
            let tools = manifest.tools.into_iter().map(move |tool| {
                let at = place(bytes, tool.span.start);
                // A manifest that was read is JSON, and so is each part of it.
                let whole = bytes.get(tool.span).and_then(|bytes| serde_json::from_slice(bytes).ok());
                (
                    server.clone(),
                    tool.name,
                    Now { at, says: tool.description, whole: whole.unwrap_or_default() },
                )
            });
            tools.collect::<Vec<_>>()
        });
        Self { name, now: now.collect() }
    }

    /// Returns the difference, if it belongs to this tree: a lock has more than one.
    fn difference(&self, change: &Change, pinned: &Pinned) -> Option<Difference> {
        let change = change.clone();
        match pinned {
            Pinned::File { skill, path, .. } if skill == self.name => {
                Some(Difference { path: Some(path.into()), ..Difference::whole(change) })
            }
            Pinned::File { .. } => None,
            Pinned::Tool { server, tool } => {
                let path = self.path(server)?;
                let is = |(of, name, _): &&(String, String, Now)| of == server && name == tool;
                let now = self.now.iter().find(is).map(|(_, _, now)| now.clone());
                Some(Difference { path: Some(path), tool: Some(tool.clone()), now, change })
            }
        }
    }

    /// Returns the path of a manifest of the lock in this tree.
    fn path(&self, server: &str) -> Option<PathBuf> {
        if server == self.name {
            return Path::new(server).file_name().map(PathBuf::from);
        }
        server.strip_prefix(self.name)?.strip_prefix('/').map(PathBuf::from)
    }
}

/// Line and column of a byte, counted from one.
fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let lines = before.split(|byte| *byte == b'\n').count();
    (lines, String::from_utf8_lossy(line).chars().count() + 1)
}

/// Returns the name of a skill in a lock: its place in the workspace, or its own name elsewhere.
pub(crate) fn pin_name(named: Option<&Path>, tree: &Tree) -> String {
    let inside = named.filter(|named| named.is_relative() && !named.as_os_str().is_empty());
    inside.map_or_else(|| tree.name.clone(), |named| Shown::path(named).to_string())
}

/// Pins what was scanned and is not blocked. What has changed since it was scanned is not pinned.
pub(crate) fn write(path: &Path, spots: &[ScanTarget], scanned: &[Scanned]) -> Result<(), Failure> {
    let (mut lock, mut names) = (Lock::empty(), BTreeSet::new());
    for (spot, one) in spots.iter().zip(scanned).filter(|(_, one)| one.verdict != Verdict::Blocked) {
        let unpinned = || Failure::new(format!("{} cannot be pinned", Shown::path(&one.shown)));
        let (tree, _) = read(spot);
        if Digest::of(&tree.listing()) != one.sha256 {
            return Err(unpinned().hint("it has changed since it was scanned: scan it again"));
        }
        let name = pin_name(one.named.as_deref(), &tree);
        lock.pin_tree(&name, &tree).map_err(|error| unpinned().because(&error))?;
        if !names.insert(name) {
            let hint = "something else here has the same name: let --workspace name a directory above both";
            return Err(unpinned().hint(hint));
        }
    }
    replace(Scope::Project, path, &String::from_utf8_lossy(&lock.write()))
}
