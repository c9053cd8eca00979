//! Showing the files of one user as another's: how root's jail can run as nobody and still work on root's files.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::OpenTreeFlags;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::calls::clone::{Stack, clone_in_our_memory};
use super::calls::confine;
use super::calls::mounts::{MountChange, mount_setattr};
use super::native::{Broken, write};
use super::report::Part;
use super::script::attributes;
use crate::plan::{Kind, Mount, Owner, Plan};

/// The plan's views, mounted already with ids shown as the jail's own; empty unless root calls.
pub(super) fn ready(plan: &Plan) -> Result<Vec<(PathBuf, OwnedFd)>, Broken> {
    let Some(shows) = plan.identity.shows else { return Ok(Vec::new()) };
    let broken = |what: String| move |errno| Broken::Part(Part::Identity, Some(what), errno);
    let map =
        user_namespace(shows, plan.identity.outside).map_err(broken("make a map of users".to_owned()))?;
    let own = plan.mounts.iter().filter(|mount| matches!(mount.kind, Kind::Bind { own: true, .. }));
    own.map(|mount| {
        let what = format!("show {} as its own", policy::Shown::path(&mount.path));
        view(mount, &map).map(|made| (mount.path.clone(), made)).map_err(broken(what))
    })
    .collect()
}

fn view(mount: &Mount, map: &OwnedFd) -> Result<OwnedFd, Errno> {
    let Kind::Bind { write, id, .. } = mount.kind else { return Err(Errno::INVAL) };
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = rustix::mount::open_tree(CWD, &mount.path, flags)?;
    let found = rustix::fs::fstat(&tree)?;
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

/// A user namespace that maps one owner to another and leaves the rest as it is.
fn user_namespace(from: Owner, to: Owner) -> Result<OwnedFd, Errno> {
    let mut stack = Stack::new();
    let ourselves = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let (number, wait) = (ourselves.as_raw_fd(), confine::live_until_end_of);
    let mask = confine::block_signals(u64::MAX)?;
    // SAFETY: the process makes system calls only and uses no memory but its stack and `number`, which outlive it: it is ended
    // and reaped before this function returns. All signals are blocked.
    let child = unsafe { clone_in_our_memory(libc::CLONE_NEWUSER, stack.top(), wait, &number) };
    let restored = confine::block_signals(mask);
    let child = child?;
    let namespace = restored.and_then(|_| mapped(child, from, to));
    let _ended = rustix::process::kill_process(child, Signal::KILL);
    rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(child), WaitOptions::empty()))?;
    namespace
}

fn mapped(child: Pid, from: Owner, to: Owner) -> Result<OwnedFd, Errno> {
    write(child, "uid_map", &swapped(from.uid, to.uid))?;
    write(child, "gid_map", &swapped(from.gid, to.gid))?;
    let path = format!("/proc/{}/ns/user", child.as_raw_nonzero());
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Two ids change places, the others keep theirs. Ids above the second are not mapped: nobody has them.
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
