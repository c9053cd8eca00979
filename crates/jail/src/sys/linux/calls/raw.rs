//! System calls without the C library: nothing here touches thread-local storage, allocates or panics.
//!
//! A process that is about to execute init shares the caller's memory (see `spawn`). The C library would store its `errno` in
//! the caller's thread; these calls return it.

use std::arch::asm;

use rustix::io::Errno;

/// Makes a system call.
///
/// # Safety
///
/// As for the call in question: pointers among the arguments are valid for what the kernel does with them.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
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
    answer(result)
}

/// Makes a system call.
///
/// # Safety
///
/// As for the call in question: pointers among the arguments are valid for what the kernel does with them.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
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
    answer(result)
}

/// The kernel answers an error as a small negative number.
fn answer(result: isize) -> Result<usize, Errno> {
    match i32::try_from(result) {
        Ok(error @ -4095..=-1) => Err(Errno::from_raw_os_error(-error)),
        _ => Ok(result.cast_unsigned()),
    }
}
