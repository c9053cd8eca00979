//! Visibility of paths to a program under a plan, for explaining a refusal afterwards. It decides nothing: the kernel has.

use std::path::{Path, PathBuf};

use super::Plan;
use super::tree::{Kind, Skeleton, beneath};

/// Paths that a program in a jail can see and change.
#[derive(Debug, Clone)]
pub struct Sight {
    mounts: Vec<(PathBuf, Kind)>,
    /// Entries made in the root itself.
    made: Vec<(PathBuf, Skeleton)>,
    own_network: bool,
}

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not there.
    Unseen,
    /// It is there and cannot be changed.
    ReadOnly,
    /// Something empty is in its place.
    Hidden,
}

impl Sight {
    /// The sight of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let mounts = plan.mounts.iter().map(|mount| (mount.path.clone(), mount.kind)).collect();
        let made = plan.skeleton.iter().chain(&plan.late).cloned().collect();
        Self { mounts, made, own_network: plan.own_network }
    }

    /// Why a plain absolute path would be refused, if it would.
    #[must_use]
    pub fn refusal(&self, path: &Path, writes: bool) -> Option<Refusal> {
        let path = &self.followed(path);
        // The last one that contains it is the deepest: they are in order.
        let around = self.mounts.iter().rev().find(|(mount, _)| beneath(path, mount));
        match around.map(|(_, kind)| *kind) {
            None if self.is_made(path) => writes.then_some(Refusal::ReadOnly),
            None => Some(Refusal::Unseen),
            Some(Kind::Void | Kind::Blank | Kind::Mask { .. }) => Some(Refusal::Hidden),
            Some(Kind::Bind { write: false, .. } | Kind::Processes | Kind::Content { .. }) if writes => {
                Some(Refusal::ReadOnly)
            }
            Some(Kind::Parent) => Some(if writes { Refusal::ReadOnly } else { Refusal::Unseen }),
            // Private space shows nothing of what the host has at the same path, and accepts all writes.
            Some(Kind::Scratch) => (!writes).then_some(Refusal::Unseen),
            Some(_) => None,
        }
    }

    /// The path behind a link of the root, such as `/lib`.
    fn followed(&self, path: &Path) -> PathBuf {
        let behind = self.made.iter().find_map(|(link, made)| match made {
            Skeleton::Link(to) => path.strip_prefix(link).ok().map(|rest| Path::new("/").join(to).join(rest)),
            _ => None,
        });
        behind.unwrap_or_else(|| path.to_owned())
    }

    /// Returns true if an entry of the jail's own stands there, or a directory on the way to a view.
    fn is_made(&self, path: &Path) -> bool {
        let makes = self.made.iter().any(|(made, _)| made == path);
        makes || self.mounts.iter().any(|(mount, _)| beneath(mount, path))
    }

    /// Returns true if no network leads out of the jail.
    #[must_use]
    pub const fn is_cut_off(&self) -> bool {
        self.own_network
    }
}
