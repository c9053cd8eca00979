//! A plan as arguments of bubblewrap.
//!
//! Bubblewrap has a `/dev` of its own and makes mount points by itself; the rest is the plan, in its order. What is judged by
//! handle is passed by handle.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use policy::Shown;

use super::Plan;
use super::conflict::Conflict;
use super::hostname::HOSTNAME;
use super::tree::{Kind, Mount, Skeleton, beneath};

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// As it is.
    Plain(OsString),
    /// The number of a descriptor.
    Handle(Handle),
}

/// Target of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handle {
    /// A text.
    Text(Vec<u8>),
    /// The text that is read last, when everything is mounted: its reader's end tells us so.
    Last(Vec<u8>),
    /// A view of the host, and which object it was when it was judged: device and inode.
    View(PathBuf, (u64, u64)),
    /// The filter of system calls.
    Filter,
    /// The end that is waited for before the command starts.
    Gate,
    /// The other end of it, so that our death is no leave to go on.
    SyncFd,
    /// The descriptor to which it reports what becomes of the command.
    Status,
}

/// The arguments for a plan, up to the command itself. Without a terminal the command gets a session of its own.
#[must_use]
pub fn arguments(plan: &Plan, cwd: &Path, terminal: bool) -> Vec<Word> {
    let mut words = Words(Vec::new());
    words.processes(plan, terminal);
    words.files(plan);
    words.option("--chdir", [cwd]);
    words.option("--clearenv", NONE);
    plan.environment.iter().for_each(|(name, value)| words.option("--setenv", [name, value]));
    for (option, handle) in [
        ("--seccomp", Handle::Filter),
        ("--block-fd", Handle::Gate),
        ("--sync-fd", Handle::SyncFd),
        ("--json-status-fd", Handle::Status),
    ] {
        words.handle(option, handle);
    }
    words.0
}

/// Returns an error if bubblewrap cannot make this plan: not every version knows layers, and none takes them by handle; it mounts
/// contents where a link leads.
pub fn wrappable(plan: &Plan) -> Result<(), Conflict> {
    plan.mounts.iter().try_for_each(|mount| {
        let why = match mount.kind {
            Kind::Layered { .. } => "bubblewrap does not take layers by handle",
            Kind::Content { .. } => "bubblewrap does not cover a link with a file",
            _ => return Ok(()),
        };
        Err(Conflict::NotEnforceable(mount.path.clone(), why))
    })
}

const NONE: [&OsStr; 0] = [];

struct Words(Vec<Word>);

impl Words {
    fn option<T: AsRef<OsStr>>(&mut self, option: &str, values: impl IntoIterator<Item = T>) {
        self.0.push(Word::Plain(option.into()));
        self.0.extend(values.into_iter().map(|value| Word::Plain(value.as_ref().to_owned())));
    }

    fn handle(&mut self, option: &str, handle: Handle) {
        self.option(option, NONE);
        self.0.push(Word::Handle(handle));
    }

    fn to(&mut self, path: &Path) {
        self.0.push(Word::Plain(path.into()));
    }

    fn mode(&mut self, mode: u32) {
        self.option("--perms", [format!("{mode:04o}")]);
    }

    fn processes(&mut self, plan: &Plan, terminal: bool) {
        let who = plan.identity.inside;
        let always = ["user", "pid", "ipc", "uts", "cgroup"];
        for name in always {
            self.option(&format!("--unshare-{name}"), NONE);
        }
        if plan.own_network {
            self.option("--unshare-net", NONE);
        }
        self.option("--uid", [who.uid.to_string()]);
        self.option("--gid", [who.gid.to_string()]);
        self.option("--hostname", [HOSTNAME]);
        self.option("--cap-drop", ["ALL"]);
        self.option("--die-with-parent", NONE);
        if !terminal {
            self.option("--new-session", NONE);
        }
    }

    fn files(&mut self, plan: &Plan) {
        let last = plan.skeleton.iter().rfind(|(_, thing)| matches!(thing, Skeleton::File(_)));
        let made = plan.skeleton.iter().filter(|(path, _)| !own_dev(path));
        made.filter(|made| Some(*made) != last).for_each(|(path, thing)| self.make(path, thing));
        self.option("--dev", ["/dev"]);
        plan.mounts.iter().for_each(|mount| self.mount(mount, plan));
        plan.late.iter().for_each(|(path, thing)| self.make(path, thing));
        if let Some((path, Skeleton::File(text))) = last {
            self.mode(0o644);
            self.handle("--file", Handle::Last(text.clone()));
            self.to(path);
        }
        let empty = plan
            .mounts
            .iter()
            .filter(|mount| matches!(mount.kind, Kind::Void | Kind::Parent | Kind::Mask { directory: true }));
        let empty = empty.map(|mount| mount.path.as_path());
        let whole = ["/proc", "/dev", "/"].map(Path::new);
        empty.chain(whole).for_each(|path| self.option("--remount-ro", [path]));
    }

    fn make(&mut self, path: &Path, thing: &Skeleton) {
        match thing {
            Skeleton::Directory(mode) => {
                self.mode(*mode);
                self.option("--dir", [path]);
            }
            Skeleton::Link(to) => self.option("--symlink", [to, path]),
            Skeleton::File(text) => {
                self.mode(0o644);
                self.handle("--file", Handle::Text(text.clone()));
                self.to(path);
            }
        }
    }

    fn mount(&mut self, mount: &Mount, plan: &Plan) {
        let path = &mount.path;
        let above = mount.makes.iter().filter(|(made, _)| made != path && !own_dev(made));
        above.for_each(|(path, thing)| self.make(path, thing));
        match mount.kind {
            Kind::Bind { write, own: true, id, .. } => {
                self.handle(if write { "--bind-fd" } else { "--ro-bind-fd" }, Handle::View(path.clone(), id));
                self.to(path);
            }
            Kind::Bind { write, .. } => self.option(if write { "--bind" } else { "--ro-bind" }, [path, path]),
            // The first two are refused before, see `wrappable`.
            Kind::Layered { .. } | Kind::Content { .. } | Kind::Device | Kind::Terminals => {}
            Kind::Scratch => self.space(path, mode(mount), plan.scratch),
            Kind::Void => self.space(path, 0o555, 4096),
            Kind::Parent => self.space(path, 0o755, 4096),
            Kind::Mask { directory: true } => self.space(path, 0, 4096),
            // Devices cannot be opened through a mount that bubblewrap makes so.
            Kind::Mask { directory: false } => self.option("--ro-bind", [Path::new("/dev/null"), path]),
            Kind::Blank => {
                self.handle("--ro-bind-data", Handle::Text(Vec::new()));
                self.to(path);
            }
            Kind::Processes => self.option("--proc", [path]),
        }
    }

    fn space(&mut self, path: &Path, mode: u32, size: u64) {
        self.mode(mode);
        self.option("--size", [size.to_string()]);
        self.option("--tmpfs", [path]);
    }
}

/// Returns true if bubblewrap's own `/dev` has the path already.
fn own_dev(path: &Path) -> bool {
    beneath(path, Path::new("/dev"))
}

/// The mode that a directory of the jail's own has.
fn mode(mount: &Mount) -> u32 {
    let own = mount.makes.iter().find(|(path, _)| *path == mount.path);
    if let Some((_, Skeleton::Directory(mode))) = own { *mode } else { 0o700 }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => Shown::path(Path::new(text)).fmt(f),
            Self::Handle(handle) => handle.fmt(f),
        }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "<{} bytes>", text.len()),
            Self::Last(text) => write!(f, "<last {} bytes>", text.len()),
            Self::View(path, _) => write!(f, "<{}>", Shown::path(path)),
            Self::Filter => f.write_str("<filter>"),
            Self::Gate => f.write_str("<gate>"),
            Self::SyncFd => f.write_str("<sync-fd>"),
            Self::Status => f.write_str("<status>"),
        }
    }
}

#[cfg(test)]
mod tests;
