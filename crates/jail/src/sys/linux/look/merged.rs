//! A directory as a layer over another shows it: what is above hides what is below.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags, RawDir};
use rustix::io::Errno;

use super::{EntryKind, kind, open};
use crate::spec::{Kept, Spec};

/// A directory of the host, and what was changed in it if that is kept in a layer.
#[derive(Clone)]
pub(super) struct Layers<T> {
    pub(super) lower: Option<T>,
    pub(super) upper: Option<T>,
}

/// Where the changes of a view are, if they are kept.
pub(super) fn upper(spec: &Spec, path: &Path) -> Result<Option<OwnedFd>, Errno> {
    let Some(kept) = spec.kept.iter().find(|kept| kept.path == path) else { return Ok(None) };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(kept.directory.join(Kept::UPPER), flags, Bits::empty()) {
        Err(Errno::NOENT) => Ok(None),
        opened => opened.map(Some),
    }
}

impl Layers<Arc<OwnedFd>> {
    /// The directory of a name in both.
    pub(super) fn open(&self, name: &CStr) -> Result<Self, Errno> {
        let upper = self.upper.as_ref().map(|above| open(Some(above), name));
        let (upper, hides) = match upper {
            None | Some(Err(Errno::NOENT)) => (None, false),
            Some(Err(errno)) => return Err(errno),
            Some(Ok(upper)) => {
                let hides = is_opaque(&upper);
                (Some(upper), hides)
            }
        };
        let lower = self.lower.as_ref().filter(|_| !hides).map(|below| open(Some(below), name));
        let lower = match lower {
            // Above, there is a directory of its own.
            Some(Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) if upper.is_some() => None,
            other => other.transpose()?,
        };
        if lower.is_none() && upper.is_none() { Err(Errno::NOENT) } else { Ok(Self { lower, upper }) }
    }

    /// Calls `hit` with every entry and its kind.
    pub(super) fn list(
        &self,
        space: &mut Vec<u8>,
        mut hit: impl FnMut(&CStr, EntryKind),
    ) -> Result<(), Errno> {
        let mut above: HashMap<CString, bool> = HashMap::new();
        if let Some(upper) = &self.upper {
            each(upper, space, |name, listed| {
                let gone = listed == FileType::CharacterDevice && is_whiteout(upper, name);
                let kind = kind(upper, name, listed);
                above.insert(name.to_owned(), kind == EntryKind::Directory);
                if !gone {
                    hit(name, kind);
                }
            })?;
        }
        let Some(lower) = &self.lower else { return Ok(()) };
        each(lower, space, |name, listed| {
            if above.is_empty() || !above.contains_key(name) {
                hit(name, kind(lower, name, listed));
            }
        })
    }
}

fn each(directory: &OwnedFd, space: &mut Vec<u8>, mut hit: impl FnMut(&CStr, FileType)) -> Result<(), Errno> {
    space.clear();
    let room: &mut [MaybeUninit<u8>] = space.spare_capacity_mut();
    let mut entries = RawDir::new(directory, room);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            hit(entry.file_name(), entry.file_type());
        }
    }
    Ok(())
}

/// What a layer leaves where something was removed.
fn is_whiteout(directory: &OwnedFd, name: &CStr) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|found| found.st_rdev == 0)
}

/// Whether nothing of the directory below is seen.
fn is_opaque(directory: &OwnedFd) -> bool {
    let mut value = [0; 1];
    ["user.overlay.opaque", "trusted.overlay.opaque"].iter().any(|mark| {
        rustix::fs::fgetxattr(directory, *mark, &mut value).is_ok_and(|length| value[..length] == *b"y")
    })
}
