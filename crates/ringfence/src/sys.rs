//! The only module that names an operating system. What is for others than Linux was checked by the compiler and not run.

use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::io::Errno;

/// Returns the kernel's name for the object behind a handle.
#[cfg(target_os = "linux")]
pub(crate) fn path_of(handle: impl AsFd) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd as _;

    let name = format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd());
    std::fs::read_link(name).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Returns the kernel's name for the object behind a handle.
#[cfg(target_os = "macos")]
pub(crate) fn path_of(handle: impl AsFd) -> Result<PathBuf, Errno> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    Ok(OsString::from_vec(rustix::fs::getpath(handle)?.into_bytes()).into())
}

/// Returns an unpredictable number.
#[cfg(target_os = "linux")]
pub(crate) fn random() -> Result<u128, Errno> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(u128::from_ne_bytes(random))
}

/// Returns an unpredictable number.
#[cfg(target_os = "macos")]
pub(crate) fn random() -> Result<u128, Errno> {
    use std::io::Read as _;

    let mut random = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut random));
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(u128::from_ne_bytes(random))
}

/// Denies other processes of this user access to our memory, core dumps included.
#[cfg(all(target_os = "linux", feature = "policy-file"))]
pub(crate) fn deny_memory_access() -> Result<(), Errno> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Fails: there is no jail on this system either.
#[cfg(all(target_os = "macos", feature = "policy-file"))]
pub(crate) fn deny_memory_access() -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// Clock that file systems take their times from, or one that is never ahead of it.
#[cfg(all(target_os = "linux", feature = "policy-file"))]
pub(crate) const FILE_CLOCK: rustix::time::ClockId = rustix::time::ClockId::RealtimeCoarse;

/// Clock that file systems take their times from.
#[cfg(all(target_os = "macos", feature = "policy-file"))]
pub(crate) const FILE_CLOCK: rustix::time::ClockId = rustix::time::ClockId::Realtime;
