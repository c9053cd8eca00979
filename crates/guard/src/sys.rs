//! The only module that names an operating system. Each offers the same.
//!
//! `guard_as_on_macos` is for trying the walk of macOS on Linux, where Linux stands in for what only that kernel can be asked.
#![allow(unexpected_cfgs, reason = "set by hand, for a trial")]

#[cfg(all(target_os = "linux", not(guard_as_on_macos)))]
mod linux;
#[cfg(all(target_os = "linux", not(guard_as_on_macos)))]
pub(crate) use linux::*;

#[cfg(any(target_os = "macos", guard_as_on_macos, test))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "here it is only tested"))]
mod macos;
#[cfg(any(target_os = "macos", guard_as_on_macos))]
pub(crate) use macos::*;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("the guard knows how to look files up on Linux and on macOS, and nowhere else");

/// Objects allowed on the way when the kernel looks a path up in one call.
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

/// Case sensitivity of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// Names that differ in case alone are one name.
    Folded,
    /// They are two names, except in directories that are marked.
    Told,
    /// It has to be tried.
    Unknown,
}
