//! Decodes the brokered system calls. `crate::seccomp::brokered_syscalls` lists them.

use crate::sys::linux::notify::observe::call::{Notice, int};

/// A brokered call with its arguments.
pub(super) enum BrokeredCall {
    Open { at: i32, path: u64, flags: i32, mode: u32 },
    Directory { at: i32, path: u64, mode: u32 },
    Node { at: i32, path: u64, mode: u32 },
    Symlink { to: u64, at: i32, path: u64 },
    Link { from: (i32, u64), to: (i32, u64), flags: i32 },
    Rename { from: (i32, u64), to: (i32, u64), flags: u32 },
    Truncate { path: u64, length: u64 },
    Bind { socket: i32, address: u64, length: i32 },
    SocketName { socket: i32, address: u64, length: u64 },
    Umask(u32),
}

impl BrokeredCall {
    /// Decodes a call; `None` if it is only observed.
    pub(super) fn decode(notice: &Notice) -> Option<Self> {
        const HERE: i32 = libc::AT_FDCWD;
        let [one, two, three, four, five, _] = notice.arguments;
        let word = |argument: u64| int(argument).cast_unsigned();
        Some(match notice.number {
            libc::SYS_openat => Self::Open { at: int(one), path: two, flags: int(three), mode: word(four) },
            libc::SYS_mkdirat => Self::Directory { at: int(one), path: two, mode: word(three) },
            libc::SYS_mknodat => Self::Node { at: int(one), path: two, mode: word(three) },
            libc::SYS_symlinkat => Self::Symlink { to: one, at: int(two), path: three },
            libc::SYS_linkat => {
                Self::Link { from: (int(one), two), to: (int(three), four), flags: int(five) }
            }
            libc::SYS_renameat2 => {
                Self::Rename { from: (int(one), two), to: (int(three), four), flags: word(five) }
            }
            libc::SYS_truncate => Self::Truncate { path: one, length: two },
            libc::SYS_bind => Self::Bind { socket: int(one), address: two, length: int(three) },
            libc::SYS_getsockname => Self::SocketName { socket: int(one), address: two, length: three },
            libc::SYS_umask => Self::Umask(word(one)),
            libc::SYS_renameat => Self::Rename { from: (int(one), two), to: (int(three), four), flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => Self::Open { at: HERE, path: one, flags: int(two), mode: word(three) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => Self::Open {
                at: HERE,
                path: one,
                flags: libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC,
                mode: word(two),
            },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => Self::Directory { at: HERE, path: one, mode: word(two) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod => Self::Node { at: HERE, path: one, mode: word(two) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => Self::Symlink { to: one, at: HERE, path: two },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => Self::Link { from: (HERE, one), to: (HERE, two), flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => Self::Rename { from: (HERE, one), to: (HERE, two), flags: 0 },
            _ => return None,
        })
        .filter(|call| !matches!(call, Self::Open { flags, .. } if !writes(*flags)))
    }
}

/// Returns true if a file is opened for more than reading. Observation is notified of the others, too.
const fn writes(flags: i32) -> bool {
    flags & (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) != 0
}
