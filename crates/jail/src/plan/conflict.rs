//! Conflicts that make a spec meaningless. Found before anything starts.

use std::path::{Path, PathBuf};

use policy::{Code, GitSettingsError, Shown};

use super::host::{Entry, Host};
use super::system::{self, RESERVED};
use super::tree::beneath;
use crate::host::probe::Errno;
use crate::spec::{Content, Kept, Mode, Network, Spec, View};

/// Why a spec means nothing on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// A path is not absolute, or has `.` or `..` in it.
    #[error("{} is not an absolute path without `.` and `..`", Shown::path(.0))]
    NotAbsolute(PathBuf),
    /// The whole machine as workspace or view.
    #[error("the root directory cannot be a view")]
    Root,
    /// The workspace would silently not be writable, or not be there.
    #[error("{} contains the workspace {} and is {mode} for the jail", Shown::path(.path), Shown::path(.workspace))]
    AboveWorkspace {
        /// The path.
        path: PathBuf,
        /// The workspace.
        workspace: PathBuf,
        /// Mode that the path would have.
        mode: &'static str,
    },
    /// A path does not exist.
    #[error("{} does not exist", Shown::path(.0))]
    Missing(PathBuf),
    /// One path in two ways.
    #[error("{} is asked for in two ways", Shown::path(.0))]
    Overlap(PathBuf),
    /// A path that leads elsewhere: the agent may own the link, and inside it may lead nowhere.
    #[error("{} leads through a symbolic link to {}", Shown::path(.0), Shown::path(.1))]
    Link(PathBuf, PathBuf),
    /// A path that this jail has something of its own at.
    #[error("{} cannot be a view: the jail has its own {}", Shown::path(.0), Shown::path(.1))]
    Reserved(PathBuf, PathBuf),
    /// A file where only directories can be.
    #[error("{} cannot be {}: it is not a directory", Shown::path(.0), .1)]
    NotADirectory(PathBuf, &'static str),
    /// A device, socket or FIFO.
    #[error("{} is neither a file nor a directory", Shown::path(.0))]
    Special(PathBuf),
    /// A socket of the jail's own network where there is none, or more of them than can be handed over.
    #[error("{0} sockets inside the jail cannot be handed out: {1}")]
    Listen(usize, &'static str),
    /// A broker that no connection of the jail would reach.
    #[error("the broker cannot be the jail's way out: {0}")]
    Broker(&'static str),
    /// A place for changes that is none.
    #[error("{} cannot keep the changes of {}: {why}", Shown::path(.directory), Shown::path(.path))]
    Kept {
        /// The view.
        path: PathBuf,
        /// Directory in which its changes should stay.
        directory: PathBuf,
        /// Why they cannot.
        why: &'static str,
    },
    /// A view of something that the policy forbids.
    #[error("{} is to be shown, and the policy forbids its name or that of a directory above it", Shown::path(.0))]
    Forbidden(PathBuf),
    /// More forbidden names than can be masked.
    #[error(
        "{count} files with forbidden names are in sight, {here} of them in {}, and at most {most} can be masked",
        Shown::path(.directory)
    )]
    TooManyForbidden {
        /// Number of files with forbidden names.
        count: usize,
        /// Maximum number that can be masked.
        most: usize,
        /// The directory that has most of them.
        directory: PathBuf,
        /// Number of them in that directory.
        here: usize,
    },
    /// A directory in which forbidden names cannot be looked for.
    #[error("{} cannot be looked through for forbidden names: {}", Shown::path(.0), .1)]
    NotLookedThrough(PathBuf, Errno),
    /// Settings of a repository that cannot be read, so that what they name cannot be protected.
    #[error("the git settings {} cannot be read, so that what they name cannot be protected: {}", Shown::path(.0), .1)]
    Settings(PathBuf, Unreadable),
    /// A part of the spec that the provider cannot express.
    #[error("{} cannot be enforced: {}", Shown::path(.0), .1)]
    NotEnforceable(PathBuf, &'static str),
}

/// Why settings of a repository cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The file cannot be opened.
    #[error("{0}")]
    Closed(Errno),
    /// It is no plain file, or too large.
    #[error("it is not a regular file of at most 1 MiB")]
    NotSmall,
    /// Git could not read it either.
    #[error("{0}")]
    NotSettings(GitSettingsError),
}

impl Conflict {
    /// The code of the manual page.
    #[must_use]
    pub const fn code(&self) -> Code {
        if let Self::Missing(_) = self { Code::JailMissingPath } else { Code::JailConflict }
    }

    /// Returns a hint on how to resolve the conflict.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotAbsolute(_) => "write the path from the root".to_owned(),
            Self::Root => "name the directory the agent works in".to_owned(),
            Self::AboveWorkspace { .. } => "name the directories beside the workspace instead".to_owned(),
            Self::Missing(_) => "create it first, or take it out: nothing is created on the host".to_owned(),
            Self::Overlap(_) => "keep one of the two".to_owned(),
            Self::Link(_, to) => format!("name {} if that is what you mean", Shown::path(to)),
            Self::Reserved(..) => "take it out".to_owned(),
            Self::NotADirectory(..) => "name its directory".to_owned(),
            Self::Special(_) => "name a file or a directory".to_owned(),
            Self::Listen(..) => {
                "give the jail a network of its own, and at most 16 ports to listen on".to_owned()
            }
            Self::Broker(_) => {
                "`ringfence doctor` says why the native provider does not work; `--network none` needs no broker"
                    .to_owned()
            }
            Self::Kept { .. } => "name a directory of its own that no view shows".to_owned(),
            Self::Forbidden(_) => "to allow it, name it in `files.exempt` of your own policy".to_owned(),
            Self::TooManyForbidden { directory, .. } => format!(
                "hide the directory with --hide {0}, or name what is no secret in `files.exempt` of your own policy",
                Shown::path(directory)
            ),
            Self::NotLookedThrough(..) => "hide it with --hide, or take it out".to_owned(),
            Self::Settings(path, Unreadable::Closed(_)) => {
                format!(
                    "`chmod u+r {0}` lets you read it; look at it, and at the files that it names",
                    Shown::path(path)
                )
            }
            Self::Settings(path, _) => {
                format!("`git config --file {} --list` says what git reads", Shown::path(path))
            }
            Self::NotEnforceable(..) => "use another provider, or take it out".to_owned(),
        }
    }
}

pub(super) fn check(spec: &Spec, host: &Host) -> Result<(), Conflict> {
    listening(spec)?;
    let contents = spec.contents.iter().map(|content| &content.path);
    let paths = spec.views.iter().map(|view| &view.path).chain(contents).chain([&spec.workspace, &spec.home]);
    paths.clone().try_for_each(|path| plain(path))?;
    directory(&spec.workspace, host, "the workspace")?;
    spec.views.iter().try_for_each(|view| alone(view, spec))?;
    spec.views.iter().try_for_each(|view| below(view, spec))?;
    spec.views.iter().try_for_each(|view| there(view, host))?;
    paths.clone().try_for_each(|path| straight(path, spec, host))?;
    spec.kept.iter().try_for_each(|kept| keeps(kept, spec, host))?;
    spec.contents.iter().try_for_each(|content| covers(content, spec, host))?;
    // The private home can be put anywhere but where the host would have to have a directory and has none.
    if is_shown(&spec.home, spec) { directory(&spec.home, host, "the home") } else { Ok(()) }
}

fn directory(path: &Path, host: &Host, what: &'static str) -> Result<(), Conflict> {
    match host.entry(path) {
        Some(Entry::Directory(..)) => Ok(()),
        None => Err(Conflict::Missing(path.to_owned())),
        Some(Entry::Link(to)) => Err(Conflict::Link(path.to_owned(), behind(path, path, to))),
        Some(_) => Err(Conflict::NotADirectory(path.to_owned(), what)),
    }
}

/// Refuses to listen on the host's network: a socket of ours would be reachable for every process there.
fn listening(spec: &Spec) -> Result<(), Conflict> {
    match spec.listen.len() {
        0 if spec.dial && spec.network == Network::Open => {
            Err(Conflict::Listen(1, "it has the host's network"))
        }
        0 => Ok(()),
        count if spec.network == Network::Open => Err(Conflict::Listen(count, "it has the host's network")),
        count if count > 16 => Err(Conflict::Listen(count, "they are too many")),
        _ => Ok(()),
    }
}

/// Absolute, and the same text as the kernel would resolve it to.
fn plain(path: &Path) -> Result<(), Conflict> {
    use std::os::unix::ffi::OsStrExt as _;
    let text = path.as_os_str().as_bytes();
    if text == b"/" {
        return Err(Conflict::Root);
    }
    let odd = |part: &[u8]| matches!(part, b"" | b"." | b"..");
    let absolute = text.first() == Some(&b'/') && !text.contains(&0);
    if !absolute || text[1..].split(|byte| *byte == b'/').any(odd) {
        return Err(Conflict::NotAbsolute(path.to_owned()));
    }
    match RESERVED.iter().find(|own| path.starts_with(own)) {
        Some(own) => Err(Conflict::Reserved(path.to_owned(), PathBuf::from(own))),
        None => Ok(()),
    }
}

fn alone(view: &View, spec: &Spec) -> Result<(), Conflict> {
    let others = spec.views.iter().filter(|other| other.path == view.path);
    if others.count() == 1 { Ok(()) } else { Err(Conflict::Overlap(view.path.clone())) }
}

/// A wider view would decide over the workspace, or show what lies around it.
fn below(view: &View, spec: &Spec) -> Result<(), Conflict> {
    if view.path == spec.workspace || !spec.workspace.starts_with(&view.path) {
        return Ok(());
    }
    let mode = match view.mode {
        Mode::ReadOnly => "read-only",
        Mode::ReadWrite => "writable",
        Mode::Hidden => "hidden",
        Mode::Private => "private",
        Mode::Layered => "layered",
    };
    Err(Conflict::AboveWorkspace { path: view.path.clone(), workspace: spec.workspace.clone(), mode })
}

fn there(view: &View, host: &Host) -> Result<(), Conflict> {
    let path = || view.path.clone();
    match (host.entry(&view.path), view.mode) {
        (None, _) => Err(Conflict::Missing(path())),
        (Some(Entry::Link(to)), _) => Err(Conflict::Link(path(), behind(&view.path, &view.path, to))),
        (Some(Entry::Other(_)), _) => Err(Conflict::Special(path())),
        (Some(Entry::File(..)), Mode::Private) => Err(Conflict::NotADirectory(path(), "private")),
        (Some(Entry::File(..)), Mode::Layered) => Err(Conflict::NotADirectory(path(), "layered")),
        (Some(_), _) => Ok(()),
    }
}

/// A content in what can be changed would be moved away with its directory; one in what is only shown needs something to cover.
fn covers(content: &Content, spec: &Spec, host: &Host) -> Result<(), Conflict> {
    let path = || content.path.clone();
    let others = spec.contents.iter().filter(|other| beneath(&other.path, &content.path)).count();
    if others > 1 || spec.views.iter().any(|view| beneath(&view.path, &content.path)) {
        return Err(Conflict::Overlap(path()));
    }
    if let Some(Mode::ReadWrite | Mode::Layered) = spec.mode_at(&content.path) {
        return Err(Conflict::NotEnforceable(path(), "it lies in a view that can be changed"));
    }
    match host.entry(&content.path) {
        _ if !is_shown(&content.path, spec) => Ok(()),
        None => Err(Conflict::Missing(path())),
        Some(Entry::Directory(..)) => Err(Conflict::NotEnforceable(path(), "it is a directory")),
        Some(_) => Ok(()),
    }
}

/// Changes that are seen inside beside the view they belong to could be changed behind its back, and would be a way to the host.
fn keeps(kept: &Kept, spec: &Spec, host: &Host) -> Result<(), Conflict> {
    let (path, directory) = (kept.path.clone(), kept.directory.clone());
    plain(&directory)?;
    let layered = View { path: path.clone(), mode: Mode::Layered };
    let others = spec.kept.iter().filter(|other| other.path == path || other.directory == directory);
    let why = match host.entry(&directory) {
        _ if !spec.views.contains(&layered) => "it is not a layered view",
        _ if others.count() > 1 => "one of the two is asked for twice",
        _ if is_shown(&directory, spec) => "it is seen inside",
        _ if spec.views.iter().any(|view| beneath(&view.path, &directory)) => "it has a view in it",
        Some(Entry::Directory(..)) => return Ok(()),
        _ => "it is not a directory",
    };
    Err(Conflict::Kept { path, directory, why })
}

/// Returns the directories on the way to a path that are shown as they are on the host. A mount there goes where they lead.
pub(super) fn shown_above<'a>(path: &'a Path, spec: &'a Spec) -> impl Iterator<Item = &'a Path> {
    path.ancestors().skip(1).filter(|above| is_shown(above, spec))
}

fn is_shown(path: &Path, spec: &Spec) -> bool {
    system::shows(path) || spec.views.iter().any(|view| beneath(path, &view.path))
}

/// A link on the way would put the mount elsewhere, and what it should have covered would stay as it is.
fn straight(path: &Path, spec: &Spec, host: &Host) -> Result<(), Conflict> {
    let mut links = shown_above(path, spec).filter_map(|above| match host.entry(above) {
        Some(Entry::Link(to)) => Some((above, to)),
        _ => None,
    });
    links.next().map_or(Ok(()), |(link, to)| Err(Conflict::Link(path.to_owned(), behind(path, link, to))))
}

/// Returns the path that a path leads to, of which a part is a link.
fn behind(path: &Path, link: &Path, to: &Path) -> PathBuf {
    let rest = path.strip_prefix(link).unwrap_or(Path::new(""));
    let to = link.parent().unwrap_or(link).join(to);
    if rest.as_os_str().is_empty() { to } else { to.join(rest) }
}
