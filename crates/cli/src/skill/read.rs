//! Reads a scan target into the tree of its files.

use std::io;
use std::path::{Path, PathBuf};

use ringfence::skill_files::{MAX_FILE, SkillDirectory, SkillFiles, read_tree};
use skill::{Content, Entry, Tree};

use super::gather::{ScanTarget, Source};

/// A part that could not be read, so that nothing is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
}

impl Trouble {
    pub(crate) fn new(path: &Path, why: impl Into<String>) -> Self {
        Self { path: path.to_owned(), why: why.into() }
    }
}

/// Reads everything at a place.
pub(crate) fn read(spot: &ScanTarget) -> (Tree, Vec<Trouble>) {
    let name = spot.name();
    let one =
        |(path, content)| (Tree { name: name.clone(), entries: vec![Entry { path, content }] }, Vec::new());
    let found = match &spot.source {
        Source::Directory(top, below) => {
            top.descend(below).map(|directory| shown(&spot.shown, read_tree(&name, &directory)))
        }
        Source::File(top, path) => read_one(top, path).map(one),
        Source::Content(path, content) => Ok(one((path.clone(), content.clone()))),
    };
    found.unwrap_or_else(|error| {
        let trouble = Trouble::new(&spot.shown, error.to_string());
        (Tree { name: name.clone(), entries: Vec::new() }, vec![trouble])
    })
}

/// Reads one file below a directory.
fn read_one(top: &SkillDirectory, path: &Path) -> io::Result<(PathBuf, Content)> {
    let directory = top.descend(path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().unwrap_or_default();
    Ok((PathBuf::from(name), directory.read_file(name, MAX_FILE)?))
}

/// Turns paths below a directory into paths as the user typed them.
fn shown(root: &Path, files: SkillFiles) -> (Tree, Vec<Trouble>) {
    let troubles = files.unread.into_iter().map(|unread| {
        let below = &unread.path;
        let path = if below.as_os_str().is_empty() { root.to_owned() } else { root.join(below) };
        Trouble { path, why: unread.why }
    });
    (files.tree, troubles.collect())
}
