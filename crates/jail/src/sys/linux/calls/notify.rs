//! Calls by which a listener hears of system calls.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::last_errno;

/// Whether everybody who is listened to has ended. Waits until that or until there is something to hear.
pub(in crate::sys::linux) fn has_ended(listener: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(listener, PollFlags::IN)];
    match rustix::io::retry_on_intr(|| poll(&mut fds, None)) {
        Ok(_) => !fds[0].revents().contains(PollFlags::IN),
        Err(_) => true,
    }
}

/// Hears of the next call.
pub(in crate::sys::linux) fn receive(listener: BorrowedFd<'_>) -> Result<libc::seccomp_notif, Errno> {
    // SAFETY: a C structure of integers, which the kernel demands to be all zeroes.
    let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: this request writes one `seccomp_notif`, borrowed exclusively for the call.
    let rc = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut told) };
    if rc == 0 { Ok(told) } else { Err(last_errno()) }
}

/// Lets a call go on as it was made.
pub(in crate::sys::linux) fn go_on(listener: BorrowedFd<'_>, id: u64) -> Result<(), Errno> {
    let mut answer = libc::seccomp_notif_resp { id, val: 0, error: 0, flags: CONTINUE };
    // SAFETY: this request reads one `seccomp_notif_resp`, borrowed for the call.
    let rc = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw mut answer) };
    if rc == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Whether whoever made a call still waits for it: what was read under its number was its own.
pub(in crate::sys::linux) fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: this request reads one u64 through the pointer, which is to our parameter.
    unsafe { libc::ioctl(listener.as_raw_fd(), ID_VALID, &raw const id) == 0 }
}

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`
const CONTINUE: u32 = 1;
/// `SECCOMP_IOCTL_NOTIF_RECV` and `SECCOMP_IOCTL_NOTIF_SEND`: both ways, the size of the structure, `!`, 0 and 1.
const RECEIVE: libc::Ioctl = request(BOTH_WAYS, size_of::<libc::seccomp_notif>(), 0);
const SEND: libc::Ioctl = request(BOTH_WAYS, size_of::<libc::seccomp_notif_resp>(), 1);
/// `SECCOMP_IOCTL_NOTIF_ID_VALID`: one way.
const ID_VALID: libc::Ioctl = request(1, size_of::<u64>(), 2);
const BOTH_WAYS: u32 = 3;

#[expect(clippy::cast_possible_truncation, reason = "the sizes are below 100")]
const fn request(way: u32, size: usize, number: u32) -> libc::Ioctl {
    (way << 30 | (size as u32) << 16 | (b'!' as u32) << 8 | number) as libc::Ioctl
}
