//! The raw calls. All `unsafe` of the room stands here, and each function is safe to call.

pub(super) mod confine;
pub(super) mod mounts;
pub(super) mod notify;
mod raw;
pub(super) mod spawn;

use std::marker::PhantomData;
use std::mem;
use std::os::fd::AsFd;
use std::panic;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// The version of the Landlock interface. Creates nothing.
pub(super) fn landlock_abi() -> Result<u32, Errno> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with LANDLOCK_CREATE_RULESET_VERSION the kernel demands a null attribute and a size of 0, reads and writes
    // no memory of ours, and returns a number that is not a descriptor, so nothing is left to close.
    let abi =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    u32::try_from(abi).map_err(|_| last_errno())
}

/// Checks that the kernel knows a seccomp action. Installs nothing.
pub(super) fn action_available(action: u32) -> Result<(), Errno> {
    const GET_ACTION_AVAIL: libc::c_uint = 2;
    // SAFETY: SECCOMP_GET_ACTION_AVAIL reads one u32 through the pointer, which points to our parameter on the stack and
    // outlives the call; it changes no filter of this process.
    let rc = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0_u32, &raw const action) };
    if rc == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Moves this thread into new namespaces.
pub(super) fn unshare(namespace: Namespace) -> Result<(), Errno> {
    let flags = match namespace {
        Namespace::User => UnshareFlags::NEWUSER,
        Namespace::Net => UnshareFlags::NEWNET,
        Namespace::Mount => UnshareFlags::NEWNS,
        Namespace::Ipc => UnshareFlags::NEWIPC,
        Namespace::Uts => UnshareFlags::NEWUTS,
        Namespace::Cgroup => UnshareFlags::NEWCGROUP,
        Namespace::Pid => UnshareFlags::NEWPID,
    };
    unshare_namespaces(flags)
}

/// A kind of namespace.
#[derive(Debug, Clone, Copy)]
pub(super) enum Namespace {
    User,
    Net,
    Mount,
    Ipc,
    Uts,
    Cgroup,
    Pid,
}

/// Brings the loopback interface of the socket's network namespace up.
pub(super) fn loopback_up(socket: impl AsFd) -> Result<(), Errno> {
    // SAFETY: `ifreq` is a C structure of integers, characters and a union of such; all zeroes is a value of it.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let name = c"lo".to_bytes_with_nul().iter().map(|byte| byte.cast_signed() as libc::c_char);
    request.ifr_name.iter_mut().zip(name).for_each(|(letter, byte)| *letter = byte);
    read_flags(&socket, &mut request)?;
    // SAFETY: `read_flags` succeeded and filled this field of the union. Any 16 bits are a value of it.
    unsafe { request.ifr_ifru.ifru_flags |= UP };
    interface_request(&socket, SET_FLAGS, &mut request)?;
    let flags = read_flags(&socket, &mut request)?;
    if flags & UP == 0 { Err(Errno::NETDOWN) } else { Ok(()) }
}

fn read_flags(socket: &impl AsFd, request: &mut libc::ifreq) -> Result<libc::c_short, Errno> {
    interface_request(socket, GET_FLAGS, request)?;
    // SAFETY: SIOCGIFFLAGS succeeded and filled this field of the union. Any 16 bits are a value of it.
    Ok(unsafe { request.ifr_ifru.ifru_flags })
}

/// `SIOCGIFFLAGS` and `SIOCSIFFLAGS`.
const GET_FLAGS: usize = 0x8913;
const SET_FLAGS: usize = 0x8914;
/// `IFF_UP`, which the C library declares wider than the field it goes into.
const UP: libc::c_short = 1;

fn interface_request(socket: &impl AsFd, number: usize, request: &mut libc::ifreq) -> Result<(), Errno> {
    let arguments = [mounts::number(socket), number, std::ptr::from_mut(request) as usize, 0, 0, 0];
    // SAFETY: every caller passes SIOCGIFFLAGS or SIOCSIFFLAGS, which read and write exactly one `ifreq`; `request` is one,
    // borrowed exclusively for the call, with a name ended by a zero byte. The descriptor is borrowed and stays open.
    unsafe { raw::call(libc::SYS_ioctl, arguments) }.map(drop)
}

/// Proof that this process had one thread when it was looked at.
///
/// Only a second thread could start a third unseen, so with one thread the proof holds until its holder starts one.
/// It cannot leave that thread.
pub(super) struct SingleThread(PhantomData<*const ()>);

impl SingleThread {
    /// The proof, or how many threads there are.
    pub(super) fn check() -> Result<Self, usize> {
        let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        if threads == 1 { Ok(Self(PhantomData)) } else { Err(threads) }
    }
}

/// Runs `work` in a child and ends the child with its answer as exit status.
pub(super) fn fork(_: &SingleThread, work: fn() -> u8) -> Result<Pid, Errno> {
    // SAFETY: after fork(2) only the calling thread exists in the child, so a lock that another thread held would stay
    // locked for ever. `SingleThread` proves that there is no other thread; this room starts none between the proof and here.
    // The child therefore owns a complete copy of the process and may run ordinary code.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = panic::catch_unwind(work).unwrap_or(u8::MAX);
        // SAFETY: _exit(2) takes an integer and does not return. It runs no destructor and flushes no buffer, so nothing
        // the parent has yet to do happens twice; no code of the parent is reached in the child, not even by a panic.
        unsafe { libc::_exit(i32::from(status)) }
    }
    Pid::from_raw(pid.max(0)).ok_or_else(last_errno)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Resources used by a process that has ended and everything it waited for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResourceUsage {
    /// The wait status.
    pub(crate) status: i32,
    /// Processor time.
    pub(crate) cpu: std::time::Duration,
    /// Memory of the largest process, in bytes.
    pub(crate) memory: u64,
}

/// Waits for a child to end. Returns what it used; `None` where the kernel has reaped it, because this process ignores `SIGCHLD`.
fn wait_for(child: Pid) -> Option<ResourceUsage> {
    let mut status = 0;
    // SAFETY: `rusage` is a C structure of integers; all zeroes is a value of it.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    loop {
        // SAFETY: the kernel writes one int and one `rusage`, both borrowed exclusively for the call.
        let ended = unsafe { libc::wait4(child.as_raw_pid(), &raw mut status, libc::__WALL, &raw mut usage) };
        match (ended, last_errno()) {
            (0.., _) => break,
            (_, Errno::INTR) => {}
            // It has ended: until then the kernel has this call wait.
            _ => return None,
        }
    }
    let time = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        std::time::Duration::from_secs(seconds)
            + std::time::Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    Some(ResourceUsage {
        status,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        memory: u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024),
    })
}

/// Sends a signal to the process group that a process leads, or at least to the process.
pub(super) fn signal_group(process: std::os::fd::BorrowedFd<'_>, signal: i32) -> Result<(), Errno> {
    const PROCESS_GROUP: usize = 1 << 2;
    let send = |flags| {
        let arguments = [mounts::number(process), signal.cast_unsigned() as usize, 0, flags, 0, 0];
        // SAFETY: with a null pointer the kernel makes up what comes with the signal; the rest are numbers.
        unsafe { raw::call(libc::SYS_pidfd_send_signal, arguments) }.map(drop)
    };
    // Kernels before 6.9 do not know the flag.
    match send(PROCESS_GROUP) {
        Err(Errno::INVAL) => send(0),
        other => other,
    }
}

/// Returns true if something can be read, or the other side has ended.
pub(super) fn is_ready(descriptor: std::os::fd::BorrowedFd<'_>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(&descriptor, PollFlags::IN)];
    rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))).is_ok_and(|ready| ready > 0)
}

/// Moves this process into new namespaces.
pub(super) fn unshare_namespaces(namespaces: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the contract is about CLONE_FILES, which no caller passes here.
    unsafe { rustix::thread::unshare_unsafe(namespaces) }
}
