//! Which changes touch names that a tool outside trusts.

use std::path::Path;

use policy::{Act, Ground, Protected, ProtectedName, Surroundings};

use crate::change::{Kind, Node};
use git::Directory;

/// Judges names in one view.
pub(crate) struct Protection<'a> {
    pub(crate) names: Protected,
    pub(crate) ground: Ground,
    /// Directory outside, and directory of changes.
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
        let ruled = self.names.rule(self.ground, path, act, self).name();
        let is_link = after.is_some_and(|node| matches!(node.kind, Kind::Link(_)));
        let linked = || self.names.repository_around(self.ground, path, self).filter(|_| is_link);
        ruled.or_else(|| linked().map(|(_, name)| name)).or_else(|| self.names.unfinished(self.ground, path))
    }
}

impl Surroundings for Protection<'_> {
    fn has(&self, directory: &Path, name: &str) -> bool {
        let path = directory.join(name);
        there(self.upper, &path) || there(self.lower, &path)
    }

    fn was_repository(&self, directory: &Path) -> bool {
        policy::is_repository(|name| there(self.lower, &directory.join(name)))
    }
}

fn there(root: &Directory, path: &Path) -> bool {
    let found = root.holding(path).and_then(|(parent, name)| parent.look(name));
    found.is_ok_and(|look| look.is_some_and(|look| !look.is_whiteout()))
}
