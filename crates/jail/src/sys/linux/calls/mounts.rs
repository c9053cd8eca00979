//! Calls of the mount interface that `rustix` does not have.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::raw;

/// Change of a mount's attributes.
#[repr(C)]
pub(crate) struct MountChange {
    /// `MOUNT_ATTR_*` that are set.
    pub(crate) set: u64,
    /// `MOUNT_ATTR_*` that are cleared.
    pub(crate) clear: u64,
    /// Propagation of mounts and unmounts from elsewhere.
    pub(crate) propagation: u64,
    /// A user namespace whose map says how ids are shown.
    pub(crate) idmap: u64,
}

/// Changes the mount behind a handle, with everything mounted below if `all`.
pub(crate) fn mount_setattr(mount: BorrowedFd<'_>, change: &MountChange, all: bool) -> Result<(), Errno> {
    let flags = libc::AT_EMPTY_PATH | if all { libc::AT_RECURSIVE } else { 0 };
    let arguments = [
        number(mount),
        c"".as_ptr() as usize,
        flags.cast_unsigned() as usize,
        std::ptr::from_ref(change) as usize,
        size_of::<MountChange>(),
        0,
    ];
    // SAFETY: the kernel reads the empty C string and one `mount_attr`, whose layout `MountChange` has, of the size given.
    unsafe { raw::call(libc::SYS_mount_setattr, arguments) }.map(drop)
}

/// A descriptor as an argument of a system call.
pub(super) fn number(handle: impl AsFd) -> usize {
    handle.as_fd().as_raw_fd().cast_unsigned() as usize
}
