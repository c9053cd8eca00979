//! Directories in which names are protected, and the verdict on one name.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::mem::discriminant;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use policy::{Act, Ground, Protected, ProtectedName, Ruling, Surroundings, Verdict};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::known::Identity;
use super::names_lock::NamesGuard;
use super::path::Spot;
use super::staging::is_staging_name;
use super::{Shared, fold, refused, repository};
use crate::launch::WriteResult;
use crate::plan::{Kind, Plan};
use crate::spec::Spec;

/// The mounts of a jail, and the names that are protected in them.
pub(crate) struct Grounds {
    protected: Protected,
    /// Every mount by its path; true if it shows something of the host that can be changed.
    mounts: Vec<(PathBuf, bool)>,
    repositories: Vec<PathBuf>,
    /// Paths that settings of git name.
    named: Vec<PathBuf>,
}

/// The permission that a verdict gives.
pub(super) enum Permission {
    /// The call is done as it was made.
    Free,
    /// A file with this text is made; the caller gets a descriptor whose content is discarded.
    Written(Vec<u8>),
    /// It may be replaced, if the new settings make nothing run.
    Settings(&'static ProtectedName),
    /// It may be made empty, and gets the settings that are written if they make nothing run.
    FirstSettings(&'static ProtectedName),
    /// It may get a content that the repository had there before the run.
    Known(&'static ProtectedName),
}

impl Grounds {
    pub(super) fn of(spec: &Spec, plan: &Plan) -> Self {
        let of_host = |kind: Kind| matches!(kind, Kind::Bind { write: true, .. });
        let mounts = plan.mounts.iter().map(|mount| (mount.path.clone(), of_host(mount.kind))).collect();
        let named = crate::protected_names::named_by_settings(spec);
        Self { protected: spec.protected.clone(), mounts, repositories: spec.repositories.clone(), named }
    }

    /// Returns true if nothing of the host can be changed.
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

    /// The outermost directory of the host that can be changed and holds a path.
    pub(super) fn top_of(&self, path: &Path) -> Option<&Path> {
        self.around(path).map(|(top, _)| top)
    }

    /// Returns true if a path lies in a writable view of its own at a protected name: the profile names it.
    fn is_given(&self, path: &Path, top: &Path, ground: Ground) -> bool {
        let own = self.mounts.iter().filter(|(mount, own)| *own && mount != top && path.starts_with(mount));
        let mut below = own.filter_map(|(mount, _)| mount.strip_prefix(top).ok());
        below.any(|view| matches!(self.protected.judge(ground, view, Act::File), Verdict::Kept(_)))
    }

    /// Returns true if a move leads from a directory in which fewer names are protected to one in which more are: from a
    /// repository to a store, where the names of git are, and from both to where all names are.
    pub(super) fn lets_out(&self, from: &Path, to: &Path) -> bool {
        let level = |ground: Ground, below: &Path| {
            let named_git = |part: std::path::Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
            let in_git = ground == Ground::Repository || below.components().any(named_git);
            u8::from(in_git) + u8::from(Protected::is_exempt(ground, below))
        };
        let levels = |path: &Path| {
            let (top, ground) = self.around(path)?;
            let below = path.strip_prefix(top).ok()?;
            let plain = level(ground, below);
            Some((plain, fold::folded(below).map_or(plain, |folded| level(ground, &folded))))
        };
        let from_to = levels(from).zip(levels(to));
        from_to.is_some_and(|(from, to)| from.0.max(from.1) > to.0.min(to.1))
    }

    /// Returns true if a directory that is moved to a path could bring names along that are refused there.
    pub(super) fn lets_in(&self, to: &Path) -> bool {
        let Some((top, ground)) = self.around(to) else { return false };
        let Ok(below) = to.strip_prefix(top) else { return false };
        let folded = fold::folded(below);
        std::iter::once(below).chain(folded.as_deref()).any(|path| Protected::is_in_modules(ground, path))
    }

    /// Returns true if a mount is at a path or below it: moving the path would detach it.
    pub(super) fn holds_mounts(&self, path: &Path) -> bool {
        self.mounts.iter().any(|(mount, _)| mount.starts_with(path))
    }

    /// Returns true if settings of git name a path or something above it; for something that was made elsewhere, also if they name
    /// something below.
    fn is_named(&self, path: &Path, act: Act) -> bool {
        let begins = |path: &Path, start: &Path| {
            let mut parts = path.components();
            start.components().all(|own| {
                parts.next().is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(own.as_os_str()))
            })
        };
        act != Act::Directory
            && self.named.iter().any(|named| begins(path, named) || act == Act::Placed && begins(named, path))
    }

    /// The directories of the host that can be changed.
    pub(super) fn tops(&self) -> impl Iterator<Item = &Path> {
        self.mounts.iter().filter(|(_, of_host)| *of_host).map(|(mount, _)| mount.as_path())
    }

    /// Every directory of a repository that is known or whose working tree is around a path.
    pub(super) fn repositories_around<'a>(
        &'a self,
        shared: &'a Shared,
        path: &'a Path,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let top = self.around(path).map(|(top, _)| top.to_owned());
        let above =
            path.ancestors().take_while(move |dir| top.as_ref().is_some_and(|top| dir.starts_with(top)));
        let own = above.filter_map(|dir| repository::common_directory(shared, dir));
        own.chain(self.repositories.iter().cloned())
    }
}

/// Judges what is about to happen to a name.
pub(super) fn judge(
    shared: &Shared,
    spot: &Spot,
    act: Act,
    guard: &mut NamesGuard<'_>,
) -> Result<Permission, Errno> {
    let grounds = &shared.about.grounds;
    let full = spot.full();
    let Some((top, ground)) = grounds.around(&full) else { return Ok(Permission::Free) };
    let below = full.strip_prefix(top).map_err(|_| Errno::ACCESS)?;
    shared.references.before_write(shared, top, &full)?;
    let no = |name| Err(refused(shared, full.clone(), name));
    let folded = fold::folded(below);
    let last_folded = folded.as_deref().and_then(Path::file_name).map(OsStr::as_bytes);
    if is_staging_name(spot.name.to_bytes()) || last_folded.is_some_and(is_staging_name) {
        return row_of(".git/config").map_or(Err(Errno::PERM), no);
    }
    let is_named = |below: &Path| grounds.is_named(&top.join(below), act);
    if is_named(below) || folded.as_deref().is_some_and(is_named) {
        // If the settings themselves may be changed, nothing is gained.
        let settings = shared.protected().judge(Ground::Repository, Path::new("config"), Act::File);
        if let Verdict::Settings(name) = settings {
            return Ok(Permission::Known(name));
        }
    }
    if fold::has_short_name(below) && fold::has_short_names(&spot.directory)? {
        return row_of(".git").map_or(Err(Errno::PERM), no);
    }
    let disk = Disk { shared, spot, top, below, guard: RefCell::new(guard) };
    let ruling = shared.protected().rule(ground, below, act, &disk);
    // A file system that folds names could take it for another one.
    let other = folded.map(|folded| shared.protected().rule(ground, &folded, act, &disk));
    let differs = other.filter(|other| discriminant(other) != discriminant(&ruling));
    if let Some(name) = differs.and_then(Ruling::name) {
        return no(name);
    }
    match ruling {
        Ruling::Free => Ok(Permission::Free),
        Ruling::Told(name) => {
            shared.wrote(full, name, WriteResult::Allowed);
            Ok(Permission::Free)
        }
        Ruling::Refused(_) if grounds.is_given(&full, top, ground) => Ok(Permission::Free),
        Ruling::Pointer(name) => {
            repository::pointer(shared, spot).map_or_else(|| no(name), |text| Ok(Permission::Written(text)))
        }
        Ruling::Common(name) if act == Act::File => {
            if super::path::kind(&spot.directory, &spot.name).is_some() {
                no(name)
            } else {
                Ok(Permission::Written(b"../..\n".to_vec()))
            }
        }
        Ruling::Settings(name) if act == Act::Placed => Ok(Permission::Settings(name)),
        // Programs other than git begin with empty settings.
        Ruling::Settings(name) if act == Act::File && is_first(shared, spot) => {
            Ok(Permission::FirstSettings(name))
        }
        // Files that git itself keeps are in no commit.
        Ruling::Refused(name) if !name.in_stores => Ok(Permission::Known(name)),
        Ruling::Refused(name) | Ruling::Common(name) | Ruling::Settings(name) => no(name),
    }
}

/// Returns true if nothing is at a name in a directory that the command has made.
fn is_first(shared: &Shared, spot: &Spot) -> bool {
    let is_made = Identity::of(&spot.directory).is_ok_and(|identity| shared.repositories.is_made(identity));
    is_made && super::path::kind(&spot.directory, &spot.name).is_none()
}

/// The repository that a name lies in, and the row that protects it from symbolic links.
pub(super) fn repository_around(
    shared: &Shared,
    spot: &Spot,
    guard: &mut NamesGuard<'_>,
) -> Option<(PathBuf, &'static ProtectedName)> {
    let full = spot.full();
    let (top, ground) = shared.about.grounds.around(&full)?;
    let below = full.strip_prefix(top).ok()?;
    let disk = Disk { shared, spot, top, below, guard: RefCell::new(guard) };
    let around = |path: &Path| shared.protected().repository_around(ground, path, &disk);
    let (depth, row) = around(below).or_else(|| fold::folded(below).and_then(|folded| around(&folded)))?;
    let repository = top.components().chain(below.components().take(depth)).collect();
    (!shared.about.grounds.is_given(&full, top, ground)).then_some((repository, row))
}

/// A row of the table by its name.
fn row_of(name: &str) -> Option<&'static ProtectedName> {
    Protected::names().find(|row| row.name == name)
}

/// The disk around a name. A look takes the lock, so that its result stays true until the name is made.
struct Disk<'a, 'b> {
    shared: &'a Shared,
    spot: &'a Spot,
    /// The directory that paths are relative to.
    top: &'a Path,
    /// The path as the caller wrote it, below the top. A folded path has as many components.
    below: &'a Path,
    guard: RefCell<&'a mut NamesGuard<'b>>,
}

impl Disk<'_, '_> {
    /// Looks at a directory; `otherwise` if that is not possible.
    fn look(&self, directory: &Path, otherwise: bool, look: impl Fn(&OwnedFd) -> bool) -> bool {
        self.guard.borrow_mut().take();
        let count = directory.components().count();
        let path: PathBuf = self.top.components().chain(self.below.components().take(count)).collect();
        if path == self.spot.path {
            return look(&self.spot.directory);
        }
        self.shared.directory(&path).map_or(otherwise, |handle| look(&handle))
    }
}

impl Surroundings for Disk<'_, '_> {
    /// A name that cannot be looked up counts as present.
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
