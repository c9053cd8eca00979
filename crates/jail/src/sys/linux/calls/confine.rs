//! Calls by which a process gives up what it could do.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::mounts::number;
use super::raw;

/// Access that a Landlock ruleset handles.
#[repr(C)]
pub(crate) struct HandledAccess {
    /// `LANDLOCK_ACCESS_FS_*`.
    pub(crate) files: u64,
    /// `LANDLOCK_ACCESS_NET_*`.
    pub(crate) network: u64,
    /// `LANDLOCK_SCOPE_*`.
    pub(crate) scoped: u64,
}

/// A Landlock ruleset that denies everything it is about.
pub(crate) fn landlock_create(handled: &HandledAccess) -> Result<OwnedFd, Errno> {
    let arguments = [std::ptr::from_ref(handled) as usize, size_of::<HandledAccess>(), 0, 0, 0, 0];
    // SAFETY: the kernel reads one `landlock_ruleset_attr`, whose layout `HandledAccess` has, of the size given, and makes a new
    // descriptor.
    unsafe { raw::call(libc::SYS_landlock_create_ruleset, arguments).map(|made| owned(made)) }
}

/// Lets a ruleset allow something beneath a file or directory.
pub(crate) fn landlock_allow(
    ruleset: BorrowedFd<'_>,
    beneath: BorrowedFd<'_>,
    access: u64,
) -> Result<(), Errno> {
    #[repr(C, packed)]
    struct Beneath(u64, RawFd);
    const PATH_BENEATH: usize = 1;
    let rule = Beneath(access, beneath.as_raw_fd());
    let arguments = [number(ruleset), PATH_BENEATH, &raw const rule as usize, 0, 0, 0];
    // SAFETY: for this kind of rule the kernel reads one packed `landlock_path_beneath_attr`, whose layout `Beneath` has.
    unsafe { raw::call(libc::SYS_landlock_add_rule, arguments) }.map(drop)
}

/// Returns the flags to install a filter that notifies its listener, as far as this kernel knows them.
pub(crate) fn listener_flags() -> u32 {
    const NEW_LISTENER: u32 = 1 << 3;
    // A signal that is handled would break a call off that was heard and have it made again, when it is done already.
    const WAIT_KILLABLE: u32 = 1 << 5;
    let flags = NEW_LISTENER | WAIT_KILLABLE;
    let arguments = [libc::SECCOMP_SET_MODE_FILTER as usize, flags as usize, 0, 0, 0, 0];
    // SAFETY: a null program installs nothing: flags that the kernel knows are followed by a failure to read it.
    match unsafe { raw::call(libc::SYS_seccomp, arguments) } {
        // Kernels before 5.19 do not know the second.
        Err(Errno::INVAL) => NEW_LISTENER,
        _ => flags,
    }
}

/// Has this thread alone use files as another user without any powers, and have its own umask. It keeps who it is towards
/// processes: that is what lets it look at those of a jail that it has made.
pub(crate) fn use_files_as(uid: u32, gid: u32) -> Result<(), Errno> {
    super::unshare_namespaces(rustix::thread::UnshareFlags::FS)?;
    if rustix::process::geteuid().is_root() {
        // The kernel takes a process whose thread changes for one with secrets of its own; it is what it was before.
        let dumpable = rustix::process::dumpable_behavior()?;
        rustix::thread::set_thread_groups(&[])?;
        // SAFETY: no pointers. They answer with the old number in every case; what counts is tried below.
        unsafe { raw::call(libc::SYS_setfsgid, [gid as usize, 0, 0, 0, 0, 0]) }?;
        // SAFETY: as above.
        unsafe { raw::call(libc::SYS_setfsuid, [uid as usize, 0, 0, 0, 0, 0]) }?;
        drop_capabilities()?;
        // SAFETY: as above. An id that no user can have changes nothing and tells the one that holds.
        let now = unsafe { raw::call(libc::SYS_setfsuid, [u32::MAX as usize, 0, 0, 0, 0, 0]) }?;
        rustix::process::set_dumpable_behavior(dumpable)?;
        return if now == uid as usize { Ok(()) } else { Err(Errno::PERM) };
    }
    Ok(())
}

/// Marks every descriptor from `first` on to be closed when something is executed.
pub(crate) fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    const CLOEXEC: usize = 1 << 2;
    // SAFETY: no pointers; no descriptor is closed here.
    unsafe { raw::call(libc::SYS_close_range, [first as usize, u32::MAX as usize, CLOEXEC, 0, 0, 0]) }
        .map(drop)
}

/// Returns the blocked-signal mask.
pub(crate) fn blocked_signals() -> Result<u64, Errno> {
    let mut blocked = 0_u64;
    // SAFETY: without a new set the kernel only writes the present one, of eight bytes.
    unsafe { raw::call(libc::SYS_rt_sigprocmask, [0, 0, &raw mut blocked as usize, 8, 0, 0]) }?;
    Ok(blocked)
}

/// Sets the blocked-signal mask.
pub(crate) fn block_signals(mask: u64) -> Result<u64, Errno> {
    let mut old = 0_u64;
    let arguments = [
        libc::SIG_SETMASK.cast_unsigned() as usize,
        &raw const mask as usize,
        &raw mut old as usize,
        8,
        0,
        0,
    ];
    // SAFETY: the kernel reads and writes one set of signals of eight bytes each.
    unsafe { raw::call(libc::SYS_rt_sigprocmask, arguments) }?;
    Ok(old)
}

/// A handle from which signals are read that wait.
pub(crate) fn signal_descriptor(signals: u64) -> Result<OwnedFd, Errno> {
    let flags = (libc::SFD_CLOEXEC | libc::SFD_NONBLOCK).cast_unsigned() as usize;
    let arguments = [usize::MAX, &raw const signals as usize, 8, flags, 0, 0];
    // SAFETY: with -1 the kernel makes a new descriptor; it reads one set of signals of eight bytes.
    unsafe { raw::call(libc::SYS_signalfd4, arguments).map(|made| owned(made)) }
}

/// Gives up every capability.
pub(crate) fn drop_capabilities() -> Result<(), Errno> {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// # Safety
///
/// The kernel has just made the descriptor, and no other code knows of it.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "descriptors are ints")]
unsafe fn owned(descriptor: usize) -> OwnedFd {
    // SAFETY: the caller's promise.
    unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }
}
