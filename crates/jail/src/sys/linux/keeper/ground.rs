//! Where names are protected, and whether one is.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use policy::{Act, Ground, Protected, ProtectedName, Verdict};
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use super::path::Spot;
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

    /// Whether something would come from where only the names of git count to where all of them do, with whatever is in it.
    pub(super) fn lets_out(&self, from: &Path, to: &Path) -> bool {
        let exempt = |path: &Path| {
            let (top, ground) = self.around(path)?;
            Some(Protected::is_exempt(ground, path.strip_prefix(top).ok()?))
        };
        exempt(from) == Some(true) && exempt(to) == Some(false)
    }

    /// Whether something is mounted at a path or below it: it would come off if the path went away.
    pub(super) fn holds_mounts(&self, path: &Path) -> bool {
        self.mounts.iter().any(|(mount, _)| mount.starts_with(path))
    }

    /// Every directory of a repository that is known or has the usual name, around a path.
    pub(super) fn repositories_around<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let top = self.around(path).map(|(top, _)| top.to_owned());
        let above =
            path.ancestors().take_while(move |dir| top.as_ref().is_some_and(|top| dir.starts_with(top)));
        above.map(|dir| dir.join(".git")).chain(self.repositories.iter().cloned())
    }
}

/// Held where a verdict depends on what lies beside a name, until the name is made: nobody else makes one meanwhile.
#[derive(Default)]
pub(super) struct Beside<'a>(Option<MutexGuard<'a, ()>>);

impl<'a> Beside<'a> {
    fn hold(&mut self, shared: &'a Shared) {
        self.0.get_or_insert_with(|| shared.beside.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Judges what is about to happen to a name.
pub(super) fn judge<'a>(
    shared: &'a Shared,
    spot: &Spot,
    act: Act,
    beside: &mut Beside<'a>,
) -> Result<Leave, Errno> {
    let grounds = &shared.about.grounds;
    let full = spot.full();
    let Some((top, ground)) = grounds.around(&full) else { return Ok(Leave::Free) };
    let below = full.strip_prefix(top).map_err(|_| Errno::ACCESS)?;
    let no = |name| Err(refused(shared, full.clone(), name));
    match shared.protected().judge(ground, below, act) {
        Verdict::Free => Ok(Leave::Free),
        Verdict::Kept(name) => {
            if grounds.is_given(&full, top, ground) {
                Ok(Leave::Free)
            } else {
                no(name)
            }
        }
        Verdict::KeptInRepository { depth, name } => {
            let above: PathBuf = top.components().chain(below.components().take(depth)).collect();
            beside.hold(shared);
            if is_repository(&shared.directory(&above)?) { no(name) } else { Ok(Leave::Free) }
        }
        Verdict::KeptIfComplete(name) => {
            beside.hold(shared);
            if completes(spot) { no(name) } else { Ok(Leave::Free) }
        }
        Verdict::Pointer(name) => {
            repository::pointer(shared, spot).map_or_else(|| no(name), |text| Ok(Leave::Written(text)))
        }
        Verdict::Common(name) if act == Act::File => {
            if super::path::kind(&spot.directory, &spot.name).is_some() {
                no(name)
            } else {
                Ok(Leave::Written(b"../..\n".to_vec()))
            }
        }
        Verdict::Settings(name) if act == Act::Placed => Ok(Leave::Settings(name)),
        Verdict::Common(name) | Verdict::Settings(name) => no(name),
    }
}

fn has(directory: &OwnedFd, name: &str) -> bool {
    // Whatever cannot be looked at may be there.
    !matches!(
        rustix::fs::accessat(directory, name, Access::EXISTS, AtFlags::SYMLINK_NOFOLLOW),
        Err(Errno::NOENT)
    )
}

/// Whether git would take a directory for one of a repository.
pub(super) fn is_repository(directory: &OwnedFd) -> bool {
    policy::is_repository(|name| has(directory, name))
}

/// Whether a directory that is not one of a repository would be one with this name in it.
fn completes(spot: &Spot) -> bool {
    if is_repository(&spot.directory) {
        return false;
    }
    let name = spot.name.to_bytes();
    policy::is_repository(|wanted| {
        name.eq_ignore_ascii_case(wanted.as_bytes()) || has(&spot.directory, wanted)
    })
}
