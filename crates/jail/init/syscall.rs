//! One system call, without a C library: nothing here touches thread-local storage, allocates or panics.
//!
//! Init uses it, and the supervisor where a process shares its memory: the C library would store `errno` in the caller's thread.

use core::arch::asm;

/// Makes a system call. An error is a small negative number.
///
/// # Safety
///
/// As for the call in question: pointers among the arguments are valid for what the kernel does with them.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result: isize;
    // SAFETY: the instruction clobbers rcx, r11 and flags, as declared, and memory only as the caller vouches for.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first, in("rsi") second, in("rdx") third, in("r10") fourth, in("r8") fifth, in("r9") sixth,
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// Makes a system call. An error is a small negative number.
///
/// # Safety
///
/// As for the call in question: pointers among the arguments are valid for what the kernel does with them.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result: isize;
    // SAFETY: the instruction changes x0 only, as declared, and memory only as the caller vouches for.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") first => result,
            in("x1") second, in("x2") third, in("x3") fourth, in("x4") fifth, in("x5") sixth,
            options(nostack)
        );
    }
    result
}
