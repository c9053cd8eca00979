//! The raw calls of the relay, each safe to call.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Returns true if two descriptors are one open file: one offset, one set of flags. `None` if the kernel does not say.
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
pub(crate) fn signal_foreground(master: impl AsFd, signal: libc::c_int) -> io::Result<()> {
    const TIOCSIG: libc::c_ulong = 0x4004_5436;
    // SAFETY: TIOCSIG takes the number of the signal by value and touches no memory of ours.
    let rc = unsafe { libc::ioctl(master.as_fd().as_raw_fd(), TIOCSIG as libc::Ioctl, signal) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
