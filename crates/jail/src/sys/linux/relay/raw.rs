//! The raw calls of the relay, each safe to call.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Whether two descriptors are one open file: one offset, one set of flags. Nothing if the kernel does not say.
pub(super) fn same_open_file(a: impl AsFd, b: impl AsFd) -> Option<bool> {
    const FILE: libc::c_int = 0;
    let (a, b) = (a.as_fd().as_raw_fd(), b.as_fd().as_raw_fd());
    let me = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: kcmp(2) takes five integers, reads no memory of ours and changes nothing.
    let order = unsafe { libc::syscall(libc::SYS_kcmp, me, me, FILE, a, b) };
    (order >= 0).then_some(order == 0)
}

/// The number of the terminal behind a descriptor. `/dev/tty` and the terminal it stands for have the same.
pub(super) fn terminal_number(terminal: impl AsFd) -> io::Result<u32> {
    const TIOCGDEV: libc::c_ulong = 0x8004_5432;
    let mut number: u32 = 0;
    // SAFETY: TIOCGDEV writes one u32 through the pointer, which points to our variable and outlives the call. A driver
    // that does not know the request refuses it and writes nothing.
    let rc = unsafe {
        libc::ioctl(terminal.as_fd().as_raw_fd(), TIOCGDEV as libc::Ioctl, std::ptr::from_mut(&mut number))
    };
    if rc == 0 { Ok(number) } else { Err(io::Error::last_os_error()) }
}

/// Sends a signal to the foreground of the terminal whose master this is, as its keys would.
pub(in crate::sys::linux) fn signal_foreground(master: impl AsFd, signal: libc::c_int) -> io::Result<()> {
    const TIOCSIG: libc::c_ulong = 0x4004_5436;
    // SAFETY: TIOCSIG takes the number of the signal by value and touches no memory of ours.
    let rc = unsafe { libc::ioctl(master.as_fd().as_raw_fd(), TIOCSIG as libc::Ioctl, signal) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Blocks signals in this thread and returns the mask before.
pub(super) fn block(signals: &[libc::c_int]) -> io::Result<libc::sigset_t> {
    let blocked = set_of(signals);
    let mut before = MaybeUninit::uninit();
    // SAFETY: both pointers are to signal sets of ours that outlive the call; the second is only written.
    let rc = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, before.as_mut_ptr()) };
    if rc != 0 {
        return Err(io::Error::from_raw_os_error(rc));
    }
    // SAFETY: the call succeeded and has filled the set.
    Ok(unsafe { before.assume_init() })
}

/// Lets a signal through to this thread.
pub(super) fn unblock(signal: libc::c_int) -> io::Result<()> {
    let set = set_of(&[signal]);
    // SAFETY: the first pointer is to a signal set of ours that outlives the call; a null second pointer asks for nothing.
    let rc = unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()) };
    if rc == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(rc)) }
}

/// Gives this thread a mask it had before.
pub(super) fn set_mask(mask: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: the first pointer is to a signal set that outlives the call; a null second pointer asks for nothing.
    let rc = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
    if rc == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(rc)) }
}

/// A descriptor from which blocked signals are read.
pub(super) fn signal_descriptor(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = set_of(signals);
    // SAFETY: with -1 a new descriptor is made; the pointer is to a signal set of ours that outlives the call.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the descriptor is open and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset(3) fills the set it is given, and cannot fail.
    let mut set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for signal in signals {
        // SAFETY: the set is filled and ours. A number that is no signal is refused and changes nothing.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    set
}
