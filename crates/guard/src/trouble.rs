//! Errors of paths, apart from decisions of a policy.

use rustix::io::Errno;

/// Problem with a path or the object it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// Nothing was named.
    #[error("the path is empty")]
    Empty,
    /// The kernel would stop reading here.
    #[error("the path contains a NUL byte")]
    Nul,
    /// Longer than the kernel takes.
    #[error("the path or a name in it is too long")]
    TooLong,
    /// There is no such file.
    #[error("there is no such file or directory")]
    NotFound,
    /// Links that lead to each other.
    #[error("too many levels of symbolic links")]
    Loop,
    /// A magic link, which jumps to an object that a process has open.
    #[error("the path goes through a magic link of the kernel, such as /proc/self/root")]
    MagicLink,
    /// Something on the way is not a directory.
    #[error("a component of the path is not a directory")]
    NotADirectory,
    /// A file is needed.
    #[error("it is a directory")]
    IsADirectory,
    /// A pipe, a socket or a device.
    #[error("it is a pipe, a socket or a device, not a file or directory")]
    Special,
    /// Only a name in a directory can be removed or moved.
    #[error("the path does not end in a name")]
    NoName,
    /// A file that may not be read could be read after a move.
    #[error("the policy denies reading it, so it cannot be moved to a place where it could be read")]
    MayNotBeRead,
    /// The object was moved or replaced while it was being looked at.
    #[error("the file was moved or replaced meanwhile")]
    Changed,
    /// The object has no name that can be judged.
    #[error("the file was deleted, so it has no path to check")]
    Gone,
    /// A guard belongs to the process that opened it.
    #[error("the guard was opened by another process: this one needs its own")]
    Forked,
    /// The new file would be open to others than the old one, or lose what others rely on.
    #[error("its access control list or extended attributes cannot be kept, so it is not replaced")]
    Attributes,
    /// The operating system refuses.
    #[error("system error: {0}")]
    System(Errno),
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NAMETOOLONG => Self::TooLong,
            Errno::LOOP => Self::Loop,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ISDIR => Self::IsADirectory,
            Errno::NXIO => Self::Special,
            other => Self::System(other),
        }
    }
}
