//! Showing the files of one user as another's: how root's jail can run as a user without rights and still work on root's files.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::OpenTreeFlags;

use super::steps::{attributes, text};
use crate::plan::{Kind, Mount, Owner, Plan};
use crate::sys::linux::calls::mounts::{MountChange, mount_setattr};
use crate::sys::linux::init::Init;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::provider::native::{SetupError, write};

/// The plan's views, mounted already with ids shown as the jail's own; empty unless root calls.
#[derive(Default)]
pub(crate) struct Ready {
    pub(crate) mounts: Vec<(PathBuf, OwnedFd)>,
    /// Holds the user namespace that the mounts are made with. Ended when dropped, which takes a moment and can wait.
    holder: Option<Init>,
}

impl Ready {
    /// Lets go of everything that init has by now. The rest happens when this is dropped.
    pub(crate) fn release(&mut self) {
        self.mounts.clear();
        if let Some(holder) = &self.holder {
            holder.kill();
        }
    }
}

/// Makes them.
pub(crate) fn ready(plan: &Plan) -> Result<Ready, SetupError> {
    let Some(shows) = plan.identity.shows else { return Ok(Ready::default()) };
    layers_are_whole(plan)?;
    let broken = |what: String| move |errno| SetupError::Step(SetupStep::Identity, Some(what), errno);
    let holder = Init::start(libc::CLONE_NEWUSER)?;
    let map = user_namespace(&holder, shows, plan.identity.outside);
    let map = map.map_err(broken("make a map of users".to_owned()))?;
    let kept = plan.kept.iter().map(|kept| (&kept.directory, kept.id, true));
    let mounts = plan.mounts.iter().filter_map(own).chain(kept).map(|(path, id, write)| {
        let what = format!("show {} as its own", policy::Shown::path(path));
        view(path, id, write, &map).map(|made| (path.clone(), made)).map_err(broken(what))
    });
    Ok(Ready { mounts: mounts.collect::<Result<_, _>>()?, holder: Some(holder) })
}

/// Mounts in a directory are not part of a layer over it, and what they cover would be seen. The kernel refuses that to all
/// users but root.
fn layers_are_whole(plan: &Plan) -> Result<(), SetupError> {
    let mut layers = plan.mounts.iter().filter(|mount| matches!(mount.kind, Kind::Layered { .. })).peekable();
    if layers.peek().is_none() {
        return Ok(());
    }
    let broken = |what: String, errno| SetupError::Layer(format!("put a layer over {what}"), errno);
    let table = std::fs::read("/proc/self/mountinfo");
    let table = table.map_err(|_| broken("anything without knowing the mounts".to_owned(), Errno::IO))?;
    let points: Vec<PathBuf> = table.split(|byte| *byte == b'\n').filter_map(point).collect();
    let within =
        |mount: &Mount| points.iter().any(|point| *point != mount.path && point.starts_with(&mount.path));
    match layers.find(|mount| within(mount)) {
        Some(mount) => {
            let what = format!("{} with something mounted in it", policy::Shown::path(&mount.path));
            Err(broken(what, Errno::INVAL))
        }
        None => Ok(()),
    }
}

/// The mount point of a line of the kernel's table, which writes odd bytes as three octal digits.
fn point(line: &[u8]) -> Option<PathBuf> {
    let mut rest = line.split(|byte| *byte == b' ').nth(4)?;
    let mut path = Vec::with_capacity(rest.len());
    while let [first, tail @ ..] = rest {
        let digits =
            tail.get(..3).filter(|_| *first == b'\\').and_then(|three| std::str::from_utf8(three).ok());
        let odd = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(odd.unwrap_or(*first));
        rest = if odd.is_some() { &tail[3..] } else { tail };
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

/// Returns what is shown as the jail's own: its path, which object it is, and whether it can be changed.
fn own(mount: &Mount) -> Option<(&PathBuf, (u64, u64), bool)> {
    match mount.kind {
        Kind::Bind { own: true, write, id, .. } => Some((&mount.path, id, write)),
        Kind::Layered { id } => Some((&mount.path, id, false)),
        _ => None,
    }
}

fn view(path: &Path, id: (u64, u64), write: bool, map: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = rustix::mount::open_tree(CWD, text(path.as_os_str()), flags)?;
    let found = rustix::fs::fstat(&tree)?;
    // It has to be the object that was judged, and not one that was put in its place since.
    if (found.st_dev, found.st_ino) != id {
        return Err(Errno::STALE);
    }
    let change = MountChange {
        set: attributes(write) | libc::MOUNT_ATTR_IDMAP,
        clear: 0,
        propagation: libc::MS_PRIVATE,
        idmap: u64::try_from(map.as_raw_fd()).map_err(|_| Errno::BADF)?,
    };
    mount_setattr(tree.as_fd(), &change, true)?;
    Ok(tree)
}

/// A user namespace that maps one owner to another and leaves the rest as it is. A process holds it until the mounts are made.
fn user_namespace(holder: &Init, from: Owner, to: Owner) -> Result<OwnedFd, Errno> {
    write(holder.pid(), "uid_map", swapped(from.uid, to.uid))?;
    write(holder.pid(), "gid_map", swapped(from.gid, to.gid))?;
    let path = format!("/proc/{}/ns/user", holder.pid().as_raw_nonzero());
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Two ids change places, the others keep theirs. Ids above the second are not mapped: no user has them.
fn swapped(one: u32, two: u32) -> String {
    let (low, high) = (one.min(two), one.max(two));
    let mut lines = vec![format!("{low} {high} 1"), format!("{high} {low} 1")];
    if low > 0 {
        lines.push(format!("0 0 {low}"));
    }
    if high - low > 1 {
        lines.push(format!("{0} {0} {1}", low + 1, high - low - 1));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_as_the_kernel_writes_them() {
        let rows = [
            ("36 35 98:0 /m /mnt/a rw - ext3 /dev/root rw", Some("/mnt/a")),
            (r"36 35 98:0 /m /a\040b\134c\012 rw - ext3 /dev/root rw", Some("/a b\\c\n")),
            (r"36 35 98:0 /m /a\04 rw", Some(r"/a\04")),
            ("36 35 98:0 /m", None),
        ];
        for (line, wanted) in rows {
            assert_eq!(point(line.as_bytes()), wanted.map(PathBuf::from));
        }
    }

    #[test]
    fn two_ids_change_places() {
        let rows = [
            ((0, 5), "0 5 1\n5 0 1\n1 1 4"),
            ((3, 5), "3 5 1\n5 3 1\n0 0 3\n4 4 1"),
            ((4, 5), "4 5 1\n5 4 1\n0 0 4"),
            ((5, 0), "0 5 1\n5 0 1\n1 1 4"),
        ];
        for ((one, two), map) in rows {
            assert_eq!(swapped(one, two), map);
        }
    }
}
