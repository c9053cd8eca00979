//! A jail as data: what a process tree may see and use. Nothing here touches the machine.

use std::borrow::Cow;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::floor::Forbidden;
use policy::{Limits, Protected};

use crate::enforcement::Require;
use crate::git::commit_record::CommitRecord;
use crate::host::toolchain;
use crate::plan::{Conflict, Mask};

/// A jail as data.
///
/// There is no `Default`: what a jail shows has to be said.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Spec {
    /// The directory the agent works in, by its real path; also where the command starts.
    pub workspace: PathBuf,
    /// Paths seen beyond the system directories. The deepest view that contains a path counts.
    pub views: Vec<View>,
    /// Links in private space: where, and to what.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Additions of toolchains. A provider that cannot show all of it shows less.
    pub toolchains: toolchain::Shown,
    /// Read-only files with given bytes, in place of what the host has at their paths.
    pub contents: Vec<Content>,
    /// Directories for the changes of layered views, if they are to outlive the jail. Of the others nothing is left.
    pub kept: Vec<Kept>,
    /// The names that nothing inside can make or change, in all places where something of the host can be changed.
    pub protected: Protected,
    /// Which of the views that can be changed are directories of git repositories, rather than have them inside.
    pub repositories: Vec<PathBuf>,
    /// Record of the commits that jails make. `None`: no content counts as known, and git cannot check protected names out.
    pub commit_record: Option<CommitRecord>,
    /// Which network is seen.
    pub network: Network,
    /// Addresses at which a process outside listens inside the jail's own network, see [`crate::Held::listeners`].
    pub listen: Vec<SocketAddr>,
    /// True if a process outside connects to servers inside the jail's own network, see [`crate::Held::sockets`].
    pub dial: bool,
    /// Path at which the private, empty home directory appears.
    pub home: PathBuf,
    /// The whole environment of the command; nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// Resource limits of the whole process tree.
    pub limits: Limits,
    /// The least enforcement that is accepted. Below it nothing starts.
    pub require: Require,
    /// Names that cannot be read or changed where they exist when the command starts, in any view of this spec but those of
    /// toolchains. `None`: there are none, or they have been looked for.
    pub forbidden: Option<Arc<Forbidden>>,
    /// Paths of such names, see [`Spec::look`].
    pub masks: Vec<Mask>,
    /// Links with forbidden names that lead to some of them.
    pub(crate) forbidden_links: Vec<Mask>,
    /// Directories of private space that only lead to views, see [`Spec::close_parents`].
    pub(crate) parents: Vec<PathBuf>,
}

/// One path as seen from inside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// The absolute path, outside and inside.
    pub path: PathBuf,
    /// Mode in which it is seen.
    pub mode: Mode,
}

/// Mode in which a path is seen from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// As it is outside, and nothing in it can be changed.
    ReadOnly,
    /// As it is outside, and changes are real.
    ReadWrite,
    /// An empty directory or an empty file that cannot be changed.
    Hidden,
    /// An empty directory of the jail's own, gone when it ends.
    Private,
    /// As it is outside. What is changed is changed inside only: it goes to a layer above, which is the jail's own and gone
    /// when it ends, unless [`Spec::kept`] says where it stays.
    Layered,
}

impl Mode {
    /// Returns true if what the host has at the path is seen.
    #[must_use]
    pub const fn shows_host(self) -> bool {
        matches!(self, Self::ReadOnly | Self::ReadWrite | Self::Layered)
    }
}

/// A read-only file with given bytes inside.
///
/// It lies in the jail's private space and is mounted over its path: a file or a link that the host has there is covered, and nothing
/// is made on the host. In a system directory or a read-only view the host must have something to cover; in private space the file
/// is made, and a directory of private space above it can still be renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The absolute path inside. No directory of the host on the way to it may be a link.
    pub path: PathBuf,
    /// The bytes of the file.
    pub bytes: Arc<[u8]>,
}

/// Directory in which the changes of a layered view stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The path of the view.
    pub path: PathBuf,
    /// A directory of the host that nothing inside sees, with two others in it, [`Kept::UPPER`] and [`Kept::WORK`]. Both belong
    /// to the owner of the workspace, and no other process uses them meanwhile.
    pub directory: PathBuf,
}

impl Kept {
    /// Name of the directory with the changes: what was added and changed, and a mark for what was removed.
    pub const UPPER: &str = "upper";
    /// Name of the directory that the kernel needs beside them.
    pub const WORK: &str = "work";
}

/// Which network is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A loopback of its own and nothing else.
    None,
    /// A loopback of its own, and the broker as the only way out.
    Broker,
    /// The host's.
    Open,
}

/// Result of a search for forbidden names.
#[derive(Default)]
pub(crate) struct Looked {
    pub(crate) masks: Vec<Mask>,
    /// Links to what is masked.
    pub(crate) links: Vec<Mask>,
}

impl Spec {
    /// A workspace that may be changed, no network, an empty environment, full enforcement.
    #[must_use]
    pub fn for_workspace(workspace: &Path, home: &Path, limits: Limits) -> Self {
        Self {
            workspace: workspace.to_owned(),
            views: vec![View { path: workspace.to_owned(), mode: Mode::ReadWrite }],
            links: Vec::new(),
            toolchains: toolchain::Shown::default(),
            contents: Vec::new(),
            kept: Vec::new(),
            protected: Protected::all(),
            repositories: Vec::new(),
            commit_record: None,
            network: Network::None,
            listen: Vec::new(),
            dial: false,
            home: home.to_owned(),
            environment: Vec::new(),
            limits,
            require: Require::FULL,
            forbidden: None,
            masks: Vec::new(),
            forbidden_links: Vec::new(),
            parents: Vec::new(),
        }
    }

    /// Adds a view; one of the same path is replaced.
    #[must_use]
    pub fn view(mut self, path: &Path, mode: Mode) -> Self {
        self.views.retain(|view| view.path != path);
        self.views.push(View { path: path.to_owned(), mode });
        self
    }

    /// Shows a directory as it is, with its changes in a layer that stays in another.
    #[must_use]
    pub fn keep(mut self, path: &Path, directory: &Path) -> Self {
        self.kept.push(Kept { path: path.to_owned(), directory: directory.to_owned() });
        self.view(path, Mode::Layered)
    }

    /// Adds a read-only file with given bytes; one at the same path is replaced.
    #[must_use]
    pub fn content(mut self, path: &Path, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.contents.retain(|content| content.path != path);
        self.contents.push(Content { path: path.to_owned(), bytes: bytes.into() });
        self
    }

    /// Returns the mode of a path: the deepest view that contains it counts. `None`: no view does.
    #[must_use]
    pub fn mode_at(&self, path: &Path) -> Option<Mode> {
        mode_at(&self.views, path)
    }

    /// The same with some paths that cannot be changed.
    pub(crate) fn keeping(&self, kept: Vec<PathBuf>) -> Cow<'_, Self> {
        if kept.is_empty() {
            return Cow::Borrowed(self);
        }
        let kept = kept.into_iter().map(|path| View { path, mode: Mode::ReadOnly });
        let views = self.views.iter().cloned().chain(kept).collect();
        Cow::Owned(Self { views, ..self.clone() })
    }

    /// Looks for forbidden names in the views, which is done when a jail is made if it was not done before. Views that are added later are
    /// not looked through. What was found is remembered in `cache`, a directory that no view shows.
    pub fn look(&mut self, cache: Option<&Path>) -> Result<(), Conflict> {
        if self.forbidden.is_some() {
            Looked { masks: self.masks, links: self.forbidden_links } = crate::sys::look(self, cache)?;
            self.forbidden = None;
        }
        Ok(())
    }

    /// Closes the directories of private space that only lead to views: what is written beside a view would be gone with the jail.
    ///
    /// Hidden names of the home stay open, because settings and caches lie there, and so does what toolchains have views in.
    pub(crate) fn close_parents(&mut self) {
        let others = self.toolchains.views.iter().map(|view| &view.path);
        let others: Vec<_> = others.chain(self.toolchains.links.iter().map(|(link, _)| link)).collect();
        let parents = self.views.iter().filter_map(|view| {
            let top = self.private_above(&view.path)?;
            let first = view.path.strip_prefix(top).ok()?.iter().next()?;
            let mut parents: Vec<_> =
                view.path.ancestors().skip(1).take_while(|above| *above != top).collect();
            parents.retain(|parent| others.iter().all(|other| !other.starts_with(parent)));
            let settings = top == self.home && first.as_bytes().starts_with(b".");
            parents.pop().filter(|_| !settings).map(Path::to_owned)
        });
        let mut parents: Vec<_> = parents.collect();
        parents.sort();
        parents.dedup();
        self.parents = parents;
    }

    /// The private space that a path lies in, unless a view is nearer.
    fn private_above(&self, path: &Path) -> Option<&Path> {
        let fixed = ["/tmp", "/var/tmp", "/dev/shm"].map(Path::new).into_iter();
        let own = fixed.chain([self.home.as_path()]).map(|path| (path, true));
        let views = self.views.iter().map(|view| (view.path.as_path(), view.mode == Mode::Private));
        let around = own.chain(views).filter(|(around, _)| *around != path && path.starts_with(around));
        let nearest = around.max_by_key(|(around, _)| around.as_os_str().len());
        nearest.filter(|(_, private)| *private).map(|(path, _)| path)
    }

    /// Chooses the network.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }
}

/// Returns the mode of a path in a list of views: the deepest that contains it counts.
#[must_use]
pub fn mode_at(views: &[View], path: &Path) -> Option<Mode> {
    let holding = views.iter().filter(|view| path.starts_with(&view.path));
    holding.max_by_key(|view| view.path.components().count()).map(|view| view.mode)
}
