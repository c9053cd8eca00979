//! The notify supervisor: answers the system calls that the kernel stops for it (seccomp user notification).
//!
//! `name_guard` performs the brokered calls in the command's place; `observe` records attempts and refusals. The calls that are
//! stopped are listed in `crate::seccomp::brokered_syscalls`.

pub(crate) mod name_guard;
pub(crate) mod observe;
