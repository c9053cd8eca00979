//! The one skill at a place that a person typed: a directory, a file, an archive, standard input.

use std::path::{Path, PathBuf};

use policy::{Code, Shown};
use skill::archive::{self, Packed, is_archive};
use skill::{Content, Tree};

use super::gather::{ScanTargets, gather};
use super::read::read;
use crate::failure::Failure;

/// The one skill at a place.
pub(crate) struct One {
    /// Real path; `None` for standard input.
    pub(crate) real: Option<PathBuf>,
    /// Content, unchanged.
    pub(crate) came: Tree,
    /// The skill in it, if what came is an archive.
    pub(crate) packed: Option<Packed>,
}

impl One {
    /// Reads it. What cannot be read is not half read.
    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        let ScanTargets { mut spots, troubles, .. } = gather(std::slice::from_ref(&path.to_owned()));
        if let Some(trouble) = troubles.first() {
            return Err(unreadable(&trouble.path, &trouble.why));
        }
        let (Some(spot), true) = (spots.pop(), spots.is_empty()) else {
            let message = format!("{} has several skills or manifests in it", Shown::path(path));
            return Err(Failure::usage(message).hint("name one of them"));
        };
        let (came, troubles) = read(&spot);
        if let Some(trouble) = troubles.first() {
            return Err(unreadable(&trouble.path, &trouble.why));
        }
        let packed = if spot.is_file() { packed(&came) } else { Ok(None) };
        let packed = packed.map_err(|error| unreadable(path, &error.to_string()))?;
        // A single file is what a person says it is. What else is in a directory is no skill.
        if !spot.is_file() && !came.entries.iter().any(|entry| is_main(&entry.path)) {
            return Err(unreadable(path, "there is no SKILL.md in it"));
        }
        Ok(Self { real: spot.real, came, packed })
    }

    /// The skill itself.
    pub(crate) fn skill(&self) -> &Tree {
        self.packed.as_ref().map_or(&self.came, |packed| &packed.tree)
    }
}

fn is_main(path: &Path) -> bool {
    path.as_os_str().eq_ignore_ascii_case("SKILL.md")
}

/// The skill in an archive, if this is one.
fn packed(tree: &Tree) -> Result<Option<Packed>, archive::PackedError> {
    let [only] = tree.entries.as_slice() else { return Ok(None) };
    match &only.content {
        Content::File { bytes, .. } if is_archive(&only.path, bytes) => {
            archive::packed(stem(&tree.name), bytes).map(Some)
        }
        _ => Ok(None),
    }
}

/// The name of an archive without what says how it is packed.
fn stem(name: &str) -> &str {
    let ends = [".tar.gz", ".tgz", ".tar", ".zip", ".gz"];
    ends.iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty()).unwrap_or(name)
}

/// A skill that cannot be read.
pub(crate) fn unreadable(path: &Path, why: &str) -> Failure {
    let mut failure = Failure::coded(Code::SkillUnreadable, format!("{} cannot be read", Shown::path(path)));
    failure.causes.push(why.to_owned());
    failure
}
