//! A spec in kernel terms. Pure: what it needs to know about the machine is passed in as [`Host`].
//!
//! **Invariant.** A plan never asks for anything to be created outside the jail's own file systems. A mount point that the host
//! does not have is a [`Conflict`], not a directory we leave behind.

mod bubblewrap;
mod conflict;
mod host;
mod hostname;
mod identity;
mod landlock;
mod show;
mod sight;
mod system;
mod tree;

pub use bubblewrap::{Handle, Word, arguments, wrappable};
pub use conflict::{Conflict, Unreadable};
pub use host::{Entry, Host, Owner};
pub(crate) use hostname::HOSTNAME;
pub use identity::Identity;
pub use landlock::{LandlockPlan, PathRule, landlock_plan, relocated_environment};
pub use sight::{Refusal, Sight};
pub use tree::{Access, Grant, Keeps, Kind, Mask, Mount, Skeleton};

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::spec::{Network, Spec};

/// A spec in kernel terms.
#[derive(Debug, Clone)]
pub struct Plan {
    /// As whom the jail runs, inside and outside.
    pub identity: Identity,
    /// True if the jail has a network of its own.
    pub own_network: bool,
    /// Addresses at which a process outside listens inside the jail's own network.
    pub listen: Vec<SocketAddr>,
    /// True if a process outside connects to servers in it.
    pub dial: bool,
    /// True if the broker is the only way out of it.
    pub broker: bool,
    /// Entries that are made in the empty root, parents first.
    pub skeleton: Vec<(PathBuf, Skeleton)>,
    /// Mounts, parents first.
    pub mounts: Vec<Mount>,
    /// Entries that are made in private space when everything is mounted, parents first.
    pub late: Vec<(PathBuf, Skeleton)>,
    /// Bytes of the files that [`Kind::Content`] names by their places here.
    pub contents: Vec<Arc<[u8]>>,
    /// Directories in which the changes of layered mounts stay. Those of the others are the jail's own.
    pub kept: Vec<Keeps>,
    /// Access beneath each path, for Landlock.
    pub grants: Vec<Grant>,
    /// Paths of the host that must not be there inside; tried before the command starts.
    pub absent: Vec<PathBuf>,
    /// Size of everything private that can be written, in bytes.
    pub scratch: u64,
    /// The environment of the command.
    pub environment: Vec<(OsString, OsString)>,
}

/// Which paths of the host [`usual`] wants to know about; some more where the jail runs as the host's user 0.
pub fn questions(as_root: bool) -> impl Iterator<Item = PathBuf> {
    system::paths(as_root).map(PathBuf::from)
}

/// Which paths [`plan`] wants to know about besides.
pub fn questions_about(spec: &Spec) -> impl Iterator<Item = PathBuf> {
    let contents = spec.contents.iter().map(|content| &content.path);
    let own = spec.views.iter().map(|view| &view.path).chain(contents).chain([&spec.home]);
    let above = own.clone().flat_map(|path| conflict::shown_above(path, spec));
    let kept = spec.kept.iter().map(|kept| kept.directory.as_path());
    own.map(PathBuf::as_path).chain(above).chain(kept).map(Path::to_owned)
}

/// Files whose text is copied into the jail; small ones that host tools replace by renaming.
pub fn copied() -> impl Iterator<Item = &'static Path> {
    system::copied().map(Path::new)
}

/// Turns a spec into kernel terms, or says why it means nothing.
pub fn plan(spec: &Spec, host: &Host) -> Result<Plan, Conflict> {
    conflict::check(spec, host)?;
    let identity = identity::identity(Some(spec), host);
    let mounts = tree::mounts(Some(spec), host, &identity);
    Ok(Plan {
        own_network: spec.network != Network::Open,
        listen: spec.listen.clone(),
        dial: spec.dial,
        broker: spec.network == Network::Broker,
        late: tree::late(spec, &mounts),
        skeleton: tree::skeleton(Some(spec), host, &mounts, &identity),
        contents: spec.contents.iter().map(|content| Arc::clone(&content.bytes)).collect(),
        grants: tree::grants(&mounts),
        kept: tree::kept(spec, host),
        absent: absent(&mounts, host),
        scratch: spec.limits.tmp.unwrap_or(SCRATCH),
        environment: spec.environment.clone(),
        identity,
        mounts,
    })
}

/// Part that nearly all plans on a machine have in common, regardless of the spec: it can be built before the spec is known.
#[derive(Debug, Clone)]
pub struct BasePlan {
    /// As whom the jail runs.
    pub identity: Identity,
    /// Entries that are made in the empty root, parents first.
    pub skeleton: Vec<(PathBuf, Skeleton)>,
    /// Mounts, parents first.
    pub mounts: Vec<Mount>,
    /// Access beneath each path.
    pub grants: Vec<Grant>,
}

/// Returns the part that plans for this machine have in common.
#[must_use]
pub fn usual(host: &Host) -> BasePlan {
    let identity = identity::identity(None, host);
    let mounts = tree::mounts(None, host, &identity);
    let skeleton = tree::skeleton(None, host, &mounts, &identity);
    BasePlan { skeleton, grants: tree::grants(&mounts), identity, mounts }
}

/// The size of private space when no limit says otherwise.
pub const SCRATCH: u64 = 1_000_000_000;

/// Paths that every machine has some of, and that no view of this plan shows.
fn absent(mounts: &[Mount], host: &Host) -> Vec<PathBuf> {
    // A directory on the way to a view is there, empty but for the way.
    let seen = |path: &Path| {
        mounts.iter().any(|mount| {
            tree::beneath(&mount.path, path) || mount.shows_host() && tree::beneath(path, &mount.path)
        })
    };
    let canaries = system::CANARIES.iter().map(Path::new);
    canaries.filter(|path| host.has(path) && !seen(path)).map(Path::to_owned).collect()
}
