//! Building the tree of a jail, step by step.
//!
//! **Invariant.** As in [`super::child`], whose memory is the supervisor's: no allocation, no panic, no C library.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd as _, OwnedFd, RawFd};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, FsPickFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

use super::calls::confine::handle;
use super::calls::mounts::{MountChange, mount_setattr};
use super::script::{BLANK, Options, Slot, Step, VOID};

/// The one private file system, mounted over the old root, where only its handle leads.
pub(super) fn private_root(options: &Options) -> Result<OwnedFd, Errno> {
    let root = private_file_system(options)?;
    rustix::mount::move_mount(
        root.as_fd(),
        c"",
        rustix::fs::CWD,
        c"/",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?;
    Ok(root)
}

fn private_file_system(options: &Options) -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    bounds(&made, options)?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"mode", c"0755")?;
    mount_of(&made, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)
}

fn bounds(made: &OwnedFd, options: &Options) -> Result<(), Errno> {
    rustix::mount::fsconfig_set_string(made.as_fd(), c"size", options.size.as_c_str())?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"nr_inodes", options.inodes.as_c_str())
}

/// Gives the private file system other bounds.
pub(super) fn resize(root: BorrowedFd<'_>, options: &Options) -> Result<(), Errno> {
    let flags = FsPickFlags::FSPICK_CLOEXEC | FsPickFlags::FSPICK_EMPTY_PATH;
    let picked = rustix::mount::fspick(root, c"", flags)?;
    bounds(&picked, options)?;
    rustix::mount::fsconfig_reconfigure(picked.as_fd())
}

fn mount_of(made: &OwnedFd, attributes: MountAttrFlags) -> Result<OwnedFd, Errno> {
    rustix::mount::fsconfig_create(made.as_fd())?;
    rustix::mount::fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Where a tree is built, and with what.
pub(super) struct Site<'a> {
    pub(super) root: BorrowedFd<'a>,
    pub(super) options: &'a Options,
    pub(super) hands: &'a Hands,
    /// Whether paths lie in what others can change meanwhile.
    pub(super) shared: bool,
}

impl Site<'_> {
    pub(super) fn perform(&self, step: &Step) -> Result<(), Errno> {
        let root = self.root;
        match step {
            Step::Directory { path, mode } => directory(root, path, *mode),
            Step::Link { path, to } => rustix::fs::symlinkat(to.as_c_str(), root, path.as_c_str()),
            Step::File { path, text } => file(root, path, text).map(drop),
            Step::Bind { from, path, attributes, id } => {
                let tree = tree(rustix::fs::CWD, from)?;
                same(&tree, *id)?;
                self.place_as(tree, *attributes, path)
            }
            Step::Ready { mount, path } => self.place(handle(self.hands.number(*mount)?), path),
            Step::Layer { lower, changes, path } => self.place_owned(self.layer(lower, changes)?, path),
            Step::Device { from, path } => {
                let device = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
                self.place_as(tree(rustix::fs::CWD, from)?, device, path)
            }
            Step::Scratch { path } => self.place_owned(tree(root, path)?, path),
            Step::Fresh { path } => self.place_owned(private_file_system(self.options)?, path),
            Step::Empty { path, of } => {
                self.place_as(tree(root, of)?, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOEXEC, path)
            }
            Step::Processes { path } => self.place_owned(processes()?, path),
            Step::Terminals { path } => self.place_owned(terminals()?, path),
            Step::Lock { path } => {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                lock(rustix::fs::openat(root, path.as_c_str(), flags, Mode::empty())?.as_fd())
            }
        }
    }

    fn place_as(&self, tree: OwnedFd, attributes: u64, path: &CStr) -> Result<(), Errno> {
        let change = MountChange { set: attributes, clear: 0, propagation: libc::MS_PRIVATE, idmap: 0 };
        mount_setattr(tree.as_fd(), &change, true)?;
        self.place_owned(tree, path)
    }

    fn place_owned(&self, tree: OwnedFd, path: &CStr) -> Result<(), Errno> {
        self.place(tree.as_fd(), path)?;
        if !self.shared {
            // These are few, and are closed with everything else when this process executes its program.
            std::mem::forget(tree);
        }
        Ok(())
    }

    /// Mounts at a path of the new root. A link that has appeared on the way since the path was judged would lead out of it.
    fn place(&self, tree: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
        let by_name = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        if !self.shared {
            return rustix::mount::move_mount(tree, c"", self.root, path, by_name);
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let straight = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let point = rustix::fs::openat2(self.root, path, flags, Mode::empty(), straight)?;
        let by_handle = by_name | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        rustix::mount::move_mount(tree, c"", point.as_fd(), c"", by_handle)
    }
}

pub(super) fn directory(root: BorrowedFd<'_>, path: &CStr, mode: u32) -> Result<(), Errno> {
    match rustix::fs::mkdirat(root, path, Mode::from_raw_mode(mode)) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

fn file(root: BorrowedFd<'_>, path: &CStr, text: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(root, path, flags, Mode::from_raw_mode(0o644))?;
    let mut rest = text;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(file)
}

/// A copy of everything mounted at and below a path, attached nowhere.
pub(super) fn tree(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    rustix::mount::open_tree(at, path, flags)
}

/// Whether this is the object that was judged, and not one that was put in its place since.
pub(super) fn same(tree: &OwnedFd, id: (u64, u64)) -> Result<(), Errno> {
    let found = rustix::fs::fstat(tree)?;
    if (found.st_dev, found.st_ino) == id { Ok(()) } else { Err(Errno::STALE) }
}

pub(super) fn lock(mount: BorrowedFd<'_>) -> Result<(), Errno> {
    let change = MountChange { set: libc::MOUNT_ATTR_RDONLY, clear: 0, propagation: 0, idmap: 0 };
    mount_setattr(mount, &change, false)
}

fn processes() -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    mount_of(&made, attributes)
}

fn terminals() -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"ptmxmode", c"0666")?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"mode", c"0600")?;
    mount_of(&made, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// Puts the image of the process that stays where only a handle leads to it.
pub(super) fn write_init(root: BorrowedFd<'_>, image: &[u8]) -> Result<OwnedFd, Errno> {
    const NAME: &CStr = c".init";
    let written = file(root, NAME, image)?;
    rustix::fs::fchmod(&written, Mode::from_raw_mode(0o500))?;
    // A file that is open for writing cannot be executed.
    drop(written);
    let init = rustix::fs::openat(root, NAME, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    rustix::fs::unlinkat(root, NAME, AtFlags::empty())?;
    Ok(init)
}

pub(super) fn clear_scaffold(root: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::fs::unlinkat(root, BLANK, AtFlags::empty())?;
    rustix::fs::unlinkat(root, VOID, AtFlags::REMOVEDIR)
}

/// Makes the new root the only one. The old one is stacked on it for a moment and then let go.
pub(super) fn pivot(root: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::process::fchdir(root)?;
    rustix::process::pivot_root(c".", c".")?;
    rustix::mount::unmount(c".", UnmountFlags::DETACH)?;
    rustix::process::chdir(c"/")
}

/// Descriptors that came from the supervisor after this process was made.
pub(super) struct Hands {
    numbers: [RawFd; Self::MOST],
    count: usize,
}

impl Hands {
    /// More than anybody has views; and what fits on a small stack.
    pub(super) const MOST: usize = 1024;
    /// As many as the kernel sends at once.
    pub(super) const AT_ONCE: usize = 253;
    pub(super) const EMPTY: Self = Self { numbers: [-1; Self::MOST], count: 0 };

    /// Waits for them; they are the leave to go on.
    pub(super) fn receive(from: RawFd) -> Result<Self, Errno> {
        let mut hands = Self::EMPTY;
        while hands.receive_some(from)? == MORE {}
        Ok(hands)
    }

    /// One message, and whether it is the last.
    fn receive_some(&mut self, from: RawFd) -> Result<u8, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(Self::AT_ONCE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0_u8];
        let mut text = [rustix::io::IoSliceMut::new(&mut byte)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received =
            rustix::io::retry_on_intr(|| rustix::net::recvmsg(handle(from), &mut text, &mut control, flags))?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(handles) = message {
                handles.for_each(|handle| self.take(handle.into_raw_fd()));
            }
        }
        if received.bytes == 0 { Err(Errno::PIPE) } else { Ok(byte[0]) }
    }

    fn take(&mut self, number: RawFd) {
        if let Some(place) = self.numbers.get_mut(self.count) {
            *place = number;
            self.count = self.count.saturating_add(1);
        }
    }

    /// All of them.
    pub(super) fn numbers(&self) -> &[RawFd] {
        self.numbers.get(..self.count).unwrap_or_default()
    }

    pub(super) fn numbers_of(&self, slots: &[Option<Slot>; 3]) -> Result<[Option<RawFd>; 3], Errno> {
        let mut numbers = [None; 3];
        for (number, slot) in numbers.iter_mut().zip(slots) {
            *number = slot.map(|slot| self.number(slot)).transpose()?;
        }
        Ok(numbers)
    }

    pub(super) fn number(&self, slot: Slot) -> Result<RawFd, Errno> {
        self.numbers.get(slot).copied().filter(|number| *number >= 0).ok_or(Errno::BADF)
    }
}

/// What a message with descriptors says: that there is another one, or that this is the last.
pub(super) const MORE: u8 = b'+';
pub(super) const LAST: u8 = b'!';
