//! Threads under a filter.

use std::fs;
use std::thread;

use ringfence_jail::seccomp::{Abi, Instruction, Sockets, filter};

use crate::skip::skipped;

/// Returns the result of `work` in a thread under a filter.
pub(crate) fn confined<T: Send>(sockets: Sockets, work: impl FnOnce() -> T + Send) -> T {
    free(move || {
        install(&filter(abi(), sockets));
        work()
    })
}

/// Returns the result of `work` in a thread without one.
pub(crate) fn free<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

pub(crate) fn abi() -> Abi {
    Abi::here().unwrap()
}

/// From here on the filter holds for this thread and all it starts.
pub(crate) fn install(program: &[Instruction]) {
    assert_eq!(seccomp(program, 0), 0, "the filter was not installed");
}

/// As [`install`], and returns a descriptor that is told.
pub(crate) fn listen(program: &[Instruction]) -> i32 {
    seccomp(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER).try_into().unwrap()
}

fn seccomp(program: &[Instruction], flags: libc::c_ulong) -> i64 {
    rustix::thread::set_no_new_privs(true).unwrap();
    let copy: Vec<_> = program
        .iter()
        .map(|&Instruction { code, jt, jf, k }| libc::sock_filter { code, jt, jf, k })
        .collect();
    let len = copy.len().try_into().unwrap();
    let filter = libc::sock_fprog { len, filter: copy.as_ptr().cast_mut() };
    // SAFETY: the kernel reads `len` statements through `filter` and keeps no pointer; both live until the call returns.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) }
}

/// Makes this thread alone an ordinary user's. The C library would change every thread.
pub(crate) fn become_nobody() {
    for call in [libc::SYS_setresgid, libc::SYS_setresuid] {
        assert_eq!(made(call, [65534, 65534, 65534, 0, 0, 0]), Ok(0));
    }
}

/// Makes a call with arguments that, where the kernel takes them for addresses, are ones that no process has or
/// that the caller keeps alive.
pub(crate) fn made(number: i64, its: [u64; 6]) -> Result<i64, i32> {
    // SAFETY: callers pass numbers, the invalid address -1, or pointers to values that outlive the call.
    let result = unsafe { libc::syscall(number, its[0], its[1], its[2], its[3], its[4], its[5]) };
    if result < 0 { Err(std::io::Error::last_os_error().raw_os_error().unwrap()) } else { Ok(result) }
}

/// Returns true if this process is filtered already from outside: then the kernel alone cannot be asked.
pub(crate) fn filtered_from_outside(what: &str) -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let filtered = !status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "0"]));
    if filtered {
        skipped(what, "this process is filtered already");
    }
    filtered
}
