//! Executes a program in a new process, without copying the memory of this one.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets, CpuSet};

use super::confine::block_signals;
use super::raw;

/// A program, and what it starts with.
pub(crate) struct Program<'a> {
    /// The file that is executed.
    pub(crate) image: BorrowedFd<'a>,
    /// Namespaces that it is the first process of, as `CLONE_NEW*`.
    pub(crate) namespaces: c_int,
    /// Its first descriptors. It has no others.
    pub(crate) descriptors: [BorrowedFd<'a>; 3],
}

/// A process that was started here. Ended and reaped when dropped.
pub(crate) struct Process {
    pid: Pid,
    handle: OwnedFd,
    reaped: bool,
    /// The memory of ours that it uses until it has executed its program. Freed when it is reaped, which is the last thing that
    /// happens to this value: no error on the way and no early return frees it before.
    start: Start,
}

impl Process {
    /// Executes a program in a new process that has every signal blocked.
    ///
    /// `CLONE_VM` makes this cost the same however large this process is. Until the program is executed, the new process uses
    /// nothing of our memory but `start`, which it has for itself.
    pub(crate) fn start(program: &Program<'_>) -> Result<Self, Errno> {
        let start = Start::new(Order {
            image: program.image.as_raw_fd(),
            descriptors: program.descriptors.map(|handle| handle.as_raw_fd()),
            keeps_capabilities: program.namespaces & libc::CLONE_NEWUSER != 0,
            failure: AtomicI32::new(0),
        })?;
        let mut handle: RawFd = -1;
        let flags = program.namespaces | libc::CLONE_VM | libc::CLONE_PIDFD | libc::SIGCHLD;
        let mask = block_signals(u64::MAX)?;
        // SAFETY: stack and order are in `start`, which no other code uses and which is not freed before the new process is
        // reaped. `execute` makes system calls only. Every signal is blocked: no handler runs in our memory. The table of
        // descriptors is a copy. The kernel writes one descriptor to `handle`.
        let pid = unsafe {
            libc::clone(execute, start.stack(), flags, start.order().as_ptr().cast(), &raw mut handle)
        };
        let pid = Pid::from_raw(pid.max(0)).ok_or_else(super::last_errno);
        let unblocked = block_signals(mask);
        let pid = pid?;
        // SAFETY: the kernel has just made it for us, and no other code knows of it.
        let process = Self { pid, handle: unsafe { OwnedFd::from_raw_fd(handle) }, reaped: false, start };
        unblocked?;
        Ok(process)
    }

    /// Returns the error for which the program could not be executed. Known once the process has ended.
    pub(crate) fn failure(&self) -> Option<Errno> {
        // SAFETY: `start` is alive, and this field is atomic.
        let failure = unsafe { &(*self.start.order().as_ptr()).failure };
        let errno = failure.load(Ordering::Acquire);
        (errno != 0).then(|| Errno::from_raw_os_error(errno))
    }

    /// Has it run on other processors than ours, which it would wait for: the scheduler likes to leave a new process where it
    /// was made until that processor is free, a millisecond later. It undoes this itself.
    pub(crate) fn run_elsewhere(&self, processors: &CpuSet) {
        let mut others = *processors;
        others.unset(rustix::thread::sched_getcpu());
        // If that is not allowed it starts later.
        let _as_it_is = rustix::thread::sched_setaffinity(Some(self.pid), &others);
    }

    /// Its number, which is its own until it is reaped.
    pub(crate) const fn pid(&self) -> Pid {
        self.pid
    }

    /// Readable when it has ended.
    pub(crate) const fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    pub(crate) const fn is_reaped(&self) -> bool {
        self.reaped
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // Fails only when it has ended already.
        let _ended = rustix::process::pidfd_send_signal(&self.handle, signal);
    }

    /// Waits for its end. Returns what it and everything that it waited for used; `None` where the kernel did not keep that
    /// for us, because this process ignores `SIGCHLD`.
    pub(crate) fn reap(&mut self) -> Option<super::ResourceUsage> {
        self.reaped = true;
        super::wait_for(self.pid)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            self.reap();
        }
    }
}

/// Arguments that a new process is given.
struct Order {
    image: RawFd,
    descriptors: [RawFd; 3],
    /// True if it has the capabilities of a new user namespace, which executing something would take away.
    keeps_capabilities: bool,
    /// The error number of what failed.
    failure: AtomicI32,
}

/// Runs in a process that shares our memory: system calls only, no allocation, no panic, no C library.
extern "C" fn execute(order: *mut c_void) -> c_int {
    // SAFETY: `Process::start` passes an `Order` that is alive for as long as this process is, and does not change it.
    let order = unsafe { &*order.cast_const().cast::<Order>() };
    let Err(errno) = try_execute(order);
    order.failure.store(errno.raw_os_error(), Ordering::Release);
    // SAFETY: takes a number and does not return.
    let _never = unsafe { raw::call(libc::SYS_exit_group, [1, 0, 0, 0, 0, 0]) };
    1
}

enum Never {}

fn try_execute(order: &Order) -> Result<Never, Errno> {
    if order.keeps_capabilities {
        keep_capabilities()?;
    }
    let mut copies = [0; 3];
    for (copy, descriptor) in copies.iter_mut().zip(order.descriptors) {
        // Away from the numbers that they get.
        // SAFETY: no pointers; the table of descriptors is a copy of ours.
        *copy = unsafe { raw::call(libc::SYS_fcntl, [number(descriptor), F_DUPFD, 3, 0, 0, 0]) }?;
    }
    for (place, copy) in copies.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { raw::call(libc::SYS_dup3, [copy, place, 0, 0, 0, 0]) }?;
    }
    super::confine::close_on_exec_from(3)?;
    let (arguments, environment) = ([c"ringfence".as_ptr() as usize, 0], [0_usize]);
    let all = [
        number(order.image),
        c"".as_ptr() as usize,
        arguments.as_ptr() as usize,
        environment.as_ptr() as usize,
        libc::AT_EMPTY_PATH.cast_unsigned() as usize,
        0,
    ];
    // SAFETY: an empty C string and two lists of C strings, each ended by null.
    Err(unsafe { raw::call(libc::SYS_execveat, all) }.err().unwrap_or(Errno::IO))
}

const F_DUPFD: usize = libc::F_DUPFD.cast_unsigned() as usize;

fn number(descriptor: RawFd) -> usize {
    descriptor.cast_unsigned() as usize
}

/// Makes every capability one that is kept when something is executed: no process in a new user namespace is its user 0.
fn keep_capabilities() -> Result<(), Errno> {
    let own = rustix::thread::capabilities(None)?;
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable: own.permitted, ..own })?;
    // Until the last one that this kernel knows.
    for capability in (0..64).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        match rustix::thread::configure_capability_in_ambient_set(capability, true) {
            Ok(()) => {}
            Err(Errno::INVAL) => return Ok(()),
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Memory for a process that is about to execute something: an order, and a stack below it with pages that cannot be touched
/// at its end.
struct Start(NonNull<c_void>);

// SAFETY: it is memory that no other code knows of, apart from the process that uses it.
unsafe impl Send for Start {}
// SAFETY: as above; all that is shared is one atomic number.
unsafe impl Sync for Start {}

impl Start {
    /// Enough for a few system calls, in a build without optimisation too. Both are multiples of every page size.
    const SIZE: usize = 128 << 10;
    const GUARD: usize = 64 << 10;
    /// At the upper end, above the stack.
    const ORDER: usize = Self::SIZE - 256;

    fn new(order: Order) -> Result<Self, Errno> {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        const { assert!(size_of::<Order>() <= Self::SIZE - Self::ORDER) };
        let flags = MapFlags::PRIVATE | MapFlags::STACK;
        // SAFETY: new memory, at an address that the kernel chooses.
        let bottom = unsafe { mmap_anonymous(std::ptr::null_mut(), Self::SIZE, ProtFlags::empty(), flags) }?;
        let start = Self(NonNull::new(bottom).ok_or(Errno::NOMEM)?);
        let usable = bottom.wrapping_byte_add(Self::GUARD);
        // SAFETY: the upper part of what was just mapped and is not in use.
        unsafe { mprotect(usable, Self::SIZE - Self::GUARD, MprotectFlags::READ | MprotectFlags::WRITE) }?;
        // SAFETY: there is place for it at this address, which is aligned and not in use.
        unsafe { start.order().write(order) };
        Ok(start)
    }

    const fn order(&self) -> NonNull<Order> {
        // SAFETY: within the mapping.
        unsafe { self.0.byte_add(Self::ORDER).cast() }
    }

    /// The beginning of the stack; it grows downwards.
    const fn stack(&self) -> *mut c_void {
        self.order().as_ptr().cast()
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size; the process that used it was reaped, or was never made.
        let _unmapped = unsafe { rustix::mm::munmap(self.0.as_ptr(), Self::SIZE) };
    }
}
