//! Where names are protected, and whether one is.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use policy::{Act, Ground, Protected, ProtectedName, Ruling, Surroundings, Verdict};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::known::Identity;
use super::path::Spot;
use super::staging::is_staging_name;
use super::turn::Turn;
use super::{Shared, refused, repository};
use crate::plan::{Kind, Plan};
use crate::spec::Spec;

/// Where names are protected.
pub(in crate::sys::linux) struct Grounds {
    protected: Protected,
    /// Every mount by its path, and whether it shows something of the host that can be changed.
    mounts: Vec<(PathBuf, bool)>,
    repositories: Vec<PathBuf>,
}

/// What may be done with a name.
pub(super) enum Leave {
    /// Whatever was asked for.
    Free,
    /// A file with this text is made, and whatever is written goes nowhere.
    Written(Vec<u8>),
    /// It may be replaced, if what replaces it makes nothing run.
    Settings(&'static ProtectedName),
}

impl Grounds {
    pub(super) fn of(spec: &Spec, plan: &Plan) -> Self {
        let of_host = |kind: Kind| matches!(kind, Kind::Bind { write: true, .. });
        let mounts = plan.mounts.iter().map(|mount| (mount.path.clone(), of_host(mount.kind))).collect();
        Self { protected: spec.protected.clone(), mounts, repositories: spec.repositories.clone() }
    }

    /// Whether nothing of the host can be changed.
    pub(super) fn is_empty(&self) -> bool {
        self.mounts.iter().all(|(_, of_host)| !of_host)
    }

    pub(super) const fn protected(&self) -> &Protected {
        &self.protected
    }

    /// The outermost directory of the host that can be changed and holds a path; `None` if the path lies in something private.
    fn around(&self, path: &Path) -> Option<(&Path, Ground)> {
        // The mounts are in order: the last one that holds it is the deepest.
        let (_, of_host) = self.mounts.iter().rev().find(|(mount, _)| path.starts_with(mount))?;
        let (top, _) = self.mounts.iter().find(|(mount, own)| *own && path.starts_with(mount))?;
        let ground = if self.repositories.contains(top) { Ground::Repository } else { Ground::Tree };
        of_host.then_some((top.as_path(), ground))
    }

    /// Whether a path lies in a view of its own that can be changed, at a protected name: somebody wants exactly that changed.
    fn is_given(&self, path: &Path, top: &Path, ground: Ground) -> bool {
        let own = self.mounts.iter().filter(|(mount, own)| *own && mount != top && path.starts_with(mount));
        let mut below = own.filter_map(|(mount, _)| mount.strip_prefix(top).ok());
        below.any(|view| matches!(self.protected.judge(ground, view, Act::File), Verdict::Kept(_)))
    }

    /// Whether something would come from where fewer names count to where more do, with whatever is in it: from a repository to
    /// a store, where the names of git count, and from both to where all names do.
    pub(super) fn lets_out(&self, from: &Path, to: &Path) -> bool {
        let free = |path: &Path| {
            let (top, ground) = self.around(path)?;
            let below = path.strip_prefix(top).ok()?;
            let named_git = |part: std::path::Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
            let in_git = ground == Ground::Repository || below.components().any(named_git);
            Some(u8::from(in_git) + u8::from(Protected::is_exempt(ground, below)))
        };
        free(from).zip(free(to)).is_some_and(|(from, to)| from > to)
    }

    /// Whether a directory that comes to a path could bring names along that it may not have there.
    pub(super) fn lets_in(&self, to: &Path) -> bool {
        let below = |(top, ground): (&Path, Ground)| Some((ground, to.strip_prefix(top).ok()?.to_owned()));
        self.around(to).and_then(below).is_some_and(|(ground, path)| Protected::is_in_modules(ground, &path))
    }

    /// Whether something is mounted at a path or below it: it would come off if the path went away.
    pub(super) fn holds_mounts(&self, path: &Path) -> bool {
        self.mounts.iter().any(|(mount, _)| mount.starts_with(path))
    }

    /// The directories of the host that can be changed.
    pub(super) fn tops(&self) -> impl Iterator<Item = &Path> {
        self.mounts.iter().filter(|(_, of_host)| *of_host).map(|(mount, _)| mount.as_path())
    }

    /// Every directory of a repository that is known or has the usual name, around a path.
    pub(super) fn repositories_around<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let top = self.around(path).map(|(top, _)| top.to_owned());
        let above =
            path.ancestors().take_while(move |dir| top.as_ref().is_some_and(|top| dir.starts_with(top)));
        above.map(|dir| dir.join(".git")).chain(self.repositories.iter().cloned())
    }
}

/// Judges what is about to happen to a name.
pub(super) fn judge(shared: &Shared, spot: &Spot, act: Act, turn: &mut Turn<'_>) -> Result<Leave, Errno> {
    let grounds = &shared.about.grounds;
    let full = spot.full();
    let Some((top, ground)) = grounds.around(&full) else { return Ok(Leave::Free) };
    let below = full.strip_prefix(top).map_err(|_| Errno::ACCESS)?;
    let no = |name| Err(refused(shared, full.clone(), name));
    if is_staging_name(spot.name.to_bytes()) {
        return settings_row().map_or(Err(Errno::PERM), no);
    }
    let disk = Disk { shared, spot, top, turn: RefCell::new(turn) };
    match shared.protected().rule(ground, below, act, &disk) {
        Ruling::Free => Ok(Leave::Free),
        Ruling::Refused(_) if grounds.is_given(&full, top, ground) => Ok(Leave::Free),
        Ruling::Pointer(name) => {
            repository::pointer(shared, spot).map_or_else(|| no(name), |text| Ok(Leave::Written(text)))
        }
        Ruling::Common(name) if act == Act::File => {
            if super::path::kind(&spot.directory, &spot.name).is_some() {
                no(name)
            } else {
                Ok(Leave::Written(b"../..\n".to_vec()))
            }
        }
        Ruling::Settings(name) if act == Act::Placed => Ok(Leave::Settings(name)),
        Ruling::Refused(name) | Ruling::Common(name) | Ruling::Settings(name) => no(name),
    }
}

/// The row of the table that files on their way to become settings belong to.
fn settings_row() -> Option<&'static ProtectedName> {
    Protected::names().find(|row| row.name == ".git/config")
}

/// The disk around a name. Whoever looks has the lock from then on, so that what was seen stays true until the name is made.
struct Disk<'a, 'b> {
    shared: &'a Shared,
    spot: &'a Spot,
    /// Where paths begin.
    top: &'a Path,
    turn: RefCell<&'a mut Turn<'b>>,
}

impl Disk<'_, '_> {
    /// Looks at a directory; `otherwise` if that is not possible.
    fn look(&self, directory: &Path, otherwise: bool, look: impl Fn(&OwnedFd) -> bool) -> bool {
        self.turn.borrow_mut().take();
        let path = self.top.join(directory);
        if path == self.spot.path {
            return look(&self.spot.directory);
        }
        self.shared.directory(&path).map_or(otherwise, |handle| look(&handle))
    }
}

impl Surroundings for Disk<'_, '_> {
    /// Whatever cannot be looked at may be there.
    fn has(&self, directory: &Path, name: &str) -> bool {
        self.look(directory, true, |handle| !matches!(stat(handle, name), Err(Errno::NOENT)))
    }

    /// Only what is certain: a repository may be completed again, and nothing else may.
    fn was_repository(&self, directory: &Path) -> bool {
        self.look(directory, false, |handle| {
            let Ok(identity) = Identity::of(handle) else { return false };
            let repositories = &self.shared.repositories;
            let was = repositories.was(identity) || policy::is_repository(|name| stat(handle, name).is_ok());
            if was {
                repositories.remember(identity);
            }
            was
        })
    }
}

/// Looks at a name as the jail's user: `access` would ask for the launcher's.
fn stat(directory: &OwnedFd, name: &str) -> Result<(), Errno> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map(drop)
}
