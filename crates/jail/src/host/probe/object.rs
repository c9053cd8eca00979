//! One object of the file system, as a handle shows it.

/// Type of the object at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, not followed.
    Link,
    /// A socket, a device, a pipe.
    Other,
}

/// An object of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// Type of the object.
    pub kind: Kind,
    /// User id of the owner.
    pub owner: u32,
    /// Permission bits, with set-uid, set-gid and sticky.
    pub mode: u32,
    /// When its content last changed, in seconds since 1970.
    pub modified: i64,
    /// True if we may write to it; a read-only mount says no to root as well.
    pub writable: bool,
    /// Bytes left for us on its file system.
    pub free: u64,
}

impl Object {
    /// Returns true if any user but the owner has any right to it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.mode & 0o077 != 0
    }
}
