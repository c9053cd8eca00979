//! Settings of a repository, put in place by the supervisor in git's place.

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::Shared;
use super::known::Identity;
use super::path::Spot;
use super::repository::{self, Age};
use super::staging::{self, Replaced};

/// Puts new settings in place of old ones, if they make nothing run. `None` if they might, or it cannot be told.
///
/// The text that was read is what is put there: the file that it was read from may be written on.
pub(super) fn replace(shared: &Shared, old: &Spot, new: &Spot, flags: u32) -> Option<Result<(), Errno>> {
    let after = repository::text(&old.directory, old.name.to_bytes()).ok()?;
    let is_new = shared.repositories.is_made(Identity::of(&new.directory).ok()?);
    let (before, age) = match repository::text(&new.directory, new.name.to_bytes()) {
        Ok(before) => (Some(before), if is_new { Age::New } else { Age::Old }),
        // Settings that are gone are not new ones: another process may have removed them.
        Err(Errno::NOENT) if is_new => (None, Age::New),
        Err(_) => return None,
    };
    if flags != 0 || !repository::is_harmless(before.as_deref().unwrap_or_default(), &after, age) {
        return None;
    }
    match staging::replace(&new.directory, &new.name, &after) {
        Ok(()) => Some(remove(old)),
        Err(Replaced::Not(errno)) => Some(Err(errno)),
        // A process outside was quicker, and what it wrote is kept.
        Err(Replaced::Overtaken) => None,
        Err(Replaced::Changed) => {
            restore(new, before.as_deref());
            None
        }
    }
}

/// Takes away what was moved. A file that was removed meanwhile is no error.
fn remove(old: &Spot) -> Result<(), Errno> {
    match rustix::fs::unlinkat(&old.directory, &old.name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

/// Puts settings back that were replaced by something that is not ours any more. The call is refused and recorded either way.
fn restore(new: &Spot, before: Option<&[u8]>) {
    let _best_effort = match before {
        Some(before) => staging::replace(&new.directory, &new.name, before).is_ok(),
        None => rustix::fs::unlinkat(&new.directory, &new.name, AtFlags::empty()).is_ok(),
    };
}
