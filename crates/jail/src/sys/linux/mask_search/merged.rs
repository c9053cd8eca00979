//! A directory as a layer over another shows it: what is above hides what is below.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode as Bits, RawDir};
use rustix::io::Errno;

use super::cache::Stamp;
use super::{DIRECTORY, EntryKind, kind, open_beneath};
use crate::spec::{Kept, Spec};

/// The top of a view, and of its changes if they are kept in a layer.
pub(super) struct Layers {
    pub(super) lower: OwnedFd,
    upper: Option<OwnedFd>,
}

/// A directory of one or both.
pub(super) struct Opened {
    lower: Option<OwnedFd>,
    upper: Option<OwnedFd>,
}

impl Layers {
    pub(super) fn of(spec: &Spec, path: &Path) -> Result<Self, Errno> {
        let lower = rustix::fs::open(path, DIRECTORY, Bits::empty())?;
        let kept = spec.kept.iter().find(|kept| kept.path == path);
        let upper =
            kept.map(|kept| rustix::fs::open(kept.directory.join(Kept::UPPER), DIRECTORY, Bits::empty()));
        Ok(Self { lower, upper: upper.transpose()? })
    }

    pub(super) fn are_two(&self) -> bool {
        self.upper.is_some()
    }

    /// Opens a directory. `through` the layer the one below is seen, unless the one above hides it.
    pub(super) fn open(&self, below: &CStr, through: bool) -> Result<Opened, Errno> {
        let upper = match self.upper.as_ref().map(|upper| open_beneath(upper, below)) {
            None | Some(Err(Errno::NOENT)) => None,
            Some(opened) => Some(opened?),
        };
        let hidden = !through || upper.as_ref().is_some_and(is_opaque);
        let lower = match (!hidden).then(|| open_beneath(&self.lower, below)) {
            // Above, there is a directory of its own.
            Some(Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) if upper.is_some() => None,
            other => other.transpose()?,
        };
        Ok(Opened { lower, upper })
    }
}

impl Opened {
    /// Returns true if the directories in it can be seen through the layer.
    pub(super) fn goes_through(&self) -> bool {
        self.lower.is_some()
    }

    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.lower.as_ref().and_then(Stamp::of)
    }

    /// Calls `hit` with every entry and its kind.
    pub(super) fn list(
        &self,
        space: &mut Vec<u8>,
        mut hit: impl FnMut(&CStr, EntryKind),
    ) -> Result<(), Errno> {
        let mut above: HashSet<CString> = HashSet::new();
        if let Some(upper) = &self.upper {
            each(upper, space, |name, listed| {
                above.insert(name.to_owned());
                if listed != FileType::CharacterDevice || !is_whiteout(upper, name) {
                    hit(name, kind(upper, name, listed));
                }
            })?;
        }
        let Some(lower) = &self.lower else { return Ok(()) };
        each(lower, space, |name, listed| {
            if above.is_empty() || !above.contains(name) {
                hit(name, kind(lower, name, listed));
            }
        })
    }
}

fn each(directory: &OwnedFd, space: &mut Vec<u8>, mut hit: impl FnMut(&CStr, FileType)) -> Result<(), Errno> {
    let mut entries = RawDir::new(directory, space.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            hit(entry.file_name(), entry.file_type());
        }
    }
    Ok(())
}

/// Returns true if the entry is what a layer leaves where something was removed.
fn is_whiteout(directory: &OwnedFd, name: &CStr) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|found| found.st_rdev == 0)
}

/// Returns true if nothing of the directory below is seen.
fn is_opaque(directory: &OwnedFd) -> bool {
    let mut value = [0; 1];
    ["user.overlay.opaque", "trusted.overlay.opaque"].iter().any(|mark| {
        rustix::fs::fgetxattr(directory, *mark, &mut value).is_ok_and(|length| value[..length] == *b"y")
    })
}
