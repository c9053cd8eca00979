//! Paths and addresses that a call uses, for callers that want to know everything and not refusals alone.

use std::path::PathBuf;

use super::address;
use super::call::{Call, Notice};
use crate::uses::Use;

/// Returns what a call is about to use.
pub(crate) fn of(notice: &Notice) -> Vec<Use> {
    match notice.call() {
        Some(Call::Execute(path)) => notice.absolute(&path).map(Use::Program).into_iter().collect(),
        Some(Call::Open { path, writes }) => {
            let used = if writes { Use::Write } else { Use::Read };
            notice.absolute(&path).map(used).into_iter().collect()
        }
        Some(Call::Connect(bytes)) => address(&bytes).map(called).into_iter().collect(),
        None => names(notice).into_iter().map(Use::Name).collect(),
    }
}

fn called(address: super::Address) -> Use {
    match address {
        super::Address::Socket(path) => Use::Socket(path),
        super::Address::Internet(address) => Use::Connection(address),
    }
}

/// The names that a call makes, moves or takes away.
fn names(notice: &Notice) -> Vec<PathBuf> {
    let row = NAMING.iter().chain(OLD).find(|(number, _)| *number == notice.number());
    let places = row.map(|(_, places)| *places).unwrap_or_default();
    places.iter().filter_map(|(directory, path)| notice.path_at(*directory, *path)).collect()
}

/// Arguments of a call that have a name: which is the directory, if one is, and which the path.
type Row = (libc::c_long, &'static [(Option<usize>, usize)]);

const NAMING: &[Row] = &[
    (libc::SYS_mkdirat, &[(Some(0), 1)]),
    (libc::SYS_mknodat, &[(Some(0), 1)]),
    (libc::SYS_unlinkat, &[(Some(0), 1)]),
    (libc::SYS_renameat, &[(Some(0), 1), (Some(2), 3)]),
    (libc::SYS_renameat2, &[(Some(0), 1), (Some(2), 3)]),
    (libc::SYS_linkat, &[(Some(2), 3)]),
    (libc::SYS_symlinkat, &[(Some(1), 2)]),
];

#[cfg(target_arch = "x86_64")]
const OLD: &[Row] = &[
    (libc::SYS_mkdir, &[(None, 0)]),
    (libc::SYS_mknod, &[(None, 0)]),
    (libc::SYS_rmdir, &[(None, 0)]),
    (libc::SYS_unlink, &[(None, 0)]),
    (libc::SYS_rename, &[(None, 0), (None, 1)]),
    (libc::SYS_link, &[(None, 1)]),
    (libc::SYS_symlink, &[(None, 1)]),
];

#[cfg(not(target_arch = "x86_64"))]
const OLD: &[Row] = &[];
