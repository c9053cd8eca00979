//! Foreign ABIs. The child may only make plain system calls: it is a copy of a process with threads.

#![cfg(target_arch = "x86_64")]

use std::arch::asm;

use ringfence_jail::seccomp::Sockets;

use crate::confined::{confined, free};
use crate::skip::skipped;

const GETPID: i64 = 39;
const X32: i64 = 0x4000_0000;

#[test]
fn a_32_bit_call_kills() {
    if free(|| ended(in_32_bits)) != 0 {
        return skipped("calls of the 32-bit ABI", "this kernel has none");
    }
    assert_eq!(confined(Sockets::Namespaced, || ended(in_32_bits)), libc::SIGSYS);
}

#[test]
fn an_x32_call_kills() {
    // Without a filter the call exists or does not; either way the process goes on.
    let x32 = || number(X32 + GETPID);
    assert_eq!(free(|| ended(x32)), 0);
    assert_eq!(confined(Sockets::Namespaced, || ended(x32)), libc::SIGSYS);
    assert_eq!(confined(Sockets::Namespaced, || ended(|| number(GETPID))), 0);
    assert_eq!(confined(Sockets::Namespaced, || ended(|| number(-1))), 0);
}

fn in_32_bits() {
    // SAFETY: getpid in the numbering of i386 touches no memory; the kernel may lose r8 to r11, which are named.
    unsafe {
        asm!("int 0x80", inlateout("rax") 20_u64 => _, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
}

fn number(number: i64) {
    // SAFETY: getpid, under whichever number, takes no arguments and touches no memory.
    unsafe { libc::syscall(number) };
}

/// The signal that ended a child which did `work`; zero if it came to its end.
fn ended(work: fn()) -> i32 {
    // SAFETY: between fork and _exit the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: both calls take numbers. Not dumpable: a killed child leaves no core file. It never returns into the harness.
        unsafe {
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
            work();
            libc::_exit(0)
        }
    }
    let mut status = 0;
    // SAFETY: the child is ours and not yet waited for; `status` is a place of the right size.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}
