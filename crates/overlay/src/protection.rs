//! Which changes touch names that a tool outside trusts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use policy::{Act, Ground, Protected, ProtectedName, Verdict};

use crate::change::{Kind, Node};
use crate::directory::Directory;

/// Judges names in one view.
pub(crate) struct Protection<'a> {
    pub(crate) names: Protected,
    pub(crate) ground: Ground,
    /// What is there outside, and what was changed.
    pub(crate) lower: &'a Directory,
    pub(crate) upper: &'a Directory,
}

impl Protection<'_> {
    /// The protected name that a change touches. What would have to be looked at closer counts as one: a person does that.
    pub(crate) fn of(&self, path: &Path, after: Option<&Node>) -> Option<&'static ProtectedName> {
        let act = match after.map(|node| &node.kind) {
            Some(Kind::File) => Act::File,
            Some(Kind::Directory) => Act::Directory,
            Some(Kind::Link(_) | Kind::Special) | None => Act::Placed,
        };
        match self.names.judge(self.ground, path, act) {
            Verdict::Free => self.names.unfinished(self.ground, path),
            Verdict::Kept(name)
            | Verdict::Pointer(name)
            | Verdict::Common(name)
            | Verdict::Settings(name) => Some(name),
            Verdict::KeptInRepository { depth, name } => {
                self.is_repository(&path.components().take(depth).collect::<PathBuf>()).then_some(name)
            }
            Verdict::KeptIfComplete(name) => self.completes(path).then_some(name),
        }
    }

    /// Whether a directory is one of a repository, before or after.
    fn is_repository(&self, directory: &Path) -> bool {
        let has = |root: &Directory| PARTS.iter().all(|part| there(root, &directory.join(part)));
        has(self.lower) || self.merged(directory)
    }

    /// Whether a name makes its directory one of a repository, which it was not.
    fn completes(&self, path: &Path) -> bool {
        let directory = path.parent().unwrap_or(Path::new(""));
        let was = PARTS.iter().all(|part| there(self.lower, &directory.join(part)));
        let linked = path.file_name() == Some(OsStr::new("commondir"));
        linked || !was && self.merged(directory)
    }

    fn merged(&self, directory: &Path) -> bool {
        let seen = |part: &&str| {
            let path = directory.join(part);
            there(self.upper, &path) || there(self.lower, &path)
        };
        PARTS.iter().all(seen)
    }
}

/// What makes a directory one of a repository.
const PARTS: &[&str] = &["HEAD", "objects", "refs"];

fn there(root: &Directory, path: &Path) -> bool {
    let found = root.holding(path).and_then(|(parent, name)| parent.look(name));
    found.is_ok_and(|look| look.is_some_and(|look| !look.is_whiteout()))
}
