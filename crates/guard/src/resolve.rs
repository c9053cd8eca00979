//! A path -> the object it leads to, by handle, and every name it is judged by.
//!
//! The usual path has no link in it: one call of the kernel looks it up beneath the workspace and vouches for the name. A path
//! with links is followed, and the kernel is asked what it calls the object that was found. What does not exist is looked up step
//! by step, as far as it does. Nothing here creates, truncates or opens anything.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use policy::{Location, LocationError, lexical};
use rustix::fs::{CWD, FileType, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::fold;
use crate::handle::{Handles, PATH, kind, look};
use crate::steps;
use crate::trouble::Trouble;

/// The directory that relative paths start from, by handle.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) handle: OwnedFd,
    /// Its real path.
    pub(crate) path: PathBuf,
    pub(crate) handles: Handles,
    /// Whether names that differ in case alone are one name in it.
    folds_case: bool,
    changes: Mutex<()>,
}

/// What becomes of a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// The object is what it leads to.
    Follow,
    /// The object is the link.
    Keep,
}

/// A path as somebody wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) path: &'a Path,
    /// Whether it was written from the root; a path that was only completed was not.
    pub(crate) absolute: bool,
}

/// What a path leads to.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) location: Location,
    pub(crate) object: Object,
}

#[derive(Debug)]
pub(crate) enum Object {
    Here(Here),
    Missing(Missing),
}

/// An object that exists.
#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) handle: OwnedFd,
    pub(crate) stat: Stat,
}

/// An object that does not exist yet.
#[derive(Debug)]
pub(crate) struct Missing {
    /// The deepest directory on the way that exists.
    pub(crate) parent: OwnedFd,
    /// The names below it, none of which is `..`. Never empty.
    pub(crate) rest: Vec<OsString>,
}

const STRAIGHT: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);
const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

impl Workspace {
    /// Opens a directory to work in.
    pub(crate) fn open(path: &Path) -> Result<Self, Trouble> {
        let handles = Handles::find()?;
        let flags = PATH | OFlags::DIRECTORY;
        let handle = match look(CWD, path, flags, ResolveFlags::NO_MAGICLINKS) {
            Err(Errno::NOSYS) => rustix::fs::open(path, flags, rustix::fs::Mode::empty())?,
            other => other?,
        };
        let path = handles.name(&handle)?;
        let folds_case = fold::folds_case(&handles, &handle);
        Ok(Self { handle, path, handles, folds_case, changes: Mutex::new(()) })
    }

    /// While this is held, no other tool of the session changes a name: what was looked at is what is changed.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds what a path leads to.
    pub(crate) fn find(&self, written: Written<'_>, last: Last) -> Result<Found, Trouble> {
        check(written.path)?;
        let below = written.path.strip_prefix(&self.path).unwrap_or(written.path);
        let found = if below.is_absolute() {
            self.anywhere(written.path, last)
        } else {
            self.beneath(named(below), last)
        };
        let (real, object) = match found {
            Err(Trouble::System(Errno::NOSYS)) => self.step_by_step(written.path, last),
            other => other,
        }?;
        let location = self.location(&real, written)?;
        let location = match &object {
            Object::Here(here) if last == Last::Follow && has_other_names(&here.stat) => location.shared(),
            _ => location,
        };
        Ok(Found { location, object })
    }

    /// The place that a path names by its spelling alone, where nothing better can be known.
    pub(crate) fn spelled(&self, written: Written<'_>) -> Result<Location, Trouble> {
        check(written.path)?;
        self.location(&lexical(&self.path.join(written.path)), written)
    }

    /// Beneath the workspace. The kernel vouches for the name if there is no link in it.
    fn beneath(&self, path: &Path, last: Last) -> Result<(PathBuf, Object), Trouble> {
        // A step back may step back over a link.
        if path.components().any(|part| part == Component::ParentDir) {
            return self.through_links(path, last);
        }
        match look(&self.handle, path, flags(last), STRAIGHT) {
            Ok(handle) => Ok((self.below(path), Object::here(handle)?)),
            Err(Errno::LOOP) => self.through_links(path, last),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(errno) => Err(errno.into()),
        }
    }

    fn through_links(&self, path: &Path, last: Last) -> Result<(PathBuf, Object), Trouble> {
        match look(&self.handle, path, flags(last), BENEATH) {
            Ok(handle) => Ok((self.handles.name(&handle)?, Object::here(handle)?)),
            Err(Errno::XDEV | Errno::LOOP) => self.anywhere(path, last),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Wherever it leads: the policy decides by the name of what is found there.
    fn anywhere(&self, path: &Path, last: Last) -> Result<(PathBuf, Object), Trouble> {
        match look(&self.handle, path, flags(last), ResolveFlags::NO_MAGICLINKS) {
            Ok(handle) => Ok((self.handles.name(&handle)?, Object::here(handle)?)),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            // Links that are none, or too many of them.
            Err(Errno::LOOP) => match look(&self.handle, path, flags(last), ResolveFlags::empty()) {
                Ok(_) => Err(Trouble::MagicLink),
                Err(errno) => Err(errno.into()),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    /// Where the kernel cannot do it in one call, and where the path ends before it is walked to its end.
    pub(crate) fn step_by_step(&self, path: &Path, last: Last) -> Result<(PathBuf, Object), Trouble> {
        let object = steps::walk(&self.handle, path, last)?;
        let real = match &object {
            Object::Here(here) => self.handles.name(&here.handle)?,
            Object::Missing(missing) => {
                let mut real = self.handles.name(&missing.parent)?;
                real.extend(&missing.rest);
                real
            }
        };
        Ok((real, object))
    }

    fn below(&self, path: &Path) -> PathBuf {
        let mut real = self.path.clone();
        real.extend(path.components().filter(|part| *part != Component::CurDir));
        real
    }

    /// The location with every name: the real one, the one that was written, and how they look to a file system that does not
    /// tell letters apart.
    pub(crate) fn location(&self, real: &Path, written: Written<'_>) -> Result<Location, Trouble> {
        let mut location = Location::new(&self.path, real).map_err(unfit)?;
        let spelled = self.spelling(written.path);
        if *spelled != *real {
            location = location.also(&self.path, &spelled).map_err(unfit)?;
        }
        location = self.with_folded(location, real)?;
        if written.absolute {
            location = location.spelled_absolute();
        }
        Ok(if self.folds_case { location.folding_case() } else { location })
    }

    /// What an entry of a directory is called, whose own name is known.
    pub(crate) fn entry(&self, real: &Path) -> Result<Location, Trouble> {
        let location = Location::new(&self.path, real).map_err(unfit)?;
        let location = self.with_folded(location, real)?;
        Ok(if self.folds_case { location.folding_case() } else { location })
    }

    fn with_folded(&self, location: Location, real: &Path) -> Result<Location, Trouble> {
        match fold::folded(real) {
            Some(folded) => location.also(&self.path, &folded).map_err(unfit),
            None => Ok(location),
        }
    }

    fn spelling<'a>(&self, path: &'a Path) -> Cow<'a, Path> {
        Cow::Owned(lexical(&self.path.join(path)))
    }
}

impl Object {
    pub(crate) fn here(handle: OwnedFd) -> Result<Self, Trouble> {
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Self::Here(Here { handle, stat }))
    }
}

/// The names below an object that several names lead to may be anywhere; directories have only one.
fn has_other_names(stat: &Stat) -> bool {
    stat.st_nlink > 1 && kind(stat) == FileType::RegularFile
}

fn check(path: &Path) -> Result<(), Trouble> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Err(Trouble::Empty);
    }
    if bytes.contains(&0) { Err(Trouble::Nul) } else { Ok(()) }
}

/// The workspace itself is `.` seen from within.
fn named(below: &Path) -> &Path {
    if below.as_os_str().is_empty() { Path::new(".") } else { below }
}

fn flags(last: Last) -> OFlags {
    match last {
        Last::Follow => PATH,
        Last::Keep => PATH | OFlags::NOFOLLOW,
    }
}

fn unfit(error: LocationError) -> Trouble {
    match error {
        LocationError::Nul => Trouble::Nul,
        LocationError::Relative | LocationError::Unresolved => Trouble::Gone,
    }
}
