//! System calls without the C library, with their errors as results.

#[path = "../../../../init/syscall.rs"]
mod syscall;

use rustix::io::Errno;

/// Makes a system call.
///
/// # Safety
///
/// As for the call in question: pointers among the arguments are valid for what the kernel does with them.
#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "numbers of calls are small")]
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
    // SAFETY: the caller's promise.
    answer(unsafe { syscall::call(number as usize, arguments) })
}

/// The kernel answers an error as a small negative number.
fn answer(result: isize) -> Result<usize, Errno> {
    match i32::try_from(result) {
        Ok(error @ -4095..=-1) => Err(Errno::from_raw_os_error(-error)),
        _ => Ok(result.cast_unsigned()),
    }
}
