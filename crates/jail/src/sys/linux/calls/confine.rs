//! Calls by which a process gives up what it could do.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;

use super::mounts::number;
use super::raw;
use crate::seccomp::Instruction;

/// What a Landlock ruleset is about.
#[repr(C)]
pub(in crate::sys::linux) struct Handled {
    /// `LANDLOCK_ACCESS_FS_*`.
    pub(in crate::sys::linux) files: u64,
    /// `LANDLOCK_ACCESS_NET_*`.
    pub(in crate::sys::linux) network: u64,
    /// `LANDLOCK_SCOPE_*`.
    pub(in crate::sys::linux) scoped: u64,
}

/// A Landlock ruleset that denies everything it is about.
pub(in crate::sys::linux) fn landlock_create(handled: &Handled) -> Result<OwnedFd, Errno> {
    let arguments = [std::ptr::from_ref(handled) as usize, size_of::<Handled>(), 0, 0, 0, 0];
    // SAFETY: the kernel reads one `landlock_ruleset_attr`, whose layout `Handled` has, of the size given.
    let ruleset = unsafe { raw::call(libc::SYS_landlock_create_ruleset, arguments) }?;
    Ok(owned(ruleset))
}

/// Lets a ruleset allow something beneath a file or directory.
pub(in crate::sys::linux) fn landlock_allow(
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

/// Confines this thread and everything it starts.
pub(in crate::sys::linux) fn landlock_enter(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: no pointers.
    unsafe { raw::call(libc::SYS_landlock_restrict_self, [number(ruleset), 0, 0, 0, 0, 0]) }.map(drop)
}

/// Installs a system call filter for this thread and everything it starts.
pub(in crate::sys::linux) fn filter(program: &[Instruction]) -> Result<(), Errno> {
    install(program, 0).map(drop)
}

/// Installs a filter whose questions come out of the handle.
pub(in crate::sys::linux) fn filter_with_listener(program: &[Instruction]) -> Result<OwnedFd, Errno> {
    const NEW_LISTENER: usize = 1 << 3;
    // A signal that is handled would break a call off that was heard and have it made again, when it is done already.
    const WAIT_KILLABLE: usize = 1 << 5;
    let installed = install(program, NEW_LISTENER | WAIT_KILLABLE);
    // Kernels before 5.19 do not know it.
    let installed = installed.or_else(|errno| match errno {
        Errno::INVAL => install(program, NEW_LISTENER),
        other => Err(other),
    });
    installed.map(owned)
}

fn install(program: &[Instruction], flags: usize) -> Result<usize, Errno> {
    #[repr(C)]
    struct Program(libc::c_ushort, *const Instruction);
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| Errno::TOOBIG)?;
    let program = Program(length, program.as_ptr());
    let arguments = [libc::SECCOMP_SET_MODE_FILTER as usize, flags, &raw const program as usize, 0, 0, 0];
    // SAFETY: the kernel reads one `sock_fprog` and as many `sock_filter` as it says; `Instruction` has that layout.
    unsafe { raw::call(libc::SYS_seccomp, arguments) }
}

/// Has this thread alone use files as somebody else without any powers, and have its own umask. It keeps who it is towards
/// processes: that is what lets it look at those of a jail that it has made.
pub(in crate::sys::linux) fn use_files_as(uid: u32, gid: u32) -> Result<(), Errno> {
    super::unshare_namespaces(rustix::thread::UnshareFlags::FS)?;
    if rustix::process::geteuid().is_root() {
        // The kernel takes a process whose thread changes for one with secrets of its own; it is what it was before.
        let dumpable = rustix::process::dumpable_behavior()?;
        // SAFETY: no groups, so nothing is read; the C library would do this to every thread.
        unsafe { raw::call(libc::SYS_setgroups, [0; 6]) }?;
        // SAFETY: no pointers. They answer with the old number, whatever happened; what counts is tried below.
        unsafe { raw::call(libc::SYS_setfsgid, [gid as usize, 0, 0, 0, 0, 0]) }?;
        // SAFETY: as above.
        unsafe { raw::call(libc::SYS_setfsuid, [uid as usize, 0, 0, 0, 0, 0]) }?;
        drop_capabilities()?;
        // SAFETY: as above. An id that nobody can have changes nothing and tells the one that holds.
        let now = unsafe { raw::call(libc::SYS_setfsuid, [u32::MAX as usize, 0, 0, 0, 0, 0]) }?;
        rustix::process::set_dumpable_behavior(dumpable)?;
        return if now == uid as usize { Ok(()) } else { Err(Errno::PERM) };
    }
    Ok(())
}

/// Leaves the session keyring that was inherited for an empty one.
pub(in crate::sys::linux) fn new_keyring() -> Result<(), Errno> {
    const JOIN_SESSION_KEYRING: usize = 1;
    // SAFETY: a null name asks for an anonymous keyring.
    unsafe { raw::call(libc::SYS_keyctl, [JOIN_SESSION_KEYRING, 0, 0, 0, 0, 0]) }.map(drop)
}

/// Marks every descriptor from `first` on to be closed when something is executed.
pub(in crate::sys::linux) fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    const CLOEXEC: usize = 1 << 2;
    // SAFETY: no pointers; no descriptor is closed here.
    unsafe { raw::call(libc::SYS_close_range, [first as usize, u32::MAX as usize, CLOEXEC, 0, 0, 0]) }
        .map(drop)
}

/// Closes every descriptor of this process but a few.
///
/// Other handles of this process must not be used or dropped afterwards: only a process that has none yet, or a function that
/// never returns, can call it.
pub(in crate::sys::linux) fn close_all_but<const N: usize>(mut kept: [RawFd; N]) -> Result<(), Errno> {
    kept.sort_unstable();
    close_between(&kept)
}

/// As [`close_all_but`], with numbers that are in order already.
pub(in crate::sys::linux) fn close_between(kept: &[RawFd]) -> Result<(), Errno> {
    let mut first = 0;
    for keep in kept.iter().map(|keep| keep.cast_unsigned()).chain([u32::MAX]) {
        if first < keep {
            // SAFETY: no pointers; that nobody uses what is closed is the promise of the caller.
            unsafe { raw::call(libc::SYS_close_range, [first as usize, keep as usize - 1, 0, 0, 0, 0]) }?;
        }
        first = keep.saturating_add(1);
    }
    Ok(())
}

/// Gives every signal that is handled its default meaning again; what is ignored stays ignored, except a broken pipe.
pub(in crate::sys::linux) fn reset_signals() -> Result<(), Errno> {
    for signal in 1..=64 {
        if signal == libc::SIGKILL || signal == libc::SIGSTOP {
            continue;
        }
        match old_action(signal)? {
            libc::SIG_DFL => {}
            libc::SIG_IGN if signal != libc::SIGPIPE => {}
            _ => default_action(signal)?,
        }
    }
    Ok(())
}

/// The kernel's `struct sigaction`, which starts with the handler on every architecture we know.
type Action = [usize; 4];

fn old_action(signal: i32) -> Result<usize, Errno> {
    let mut old: Action = [0; 4];
    let arguments = [signal.cast_unsigned() as usize, 0, &raw mut old as usize, 8, 0, 0];
    // SAFETY: the kernel writes one `sigaction` of at most four words; a set of signals has eight bytes.
    unsafe { raw::call(libc::SYS_rt_sigaction, arguments) }?;
    Ok(old[0])
}

fn default_action(signal: i32) -> Result<(), Errno> {
    let new: Action = [libc::SIG_DFL, 0, 0, 0];
    let arguments = [signal.cast_unsigned() as usize, &raw const new as usize, 0, 8, 0, 0];
    // SAFETY: the kernel reads one `sigaction` of at most four words; a set of signals has eight bytes.
    unsafe { raw::call(libc::SYS_rt_sigaction, arguments) }.map(drop)
}

/// Which signals wait.
pub(in crate::sys::linux) fn blocked_signals() -> Result<u64, Errno> {
    let mut blocked = 0_u64;
    // SAFETY: without a new set the kernel only writes the present one, of eight bytes.
    unsafe { raw::call(libc::SYS_rt_sigprocmask, [0, 0, &raw mut blocked as usize, 8, 0, 0]) }?;
    Ok(blocked)
}

/// Sets which signals wait.
pub(in crate::sys::linux) fn block_signals(mask: u64) -> Result<u64, Errno> {
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
pub(in crate::sys::linux) fn signal_descriptor(signals: u64) -> Result<OwnedFd, Errno> {
    let flags = (libc::SFD_CLOEXEC | libc::SFD_NONBLOCK).cast_unsigned() as usize;
    let arguments = [usize::MAX, &raw const signals as usize, 8, flags, 0, 0];
    // SAFETY: with -1 the kernel makes a new descriptor; it reads one set of signals of eight bytes.
    unsafe { raw::call(libc::SYS_signalfd4, arguments) }.map(owned)
}

/// Takes every capability out of the bounding set.
pub(in crate::sys::linux) fn empty_bounding_set() -> Result<(), Errno> {
    for capability in 0..64 {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            Ok(()) => {}
            // Past the last one that this kernel knows.
            Err(Errno::INVAL) => return Ok(()),
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Being user 0 shall mean nothing, and nobody shall be able to change that.
pub(in crate::sys::linux) fn lock_secure_bits() -> Result<(), Errno> {
    /// `NOROOT`, `NO_SETUID_FIXUP`, `NO_CAP_AMBIENT_RAISE`, and the locks of these and of `KEEP_CAPS`.
    const ALL: usize = 0b1110_1111;
    prctl(libc::PR_SET_SECUREBITS, ALL)
}

/// Gives up every capability.
pub(in crate::sys::linux) fn drop_capabilities() -> Result<(), Errno> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let none = [0_u32; 6];
    let arguments = [&raw const header as usize, &raw const none as usize, 0, 0, 0, 0];
    // SAFETY: with version 3 the kernel reads a header of two words and two structures of three words each.
    unsafe { raw::call(libc::SYS_capset, arguments) }.map(drop)
}

/// Asks to be killed when the thread that started us ends.
pub(in crate::sys::linux) fn die_with_parent() -> Result<(), Errno> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL.cast_unsigned() as usize)
}

/// Asks for `SIGTERM` when the thread that started us ends.
pub(in crate::sys::linux) fn hear_of_parents_end() -> Result<(), Errno> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM.cast_unsigned() as usize)
}

/// Whoever descends from us and loses its parent becomes our child.
pub(in crate::sys::linux) fn adopt_orphans() -> Result<(), Errno> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
}

/// Children stay to be waited for, and their end is told, whatever the caller has made of it.
pub(in crate::sys::linux) fn mind_children() -> Result<(), Errno> {
    default_action(libc::SIGCHLD)
}

/// Sleeps until a child has changed or we are asked to end. Both have to be blocked.
pub(in crate::sys::linux) fn next_signal() -> Result<i32, Errno> {
    let wanted = 1_u64 << (libc::SIGCHLD - 1) | 1 << (libc::SIGTERM - 1);
    // SAFETY: the kernel reads one set of signals of eight bytes; null pointers mean no details and no time limit.
    let signal =
        unsafe { raw::call(libc::SYS_rt_sigtimedwait, [&raw const wanted as usize, 0, 0, 8, 0, 0]) }?;
    i32::try_from(signal).map_err(|_| Errno::IO)
}

/// Nothing that is executed from now on gains anything by it.
pub(in crate::sys::linux) fn no_new_privileges() -> Result<(), Errno> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

fn prctl(option: i32, argument: usize) -> Result<(), Errno> {
    // SAFETY: every caller passes an option whose argument is a number.
    unsafe { raw::call(libc::SYS_prctl, [option.cast_unsigned() as usize, argument, 0, 0, 0, 0]) }.map(drop)
}

/// Limits a resource of this process for good.
pub(in crate::sys::linux) fn limit(resource: u32, soft: u64, hard: u64) -> Result<(), Errno> {
    let limits = [soft, hard];
    let arguments = [0, resource as usize, &raw const limits as usize, 0, 0, 0];
    // SAFETY: the kernel reads one `rlimit64`, two words, and with a null pointer writes nothing.
    unsafe { raw::call(libc::SYS_prlimit64, arguments) }.map(drop)
}

/// Strings as the kernel takes them: pointers, ended by a null pointer.
pub(in crate::sys::linux) struct Words {
    /// Behind the pointers; kept alive and unmoved on the heap.
    _owned: Box<[std::ffi::CString]>,
    pointers: Box<[*const libc::c_char]>,
}

// SAFETY: the pointers lead to heap memory that `Words` owns and never changes.
unsafe impl Send for Words {}
// SAFETY: as above: shared reading is all there is.
unsafe impl Sync for Words {}

impl Words {
    pub(in crate::sys::linux) fn new(owned: Vec<std::ffi::CString>) -> Self {
        let owned = owned.into_boxed_slice();
        let pointers = owned.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
        Self { _owned: owned, pointers }
    }
}

/// Executes a file by name. Comes back only if that fails.
pub(in crate::sys::linux) fn execute(path: &CStr, arguments: &Words, environment: &Words) -> Errno {
    let (arguments, environment) = (arguments.pointers.as_ptr(), environment.pointers.as_ptr());
    let all = [path.as_ptr() as usize, arguments as usize, environment as usize, 0, 0, 0];
    // SAFETY: a C string and two arrays of C strings ended by null; `Words` keeps what they point to.
    unsafe { raw::call(libc::SYS_execve, all) }.err().unwrap_or(Errno::IO)
}

/// Executes an open file. Comes back only if that fails.
pub(in crate::sys::linux) fn execute_handle(file: BorrowedFd<'_>, arguments: &Words) -> Errno {
    let (arguments, none) = (arguments.pointers.as_ptr(), [std::ptr::null::<libc::c_char>()]);
    let all = [
        number(file),
        c"".as_ptr() as usize,
        arguments as usize,
        &raw const none as usize,
        libc::AT_EMPTY_PATH.cast_unsigned() as usize,
        0,
    ];
    // SAFETY: an empty C string, an array of C strings ended by null that `Words` keeps, and an empty array.
    unsafe { raw::call(libc::SYS_execveat, all) }.err().unwrap_or(Errno::IO)
}

/// Ends this process at once.
pub(in crate::sys::linux) fn end(status: u8) -> ! {
    loop {
        // SAFETY: takes a number and does not return; nothing of the memory that we share is touched.
        let _never = unsafe { raw::call(libc::SYS_exit_group, [usize::from(status), 0, 0, 0, 0, 0]) };
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "descriptors are ints")]
fn owned(descriptor: usize) -> OwnedFd {
    // SAFETY: every caller passes a descriptor that the kernel made for it just now and that nobody else knows.
    unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }
}

/// A descriptor of a number that was agreed on before this process was made.
pub(in crate::sys::linux) fn handle(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the numbers come from handles that the supervisor holds while it makes this process, whose table of descriptors
    // is a copy; nothing here closes one before its last use.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Gives a descriptor a number that is kept when something is executed.
pub(in crate::sys::linux) fn duplicate(from: BorrowedFd<'_>, to: RawFd) -> Result<(), Errno> {
    let arguments = [number(from), to.cast_unsigned() as usize, 0, 0, 0, 0];
    // SAFETY: no pointers. What had the number before is closed; every caller means a standard stream or its own status.
    unsafe { raw::call(libc::SYS_dup3, arguments) }.map(drop)
}

/// Closes a descriptor by its number. One that is not open stays so.
pub(in crate::sys::linux) fn close(number: RawFd) {
    // SAFETY: no pointers; every caller names a descriptor of its own table that no handle of this process owns.
    let _closed_or_not_open =
        unsafe { raw::call(libc::SYS_close, [number.cast_unsigned() as usize, 0, 0, 0, 0, 0]) };
}

/// Becomes somebody else, with no other groups.
pub(in crate::sys::linux) fn become_owner(uid: u32, gid: u32) -> Result<(), Errno> {
    let (uid, gid) = (uid as usize, gid as usize);
    // SAFETY: an empty list of groups has no memory behind it; the rest are numbers.
    unsafe {
        raw::call(libc::SYS_setgroups, [0, 0, 0, 0, 0, 0])?;
        raw::call(libc::SYS_setresgid, [gid, gid, gid, 0, 0, 0])?;
        raw::call(libc::SYS_setresuid, [uid, uid, uid, 0, 0, 0])?;
    }
    Ok(())
}

/// Lives until the process behind a handle has ended.
pub(in crate::sys::linux) extern "C" fn live_until_end_of(process: &RawFd) -> ! {
    use rustix::event::{PollFd, PollFlags, poll};
    let process = handle(*process);
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    while poll(&mut fds, None) == Err(Errno::INTR) {}
    end(0)
}
