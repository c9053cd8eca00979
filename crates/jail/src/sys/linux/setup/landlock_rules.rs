//! A plan's grants in the words of Landlock, as far as this kernel knows them.

use std::ffi::CString;

use super::steps::{inside, text};
use crate::plan::{Access, Grant};
use crate::sys::linux::calls::{self, confine::HandledAccess};

/// Returns the access that Landlock handles in a jail that has mounts as well; `None` where the kernel has no Landlock.
pub(crate) fn about() -> Option<HandledAccess> {
    let abi = calls::landlock_abi().unwrap_or(0);
    let mut handled = handled(abi);
    // The mounts decide what can be listed and truncated. To hold that a second time costs a walk up the tree for every directory
    // that is opened (truncating is looked up with every file, in case): 15 % of `find /usr`. Reading, writing and executing
    // are held twice.
    handled.files &= !(READ_DIR | TRUNCATE);
    (abi > 0).then_some(handled)
}

/// Returns the rights beneath each path, relative to the root of the jail.
pub(crate) fn rules(grants: &[Grant], about: Option<&HandledAccess>) -> Vec<(CString, u64)> {
    let files = about.map_or(0, |about| about.files);
    let rights = |grant: &Grant| rights(grant.access, grant.directory) & files;
    grants.iter().map(|grant| (below_root(grant), rights(grant))).collect()
}

/// The root itself has no name in itself.
fn below_root(grant: &Grant) -> CString {
    let path = inside(&grant.path);
    if path.is_empty() { text(".".as_ref()) } else { path }
}

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Removing, making, and from version 2 on moving between directories, from 3 on truncating.
const CHANGE: u64 = ((1 << 15) - 1) & !(EXECUTE | WRITE_FILE | READ_FILE | READ_DIR);
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// Everything that a version of the interface can be about.
pub(crate) const fn handled(abi: u32) -> HandledAccess {
    HandledAccess { files: files(abi), network: 0, scoped: scoped(abi) }
}

/// Every right that a version of the interface knows.
const fn files(abi: u32) -> u64 {
    match abi {
        0 => 0,
        1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    }
}

/// Abstract sockets and signals stay inside, from version 6 on.
const fn scoped(abi: u32) -> u64 {
    if abi >= 6 { 0b11 } else { 0 }
}

/// The rights that go with an access.
pub(crate) const fn rights(access: Access, directory: bool) -> u64 {
    let read = EXECUTE | READ_FILE | READ_DIR;
    let rights = match access {
        Access::Read => read,
        Access::Device => READ_FILE | WRITE_FILE | READ_DIR | TRUNCATE | IOCTL_DEV,
        Access::Write => read | WRITE_FILE | CHANGE,
    };
    // The kernel refuses rights on a file that only a directory can have.
    if directory { rights } else { rights & (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV) }
}
