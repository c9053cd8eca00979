//! The only module that names an operating system.

mod linux;
pub(crate) use linux::*;

/// What may be on the way when the kernel looks a path up in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Along {
    /// Names alone.
    Names,
    /// Names alone, and never out of where it starts.
    NamesBeneath,
    /// Links, and never out of where it starts.
    LinksBeneath,
    /// Links, but none of the kernel.
    Links,
    /// Anything.
    Anything,
}

/// What is known of the letters of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// Names that differ in case alone are one name.
    Folded,
    /// They are two names, except in directories that are marked.
    Told,
    /// It has to be tried.
    Unknown,
}
