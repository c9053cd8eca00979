//! Processes that share our memory until they execute something.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::confine::block_signals;

/// Memory for the stack of a process that shares ours.
///
/// It has to live until that process has executed something or ended.
pub(in crate::sys::linux) struct Stack(Box<[MaybeUninit<Page>]>);

/// Stacks are aligned like their pages.
#[repr(C, align(4096))]
struct Page([u8; 4096]);

impl Stack {
    /// Enough for code that makes system calls on prepared values, in a build without optimisation too.
    const PAGES: usize = 32;

    pub(in crate::sys::linux) fn new() -> Self {
        Self(Box::new_uninit_slice(Self::PAGES))
    }

    /// Where it begins.
    pub(in crate::sys::linux) fn top(&mut self) -> StackTop {
        StackTop(self.0.as_mut_ptr_range().end.cast())
    }
}

/// Where a stack begins; they grow downwards.
#[derive(Clone, Copy)]
pub(in crate::sys::linux) struct StackTop(*mut c_void);

// SAFETY: it is an address and does nothing by itself; what is done with it is the promise of `clone_in_our_memory`.
unsafe impl Send for StackTop {}
// SAFETY: as above.
unsafe impl Sync for StackTop {}

/// Starts `main` as a process of its own in our memory, on a stack of its own. No handler of ours runs in it: every signal waits
/// there from its beginning.
///
/// Page tables are not copied, so it costs the same however large we are.
///
/// # Safety
///
/// Until the new process has executed something or ended: the stack is alive and nobody else's, and everything behind
/// `argument` stays alive and is not changed; `main` makes system calls only, does not allocate, panic, unwind or touch
/// thread-local storage.
pub(in crate::sys::linux) unsafe fn spawn_in_our_memory<T: Sync>(
    flags: c_int,
    stack: StackTop,
    main: extern "C" fn(&T) -> !,
    argument: &T,
) -> Result<Pid, Errno> {
    let mask = block_signals(u64::MAX)?;
    // SAFETY: all signals are blocked; the rest is the caller's promise.
    let pid = unsafe { clone_in_our_memory(flags, stack, main, argument) };
    block_signals(mask).inspect_err(|_| pid.iter().copied().for_each(end))?;
    pid
}

/// As [`spawn_in_our_memory`], from a process in which every signal waits already.
///
/// # Safety
///
/// As there; and every signal that we handle is blocked, since its handler would run in our memory.
pub(in crate::sys::linux) unsafe fn clone_in_our_memory<T: Sync>(
    flags: c_int,
    stack: StackTop,
    main: extern "C" fn(&T) -> !,
    argument: &T,
) -> Result<Pid, Errno> {
    // SAFETY: `&T` is passed as a pointer, and a function that never returns may stand where one that returns an int is
    // expected: the ABI of its argument is the same, and nobody reads what it does not return.
    let main: extern "C" fn(*mut c_void) -> c_int = unsafe { std::mem::transmute(main) };
    let argument = std::ptr::from_ref(argument).cast_mut().cast();
    let flags = flags | libc::CLONE_VM | libc::SIGCHLD;
    // SAFETY: the stack is ours alone and aligned; the rest is the caller's promise. Without CLONE_SETTLS the new process has
    // our thread pointer, which `main` does not use; without CLONE_FILES, CLONE_FS and CLONE_SIGHAND the rest is its own.
    let pid = unsafe { libc::clone(main, stack.0, flags, argument) };
    Pid::from_raw(pid.max(0)).ok_or_else(super::last_errno)
}

/// Ends a child of ours that is not reaped, so that its number is still its own.
pub(in crate::sys::linux) fn end(child: Pid) {
    // Fails only when it has ended already.
    let _ended = kill_process(child, Signal::KILL);
    super::wait_for(child);
}
