//! Code that depends on the architecture: entering the program, system calls, and a process with a stack of its own.

use core::arch::{asm, global_asm};

pub(crate) use crate::syscall::call;

#[cfg(target_arch = "x86_64")]
global_asm!(".globl _start", "_start:", "    xor ebp, ebp", "    and rsp, -16", "    call {run}", "    ud2", run = sym crate::run);

#[cfg(target_arch = "aarch64")]
global_asm!(".globl _start", "_start:", "    mov x29, xzr", "    bl {run}", "    brk #1", run = sym crate::run);

/// Numbers of the system calls that init makes by itself.
#[cfg(target_arch = "x86_64")]
pub mod number {
    pub const CLONE: usize = 56;
    pub const CLONE3: usize = 435;
    pub const CLOSE_RANGE: usize = 436;
    pub const EXECVE: usize = 59;
    pub const EXIT_GROUP: usize = 231;
    pub const FSTAT: usize = 5;
    pub const GETPGID: usize = 121;
    pub const KILL: usize = 62;
    pub const LANDLOCK_ADD_RULE: usize = 445;
    pub const LSEEK: usize = 8;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MUNMAP: usize = 11;
    pub const NANOSLEEP: usize = 35;
    pub const PPOLL: usize = 271;
    pub const PRCTL: usize = 157;
    pub const PREAD: usize = 17;
    pub const READ: usize = 0;
    pub const RECVFROM: usize = 45;
    pub const RECVMSG: usize = 47;
    pub const RT_SIGTIMEDWAIT: usize = 128;
    pub const SENDMSG: usize = 46;
    pub const SENDTO: usize = 44;
    pub const UNLINKAT: usize = 263;
    pub const WAIT4: usize = 61;
    pub const WRITE: usize = 1;
}

/// Numbers of the system calls that init makes by itself.
#[cfg(target_arch = "aarch64")]
pub mod number {
    pub const CLONE: usize = 220;
    pub const CLONE3: usize = 435;
    pub const CLOSE_RANGE: usize = 436;
    pub const EXECVE: usize = 221;
    pub const EXIT_GROUP: usize = 94;
    pub const FSTAT: usize = 80;
    pub const GETPGID: usize = 155;
    pub const KILL: usize = 129;
    pub const LANDLOCK_ADD_RULE: usize = 445;
    pub const LSEEK: usize = 62;
    pub const MMAP: usize = 222;
    pub const MPROTECT: usize = 226;
    pub const MUNMAP: usize = 215;
    pub const NANOSLEEP: usize = 101;
    pub const PPOLL: usize = 73;
    pub const PRCTL: usize = 167;
    pub const PREAD: usize = 67;
    pub const READ: usize = 63;
    pub const RECVFROM: usize = 207;
    pub const RECVMSG: usize = 212;
    pub const RT_SIGTIMEDWAIT: usize = 137;
    pub const SENDMSG: usize = 211;
    pub const SENDTO: usize = 206;
    pub const UNLINKAT: usize = 35;
    pub const WAIT4: usize = 260;
    pub const WRITE: usize = 64;
}

/// Makes a call of the `clone` family, after which a new process runs `main` on a stack of its own.
///
/// # Safety
///
/// The arguments make a process that does not share this stack; `main` may be run with `argument` there.
#[cfg(target_arch = "x86_64")]
pub unsafe fn clone(
    number: usize,
    arguments: [usize; 2],
    main: extern "C" fn(usize) -> !,
    argument: usize,
) -> isize {
    let result: isize;
    // SAFETY: only the old process comes back behind label 2, with its own stack and registers as declared.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") number => result,
            in("rdi") arguments[0], in("rsi") arguments[1], in("rdx") 0_usize, in("r10") 0_usize, in("r8") 0_usize,
            in("r12") main, in("r13") argument,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// Makes a call of the `clone` family, after which a new process runs `main` on a stack of its own.
///
/// # Safety
///
/// The arguments make a process that does not share this stack; `main` may be run with `argument` there.
#[cfg(target_arch = "aarch64")]
pub unsafe fn clone(
    number: usize,
    arguments: [usize; 2],
    main: extern "C" fn(usize) -> !,
    argument: usize,
) -> isize {
    let result: isize;
    // SAFETY: only the old process comes back behind label 2, with its own stack and registers as declared.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x20",
            "blr x21",
            "brk #1",
            "2:",
            in("x8") number,
            inlateout("x0") arguments[0] => result,
            in("x1") arguments[1], in("x2") 0_usize, in("x3") 0_usize, in("x4") 0_usize,
            in("x20") argument, in("x21") main,
        );
    }
    result
}
