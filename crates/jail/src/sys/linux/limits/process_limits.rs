//! Bounds of one process in the kernel's numbers, and how full a file system is.

use std::fs;
use std::os::fd::AsFd;

use policy::Limits;
use rustix::fs::fstatvfs;
use rustix::process::getrlimit;

use crate::resources::{Bound, Resource, rlimits};

/// Resource limits that the second process of a jail sets before foreign code runs: resource, soft bound, hard bound.
pub(crate) fn prepared_rlimits(limits: &Limits, own_user_namespace: bool) -> Vec<(u32, u64, u64)> {
    let set = rlimits(limits, own_user_namespace, current).into_iter();
    set.map(|(resource, bound)| (number(resource), bound.soft, bound.hard)).collect()
}

/// The caller's own.
fn current(resource: Resource) -> Bound {
    let own = getrlimit(kernel(resource));
    Bound { soft: own.current.unwrap_or(u64::MAX), hard: own.maximum.unwrap_or(u64::MAX) }
}

fn number(resource: Resource) -> u32 {
    kernel(resource) as u32
}

const fn kernel(resource: Resource) -> rustix::process::Resource {
    use rustix::process::Resource as Kernel;
    match resource {
        Resource::Core => Kernel::Core,
        Resource::OpenFiles => Kernel::Nofile,
        Resource::FileSize => Kernel::Fsize,
        Resource::Cpu => Kernel::Cpu,
        Resource::Processes => Kernel::Nproc,
        Resource::PrivateMemory => Kernel::Data,
        Resource::LockedMemory => Kernel::Memlock,
        Resource::MessageQueues => Kernel::Msgqueue,
        Resource::Nice => Kernel::Nice,
        Resource::RealTime => Kernel::Rtprio,
    }
}

/// Returns true if so little is left of a file system, in bytes or in files, that writing to it fails.
///
/// One that cannot be asked is not called full: that would blame a limit for a failure of the command.
pub(crate) fn is_full(file_system: impl AsFd) -> bool {
    let nearly = |left: u64, all: u64| all > 0 && left <= all / 100;
    fstatvfs(file_system)
        .is_ok_and(|found| nearly(found.f_bfree, found.f_blocks) || nearly(found.f_ffree, found.f_files))
}

/// The memory of the largest process of a jail, if it is the jail's.
///
/// Init has our memory until it is executed, and the kernel counts the most that a process ever had: up to the most that we
/// ever had, it may be ours. Then none of it is blamed on the jail, nor is it where we cannot know.
pub(crate) fn beyond_ours(largest: u64) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let ours: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    if ours.is_some_and(|kilobytes| largest > kilobytes * 1024) { largest } else { 0 }
}

#[cfg(test)]
mod tests;
