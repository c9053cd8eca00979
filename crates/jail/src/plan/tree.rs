//! The tree of files that a jail sees.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::host::{Entry, Host};
use super::hostname::HOSTNAME;
use super::identity::Identity;
use super::system::{MASKED, MASKED_FROM_ROOT, SECRET, SYSTEM, Show};
use crate::spec::{Mode, Spec, View};

/// Something mounted over a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Path inside. For [`Kind::Bind`], [`Kind::Layered`] and [`Kind::Device`] also the path outside.
    pub path: PathBuf,
    /// Kind of mount.
    pub kind: Kind,
    /// Mount points that have to be made first, so that there is something to mount over.
    pub makes: Vec<(PathBuf, Skeleton)>,
}

/// Kind of mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory or file of the host.
    Bind {
        /// True if it can be changed.
        write: bool,
        /// True if it is a directory.
        directory: bool,
        /// True if it is shown as the jail's own where root calls.
        own: bool,
        /// Which object it was when it was judged: device and inode.
        id: (u64, u64),
    },
    /// A directory of the host whose changes go to a layer above it. It is shown as the jail's own where root calls.
    Layered {
        /// Which object it was when it was judged: device and inode.
        id: (u64, u64),
    },
    /// A character device of the host.
    Device,
    /// Private space that can be written.
    Scratch,
    /// A directory of the jail's own in private space that only leads to views. Nothing can be made in it.
    Parent,
    /// An empty directory that cannot be written.
    Void,
    /// An empty file that cannot be written.
    Blank,
    /// A file with given bytes that cannot be written.
    Content {
        /// Its place among the contents of the plan.
        number: usize,
    },
    /// A file or directory that cannot be opened, in place of one with a forbidden name.
    Mask {
        /// True if it is a directory.
        directory: bool,
    },
    /// The processes of the jail.
    Processes,
    /// The terminals of the jail.
    Terminals,
}

/// Directory in which the changes of a layered mount stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeps {
    /// Path at which it is mounted.
    pub path: PathBuf,
    /// The directory of the host that has them.
    pub directory: PathBuf,
    /// Which object that was when it was judged: device and inode.
    pub id: (u64, u64),
}

/// A file or directory with a forbidden name that is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// Its real path.
    pub path: PathBuf,
    /// True if it is a directory.
    pub directory: bool,
    /// Which object it was when it was found: device and inode.
    pub id: Option<(u64, u64)>,
}

/// Something made in the jail's own file systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skeleton {
    /// A directory with a mode.
    Directory(u32),
    /// A symbolic link.
    Link(PathBuf),
    /// A file with a text.
    File(Vec<u8>),
}

/// A path and what may be done with it and beneath it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The path.
    pub path: PathBuf,
    /// True if it is a directory.
    pub directory: bool,
    /// Access that is granted.
    pub access: Access,
}

/// Access that is granted beneath a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reading, listing, executing.
    Read,
    /// Also reading, writing and controlling devices.
    Device,
    /// Everything but controlling devices.
    Write,
}

impl Mount {
    pub(super) fn shows_host(&self) -> bool {
        matches!(self.kind, Kind::Bind { .. } | Kind::Layered { .. })
    }
}

/// Things by path, in the order of their bytes: that puts parents first, and is quicker than comparing parts.
type Places<T> = BTreeMap<OsString, T>;

fn place<T>((path, thing): (PathBuf, T)) -> (OsString, T) {
    (path.into_os_string(), thing)
}

/// Returns true if a path is another or lies beneath it. Both are plain, see [`super::conflict`].
pub(super) fn beneath(path: &Path, above: &Path) -> bool {
    let (path, above) = (path.as_os_str().as_bytes(), above.as_os_str().as_bytes());
    above == b"/" || path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Returns the mounts, parents first.
pub(super) fn mounts(spec: Option<&Spec>, host: &Host, identity: &Identity) -> Vec<Mount> {
    let mut kinds: Places<Kind> = own(spec).map(place).collect();
    kinds.extend(system(host).map(place));
    kinds.extend(masks(host, identity.outside.uid == 0).map(place));
    // Last, so that a view replaces what the jail would have had at its path.
    let masks = spec.map_or(&[][..], |spec| &spec.masks);
    let masked = |path: &Path| masks.iter().any(|mask| mask.directory && beneath(path, &mask.path));
    let views = spec.into_iter().flat_map(|spec| &spec.views).filter(|view| !masked(&view.path));
    let views = views.filter_map(|view| Some((view.path.clone(), seen(view, host)?)));
    kinds.extend(views.map(place));
    for path in spec.into_iter().flat_map(|spec| &spec.parents) {
        kinds.entry(path.clone().into_os_string()).or_insert(Kind::Parent);
    }
    for mask in masks {
        let kind = Kind::Mask { directory: mask.directory };
        kinds.insert(mask.path.clone().into_os_string(), kind);
    }
    for (number, content) in spec.into_iter().flat_map(|spec| spec.contents.iter().enumerate()) {
        kinds.insert(content.path.clone().into_os_string(), Kind::Content { number });
    }
    let (mut done, mut made): (Vec<Mount>, HashSet<PathBuf>) = Default::default();
    for (path, kind) in kinds {
        let path = PathBuf::from(path);
        if let Kind::Mask { .. } = kind {
            // It covers something of the host, so nothing has to be made.
            done.push(Mount { path, kind, makes: Vec::new() });
            continue;
        }
        let mut makes = makes(&path, kind, &done);
        makes.retain(|(path, _)| made.insert(path.clone()));
        done.push(Mount { path, kind, makes });
    }
    done
}

/// Returns the mounts that belong to the jail alone.
fn own(spec: Option<&Spec>) -> impl Iterator<Item = (PathBuf, Kind)> {
    let fixed = [
        ("/proc", Kind::Processes),
        ("/dev/pts", Kind::Terminals),
        ("/dev/shm", Kind::Scratch),
        ("/tmp", Kind::Scratch),
    ];
    let fixed = fixed.into_iter().map(|(path, kind)| (PathBuf::from(path), kind));
    // A second name of `/tmp`, unless something is seen in it.
    let shown = |spec: &Spec| {
        spec.views.iter().map(|view| &view.path).chain([&spec.home]).any(|path| path.starts_with("/var/tmp"))
    };
    let below = spec.is_some_and(shown);
    let second = below.then(|| (PathBuf::from("/var/tmp"), Kind::Scratch));
    fixed.chain(spec.map(|spec| (spec.home.clone(), Kind::Scratch))).chain(second)
}

fn system(host: &Host) -> impl Iterator<Item = (PathBuf, Kind)> {
    SYSTEM.iter().filter_map(|row| {
        let path = PathBuf::from(row.path);
        let kind = match (row.show, host.entry(&path)?) {
            (Show::Device, Entry::Other(_)) => Kind::Device,
            (Show::AsIs, entry @ (Entry::Directory(..) | Entry::File(..))) => bind(entry, false, false)?,
            // A link stays a link, and what is of another kind than everywhere else is not what the row means.
            _ => return None,
        };
        Some((path, kind))
    })
}

fn masks(host: &Host, root: bool) -> impl Iterator<Item = (PathBuf, Kind)> {
    let names = MASKED.iter().chain(MASKED_FROM_ROOT.iter().filter(move |_| root));
    let proc = names.map(|name| Path::new("/proc").join(name));
    let secret = SECRET.iter().map(PathBuf::from).filter(|path| super::system::shows(path));
    proc.chain(secret).filter_map(|path| {
        let kind = empty(host.entry(&path)?);
        Some((path, kind))
    })
}

fn seen(view: &View, host: &Host) -> Option<Kind> {
    let entry = host.entry(&view.path)?;
    match view.mode {
        Mode::ReadOnly => bind(entry, false, true),
        Mode::ReadWrite => bind(entry, true, true),
        Mode::Hidden => Some(empty(entry)),
        Mode::Private => Some(Kind::Scratch),
        Mode::Layered => Some(Kind::Layered { id: entry.identity()? }),
    }
}

/// Returns the directories in which changes stay.
pub(super) fn kept(spec: &Spec, host: &Host) -> Vec<Keeps> {
    let known = spec.kept.iter().filter_map(|kept| {
        let id = host.entry(&kept.directory)?.identity()?;
        Some(Keeps { path: kept.path.clone(), directory: kept.directory.clone(), id })
    });
    known.collect()
}

fn bind(entry: &Entry, write: bool, own: bool) -> Option<Kind> {
    Some(Kind::Bind { write, own, directory: entry.is_directory(), id: entry.identity()? })
}

fn empty(entry: &Entry) -> Kind {
    if entry.is_directory() { Kind::Void } else { Kind::Blank }
}

/// The directories and the mount point itself, unless they lie in something that has them already.
fn makes(path: &Path, kind: Kind, done: &[Mount]) -> Vec<(PathBuf, Skeleton)> {
    let may_hold =
        |mount: &&Mount| !matches!(mount.kind, Kind::Mask { .. } | Kind::Blank | Kind::Content { .. });
    let around = done.iter().rev().filter(may_hold).find(|mount| beneath(path, &mount.path));
    let from = match around.map(|mount| mount.kind) {
        None => Path::new("/"),
        Some(Kind::Scratch | Kind::Void | Kind::Parent) => around.map_or(Path::new("/"), |mount| &mount.path),
        Some(_) => return Vec::new(),
    };
    let mut made: Vec<_> = parents(path, from).map(|path| (path, Skeleton::Directory(0o755))).collect();
    made.push((path.to_owned(), point(path, kind)));
    made
}

fn point(path: &Path, kind: Kind) -> Skeleton {
    match kind {
        Kind::Bind { directory: false, .. } | Kind::Device | Kind::Blank | Kind::Content { .. } => {
            Skeleton::File(Vec::new())
        }
        Kind::Scratch if SHARED.iter().any(|shared| path == Path::new(shared)) => Skeleton::Directory(0o1777),
        Kind::Scratch => Skeleton::Directory(0o700),
        _ => Skeleton::Directory(0o755),
    }
}

/// Directories that programs expect to be writable for all users.
const SHARED: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// The directories strictly between two paths, from the outside in.
fn parents(path: &Path, from: &Path) -> impl Iterator<Item = PathBuf> {
    let bytes = path.as_os_str().as_bytes();
    let start = from.as_os_str().len() + 1;
    let slashes = (start..bytes.len()).filter(|place| bytes[*place] == b'/');
    slashes.map(|place| PathBuf::from(OsStr::from_bytes(&bytes[..place])))
}

/// Returns the entries that are made in the empty root, parents first.
pub(super) fn skeleton(
    spec: Option<&Spec>,
    host: &Host,
    mounts: &[Mount],
    identity: &Identity,
) -> Vec<(PathBuf, Skeleton)> {
    // A file of the root is made although a content covers it: it was made before the contents were known.
    let counts = |mount: &Mount, thing: &Skeleton| {
        !matches!((mount.kind, thing), (Kind::Content { .. }, Skeleton::File(_)))
    };
    let covered = |path: &Path, thing: &Skeleton| {
        mounts.iter().any(|mount| counts(mount, thing) && beneath(path, &mount.path))
    };
    // While the root is built its links lead into the host: what is mounted beneath one would end up there.
    let in_the_way = |path: &Path, thing: &Skeleton| {
        !matches!(thing, Skeleton::Directory(_))
            && mounts.iter().any(|mount| counts(mount, thing) && beneath(&mount.path, path))
    };
    let things = links(host).chain(texts(host)).chain(fixed());
    let own = |spec| accounts(spec, identity).chain(second_names());
    let things = things.chain(spec.into_iter().flat_map(own));
    let mut made = Places::new();
    for (path, thing) in things.filter(|(path, thing)| !covered(path, thing) && !in_the_way(path, thing)) {
        let above = parents(&path, Path::new("/"));
        made.extend(above.map(|parent| place((parent, Skeleton::Directory(0o755)))));
        made.insert(path.into_os_string(), thing);
    }
    made.into_iter().map(|(path, thing)| (PathBuf::from(path), thing)).collect()
}

/// Links in private space. One that would lie anywhere else is not made: nothing there is the jail's own.
pub(super) fn late(spec: &Spec, mounts: &[Mount]) -> Vec<(PathBuf, Skeleton)> {
    let mut made = Places::new();
    for (path, to) in &spec.links {
        let around = mounts.iter().rev().find(|mount| beneath(path, &mount.path));
        let Some(around) = around.filter(|mount| mount.kind == Kind::Scratch && mount.path != *path) else {
            continue;
        };
        let above = parents(path, &around.path);
        made.extend(above.map(|parent| place((parent, Skeleton::Directory(0o755)))));
        made.insert(path.clone().into_os_string(), Skeleton::Link(to.clone()));
    }
    made.into_iter().map(|(path, thing)| (PathBuf::from(path), thing)).collect()
}

/// Links of the system stay links: `/bin` is `usr/bin` inside as outside.
fn links(host: &Host) -> impl Iterator<Item = (PathBuf, Skeleton)> {
    SYSTEM.iter().filter(|row| row.show == Show::AsIs).filter_map(|row| {
        let path = PathBuf::from(row.path);
        let Entry::Link(to) = host.entry(&path)? else { return None };
        Some((path, Skeleton::Link(to.clone())))
    })
}

fn texts(host: &Host) -> impl Iterator<Item = (PathBuf, Skeleton)> {
    host.texts.iter().map(|(path, text)| (path.clone(), Skeleton::File(text.clone())))
}

/// Returns the account files: the jail's user, and the two that every program expects.
fn accounts(spec: &Spec, identity: &Identity) -> impl Iterator<Item = (PathBuf, Skeleton)> {
    let (user, uid, gid) = (&identity.user, identity.inside.uid, identity.inside.gid);
    let mut passwd = format!("{user}:x:{uid}:{gid}::").into_bytes();
    // A home with a colon or a line break in it would be read as something else.
    let home = spec.home.as_os_str().as_bytes();
    passwd.extend(if home.iter().any(|byte| b":\n".contains(byte)) { b"/tmp" } else { home });
    passwd.extend(b":/bin/sh\n");
    let mut group = format!("{user}:x:{gid}:\n").into_bytes();
    if uid != 0 {
        passwd.extend(b"root:x:0:0:root:/root:/usr/sbin/nologin\n");
        group.extend(b"root:x:0:\n");
    }
    passwd.extend(b"nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n");
    group.extend(b"nogroup:x:65534:\n");
    [("/etc/passwd", passwd), ("/etc/group", group)]
        .into_iter()
        .map(|(path, text)| (PathBuf::from(path), Skeleton::File(text)))
}

/// Names that views like to lie beneath: they are not made before the spec is known.
fn second_names() -> impl Iterator<Item = (PathBuf, Skeleton)> {
    let links = [("/var/run", "/run"), ("/var/tmp", "/tmp")];
    links.into_iter().map(|(path, to)| (PathBuf::from(path), Skeleton::Link(PathBuf::from(to))))
}

fn fixed() -> impl Iterator<Item = (PathBuf, Skeleton)> {
    let links = [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
        ("/dev/ptmx", "pts/ptmx"),
        ("/dev/random", "urandom"),
        ("/etc/mtab", "/proc/mounts"),
    ];
    let links = links.into_iter().map(|(path, to)| (PathBuf::from(path), Skeleton::Link(PathBuf::from(to))));
    links.chain([
        (PathBuf::from("/run"), Skeleton::Directory(0o755)),
        (PathBuf::from("/etc/hostname"), Skeleton::File(format!("{HOSTNAME}\n").into_bytes())),
    ])
}

/// Returns the access beneath each path. Everything that is seen may be read; the mounts decide what is seen.
///
/// Each costs time to set up, and none of those that are left out would change an answer: what is read-only is granted by
/// the root, and all of `/dev` is either a device or granted by itself.
pub(super) fn grants(mounts: &[Mount]) -> Vec<Grant> {
    let written = mounts.iter().filter_map(|mount| {
        let directory = match mount.kind {
            Kind::Bind { write: true, directory, .. } => directory,
            Kind::Scratch | Kind::Layered { .. } => true,
            _ => return None,
        };
        Some(Grant { path: mount.path.clone(), directory, access: Access::Write })
    });
    let often = mounts.iter().any(|mount| mount.path == Path::new(OFTEN)).then_some((OFTEN, Access::Read));
    let fixed = [("/", Access::Read), ("/dev", Access::Device)].into_iter().chain(often);
    let fixed = fixed.map(|(path, access)| Grant { path: PathBuf::from(path), directory: true, access });
    fixed.chain(written).collect()
}

/// Directory with most of the files that programs read: found here, the kernel does not walk up to the root for it.
const OFTEN: &str = "/usr";
