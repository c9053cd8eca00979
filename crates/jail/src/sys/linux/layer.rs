//! A layer over a directory: what is below is seen as it is, what is changed goes above.
//!
//! The kernel takes the parts of a layer by name, and only such as are mounted where the mounter is. So each is put for a
//! moment at a place in the new root whose name is ours. The layer then holds them by itself, and the places are cleared.
//!
//! **Invariant.** As in [`super::child`], whose memory is the supervisor's: no allocation, no panic, no C library.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags};

use super::calls::confine::handle;
use super::calls::mounts::{MountChange, mount_setattr};
use super::script::{Changes, Source, attributes};
use super::site::{Site, directory, same, tree};

/// Where the parts are put for a moment, relative to the new root, and their names there.
const PLACE: &CStr = c".layer";
const LOWER: &CStr = c"lower";
const SPACE: &CStr = c"space";

/// Where private space is covered in every jail: a name beneath it leads nowhere.
const COVERED: &CStr = c"proc";

impl Site<'_> {
    /// A layer, mounted nowhere yet.
    pub(super) fn layer(&self, lower: &Source, changes: &Changes) -> Result<OwnedFd, Errno> {
        let before = open(rustix::fs::CWD, c".")?;
        directory(self.root, PLACE, 0o700)?;
        let place = open(self.root, PLACE)?;
        rustix::process::fchdir(&place)?;
        let made = self.layer_at(place.as_fd(), lower, changes);
        let back = rustix::process::fchdir(&before);
        rustix::fs::unlinkat(self.root, PLACE, AtFlags::REMOVEDIR)?;
        back.and(made)
    }

    /// A layer of parts that are put at a place, which is also the working directory.
    fn layer_at(&self, place: BorrowedFd<'_>, lower: &Source, changes: &Changes) -> Result<OwnedFd, Errno> {
        let below = self.source(lower, false)?;
        let space = match changes {
            Changes::Kept(source) => self.source(source, true)?,
            Changes::Private(name) => private(self.root, name, rustix::fs::fstat(&below)?.st_mode)?,
        };
        let lower = Part::put(place, LOWER, &below)?;
        let space = Part::put(place, SPACE, &space)?;
        let made = overlay();
        let cleared = space.clear().and(lower.clear());
        made.and_then(|made| cleared.map(|()| made))
    }

    fn source(&self, source: &Source, write: bool) -> Result<OwnedFd, Errno> {
        match source {
            Source::Ready(slot) => rustix::io::fcntl_dupfd_cloexec(handle(self.hands.number(*slot)?), 0),
            Source::Named { from, id } => {
                let tree = tree(rustix::fs::CWD, from)?;
                same(&tree, *id)?;
                let set = attributes(write);
                let change = MountChange { set, clear: 0, propagation: libc::MS_PRIVATE, idmap: 0 };
                mount_setattr(tree.as_fd(), &change, true)?;
                Ok(tree)
            }
        }
    }
}

/// A part of a layer, at its place.
struct Part<'a> {
    place: BorrowedFd<'a>,
    name: &'static CStr,
}

impl<'a> Part<'a> {
    fn put(place: BorrowedFd<'a>, name: &'static CStr, tree: &OwnedFd) -> Result<Self, Errno> {
        directory(place, name, 0o700)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(tree.as_fd(), c"", place, name, flags)?;
        Ok(Self { place, name })
    }

    /// Takes it away. The name is relative to the working directory.
    fn clear(self) -> Result<(), Errno> {
        rustix::mount::unmount(self.name, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?;
        rustix::fs::unlinkat(self.place, self.name, AtFlags::REMOVEDIR)
    }
}

/// The overlay of the parts in the working directory.
///
/// Its marks are attributes that everybody may set on files of their own: the others need powers over the host. A layer that
/// follows no marks for moved directories and half copied files cannot be led elsewhere by them.
fn overlay() -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let parts = [(c"lowerdir", LOWER), (c"upperdir", c"space/upper"), (c"workdir", c"space/work")];
    for (key, value) in parts {
        rustix::mount::fsconfig_set_string(made.as_fd(), key, value)?;
    }
    rustix::mount::fsconfig_set_flag(made.as_fd(), c"userxattr")?;
    rustix::mount::fsconfig_create(made.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    rustix::mount::fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// A place for changes in the one private file system, which shares its size. A copy of the root's mount alone shows what is
/// beneath the others.
fn private(root: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<OwnedFd, Errno> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    let bare = rustix::mount::open_tree(root, c"", flags)?;
    let covered = open(bare.as_fd(), COVERED)?;
    directory(covered.as_fd(), name, 0o700)?;
    let own = open(covered.as_fd(), name)?;
    // What is above gives the whole its mode.
    directory(own.as_fd(), c"upper", mode & 0o777)?;
    directory(own.as_fd(), c"work", 0o700)?;
    rustix::mount::open_tree(own.as_fd(), c"", flags)
}

fn open(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(at, path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}
