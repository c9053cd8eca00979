//! Entries beside a name that decide whether it is protected.

use policy::{Beside, Location};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::resolve::Workspace;
use crate::trouble::Trouble;

/// Notes at a place that is to be written whether it is, or would make, a part of a git repository.
pub(crate) fn looked(workspace: &Workspace, location: Location) -> Location {
    let found = Beside::of(&location).iter().any(|beside| is_repository(workspace, beside));
    if found { location.in_repository() } else { location }
}

fn is_repository(workspace: &Workspace, beside: &Beside) -> bool {
    match workspace.known(&beside.directory) {
        Ok(directory) => beside.is_repository(|name| {
            // An entry that cannot be looked at may be there.
            !matches!(rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
        }),
        // A directory that is not there holds nothing; one that cannot be looked at may hold anything.
        Err(Trouble::Changed) => false,
        Err(_) => true,
    }
}
