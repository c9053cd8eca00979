//! Calls by which a listener hears of system calls.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::last_errno;

/// Waits for a notification or for the end of the last supervised process; returns true for the latter.
pub(crate) fn has_ended(listener: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(listener, PollFlags::IN)];
    match rustix::io::retry_on_intr(|| poll(&mut fds, None)) {
        Ok(_) => !fds[0].revents().contains(PollFlags::IN),
        Err(_) => true,
    }
}

/// Receives the next notification.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<libc::seccomp_notif, Errno> {
    // SAFETY: a C structure of integers, which the kernel demands to be all zeroes.
    let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: this request writes one `seccomp_notif`, borrowed exclusively for the call.
    let rc = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut told) };
    if rc == 0 { Ok(told) } else { Err(last_errno()) }
}

/// Lets a call go on as it was made.
pub(crate) fn go_on(listener: BorrowedFd<'_>, id: u64) -> Result<(), Errno> {
    send(listener, libc::seccomp_notif_resp { id, val: 0, error: 0, flags: CONTINUE })
}

/// Returns true if a notification is still valid: its caller waits, so its number was not given to another process.
pub(crate) fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
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

/// Answers a call in the kernel's place.
pub(crate) fn answer(listener: BorrowedFd<'_>, id: u64, result: Result<(), Errno>) -> Result<(), Errno> {
    let error = result.err().map_or(0, |errno| -errno.raw_os_error());
    send(listener, libc::seccomp_notif_resp { id, val: 0, error, flags: 0 })
}

/// Answers a call with a descriptor, which the caller gets.
///
/// In two steps: the kernel offers one, but a listener that is interrupted in it has answered with descriptor 0 and given
/// nothing. Where the kernel lets a signal end the caller's wait (before 5.19), one that comes between the steps leaves
/// the caller a descriptor that it does not know of.
///
/// Ours is closed before the caller goes on, so that the file is closed when the caller closes it.
pub(crate) fn give(
    listener: BorrowedFd<'_>,
    id: u64,
    descriptor: OwnedFd,
    close_on_exec: bool,
) -> Result<(), Errno> {
    let newfd_flags = if close_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 };
    let srcfd = descriptor.as_raw_fd().cast_unsigned();
    let gift = libc::seccomp_notif_addfd { id, flags: 0, srcfd, newfd: 0, newfd_flags };
    let number = rustix::io::retry_on_intr(|| {
        // SAFETY: this request reads one `seccomp_notif_addfd`, borrowed for the call.
        let rc = unsafe { libc::ioctl(listener.as_raw_fd(), ADD, &raw const gift) };
        if rc >= 0 { Ok(rc) } else { Err(last_errno()) }
    })?;
    drop(descriptor);
    send(listener, libc::seccomp_notif_resp { id, val: number.into(), error: 0, flags: 0 })
}

/// Wakes the listener on the processor of the caller, which only waits from then on. Kernels before 6.6 do without.
pub(crate) fn listen_on_the_spot(listener: BorrowedFd<'_>) {
    const SYNC_WAKE_UP: libc::c_ulong = 1;
    // SAFETY: this request reads its argument as a number.
    unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
}

/// Reads the memory of another process; less than asked for at the end of a mapping. The caller checks [`is_waiting`]
/// afterwards, and throws the result away if the number may have been that of another process.
pub(crate) fn read_memory(pid: u32, address: u64, into: &mut [u8]) -> Result<usize, Errno> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| Errno::SRCH)?;
    let address = usize::try_from(address).map_err(|_| Errno::FAULT)?;
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the kernel writes at most the length of `into`, borrowed exclusively for the call; the other address is one of
    // the other process and only looked up there.
    let count = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count).map_err(|_| last_errno())
}

/// Gives a socket an address, as bytes: the kernel says what is wrong with them.
pub(crate) fn bind(socket: &OwnedFd, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads `length` bytes, which `address` has; it is borrowed for the call.
    let rc = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if rc == 0 { Ok(()) } else { Err(last_errno()) }
}

/// The address of a socket, as bytes.
pub(crate) fn socket_name(socket: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut address = vec![0_u8; size_of::<libc::sockaddr_storage>()];
    let mut length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel writes at most `length` bytes, which `address` has, and then how many there are; both are borrowed
    // exclusively for the call.
    let rc = unsafe { libc::getsockname(socket.as_raw_fd(), address.as_mut_ptr().cast(), &raw mut length) };
    if rc != 0 {
        return Err(last_errno());
    }
    address.truncate(usize::try_from(length).unwrap_or(0));
    Ok(address)
}

fn send(listener: BorrowedFd<'_>, mut answer: libc::seccomp_notif_resp) -> Result<(), Errno> {
    // SAFETY: this request reads one `seccomp_notif_resp`, borrowed for the call.
    let rc = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw mut answer) };
    if rc == 0 { Ok(()) } else { Err(last_errno()) }
}

/// `SECCOMP_IOCTL_NOTIF_ADDFD` and `SECCOMP_IOCTL_NOTIF_SET_FLAGS`: one way.
const ADD: libc::Ioctl = request(1, size_of::<libc::seccomp_notif_addfd>(), 3);
const SET_FLAGS: libc::Ioctl = request(1, size_of::<u64>(), 4);
