//! A path -> the object it leads to, by handle, and every name it is judged by.
//!
//! The usual path has no link in it: one call of the kernel looks it up beneath the workspace and vouches for the name. A path
//! with links is followed, and the kernel is asked what it calls the object that was found. What does not exist is looked up step
//! by step, as far as it does. Nothing here creates or truncates anything, and where the system knows handles without
//! opening, nothing is opened.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use policy::{Location, LocationError, lexical};
use rustix::fs::{CWD, Dev, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::directory::EntryKind;
use crate::fold;
use crate::handle::{QUIET, kind, same, straight};
use crate::steps;
use crate::sys::{Along, Handles, PATH, look};
use crate::trouble::Trouble;

/// The directory that relative paths start from, by handle.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) handle: OwnedFd,
    /// Its real path.
    pub(crate) path: PathBuf,
    pub(crate) handles: Handles,
    /// The file system it is on.
    system: Dev,
    /// True if names that differ in case alone are one name there.
    folds_case: bool,
    changes: Mutex<()>,
}

/// Treatment of a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// The object is what it leads to.
    Follow,
    /// The object is the link.
    Keep,
}

/// A path as it was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) path: &'a Path,
    /// True if it was written from the root; a path that was only completed was not.
    pub(crate) absolute: bool,
}

/// Object that a path leads to.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) location: Location,
    pub(crate) object: Object,
}

/// An object, and what it is called.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) real: PathBuf,
    pub(crate) object: Object,
    /// True if the path was its name already.
    straight: bool,
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

impl Workspace {
    /// Opens a directory to work in.
    pub(crate) fn open(path: &Path) -> Result<Self, Trouble> {
        let handles = Handles::find()?;
        check(path)?;
        let handle = directory(path)?;
        let path = handles.name(&handle)?;
        let folds_case = fold::folds_case(&handles, &handle)?;
        let system = rustix::fs::fstat(&handle)?.st_dev;
        Ok(Self { handle, path, handles, system, folds_case, changes: Mutex::new(()) })
    }

    /// While this is held, no other tool of the session changes a name: what was looked at is what is changed.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds what a path leads to.
    pub(crate) fn find(&self, written: Written<'_>, last: Last) -> Result<Found, Trouble> {
        check(written.path)?;
        let path = self.seen_from_within(written.path);
        let found = if path.is_absolute() { self.anywhere(path, last) } else { self.beneath(path, last) };
        let Resolved { real, object, straight } = match found {
            Err(Trouble::System(Errno::NOSYS)) => self.step_by_step(path, last),
            other => other,
        }?;
        let folds = self.folds(&real, &object)?;
        let location =
            if straight { self.entry(&real, folds)? } else { self.location(&real, written, folds)? };
        let location = if written.absolute { location.spelled_absolute() } else { location };
        let location = match &object {
            Object::Here(here) if last == Last::Follow && has_other_names(&here.stat) => location.shared(),
            _ => location,
        };
        Ok(Found { location, object })
    }

    /// Opens an object for reading.
    ///
    /// Opening it by its handle leads through `/proc`, which takes longer than all the rest. Its name is tried first, and what comes of it
    /// counts only if it is the object that was judged.
    pub(crate) fn open_to_read(&self, location: &Location, here: &Here) -> Result<OwnedFd, Trouble> {
        let below = self.seen_from_within(location.path());
        if !below.is_absolute()
            && let Ok(file) = look(&self.handle, below, OFlags::RDONLY | QUIET, Along::NamesBeneath)
            && same(&rustix::fs::fstat(&file)?, &here.stat)
        {
            return Ok(file);
        }
        self.handles.open(&here.handle, OFlags::RDONLY)
    }

    /// The place that a path names by its spelling alone, where nothing better can be known.
    pub(crate) fn spelled(&self, written: Written<'_>) -> Result<Location, Trouble> {
        check(written.path)?;
        let spelled = lexical(&self.path.join(written.path));
        let location = self.location(&spelled, written, self.folds_case)?;
        Ok(if written.absolute { location.spelled_absolute() } else { location })
    }

    /// A path that is written from the root through the workspace, as it is seen from within. The rest of it stays as it is.
    fn seen_from_within<'a>(&self, path: &'a Path) -> &'a Path {
        let bytes = path.as_os_str().as_bytes();
        let workspace = self.path.as_os_str().as_bytes();
        let rest = bytes.strip_prefix(workspace.strip_suffix(b"/").unwrap_or(workspace));
        let Some(rest @ ([] | [b'/', ..])) = rest else { return path };
        let slashes = rest.iter().take_while(|byte| **byte == b'/').count();
        let rest = OsStr::from_bytes(&rest[slashes..]);
        // The workspace itself is `.` seen from within.
        Path::new(if rest.is_empty() { OsStr::new(".") } else { rest })
    }

    /// Beneath the workspace. The kernel vouches for the name if there is no link in it.
    fn beneath(&self, path: &Path, last: Last) -> Result<Resolved, Trouble> {
        // A step back may step back over a link.
        if path.components().any(|part| part == Component::ParentDir) {
            return self.through_links(path, last);
        }
        match look(&self.handle, path, flags(last), Along::NamesBeneath) {
            Ok(handle) => {
                Ok(Resolved { real: self.below(path), object: Object::here(handle)?, straight: true })
            }
            Err(Errno::LOOP) => self.through_links(path, last),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(errno) => Err(errno.into()),
        }
    }

    fn through_links(&self, path: &Path, last: Last) -> Result<Resolved, Trouble> {
        match look(&self.handle, path, flags(last), Along::LinksBeneath) {
            Ok(handle) => self.called(handle),
            Err(Errno::XDEV | Errno::LOOP) => self.anywhere(path, last),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Looks a path up without bounds: the policy decides by the name of the object found.
    fn anywhere(&self, path: &Path, last: Last) -> Result<Resolved, Trouble> {
        match look(&self.handle, path, flags(last), Along::Links) {
            Ok(handle) => self.called(handle),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(Errno::LOOP) => Err(circle_or_magic(&self.handle, path, flags(last))),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Looks a path up step by step: if the kernel cannot do it in one call, or the path ends early.
    pub(crate) fn step_by_step(&self, path: &Path, last: Last) -> Result<Resolved, Trouble> {
        let object = steps::walk(&self.handle, path, last)?;
        let real = match &object {
            Object::Here(here) => self.name(&here.handle)?,
            Object::Missing(missing) => {
                let mut real = self.name(&missing.parent)?;
                real.extend(&missing.rest);
                real
            }
        };
        Ok(Resolved { real, object, straight: false })
    }

    /// Returns the object under the kernel's name for it.
    fn called(&self, handle: OwnedFd) -> Result<Resolved, Trouble> {
        Ok(Resolved { real: self.name(&handle)?, object: Object::here(handle)?, straight: false })
    }

    /// Returns the kernel's name of an object. It is not believed before the name leads to it: another directory may have
    /// been put, or mounted, where the workspace was, and even a step back from within leads into it; and what is out of
    /// our sight has names, too.
    fn name(&self, object: &OwnedFd) -> Result<PathBuf, Trouble> {
        let real = self.handles.name(object)?;
        let named = rustix::fs::fstat(self.known(&real)?)?;
        if same(&named, &rustix::fs::fstat(object)?) { Ok(real) } else { Err(Trouble::Changed) }
    }

    /// Looks a real name up once more, from within if it is in the workspace.
    pub(crate) fn known(&self, real: &Path) -> Result<OwnedFd, Trouble> {
        straight(&self.handle, self.seen_from_within(real)).map_err(|trouble| match trouble {
            Trouble::NotFound | Trouble::NotADirectory | Trouble::Loop => Trouble::Changed,
            other => other,
        })
    }

    fn below(&self, path: &Path) -> PathBuf {
        let mut real = self.path.clone();
        real.extend(path.components().filter(|part| *part != Component::CurDir));
        real
    }

    /// The location with every name: the real one, the one that was written, and how they look in other forms.
    fn location(&self, real: &Path, written: Written<'_>, folds: bool) -> Result<Location, Trouble> {
        let location = self.entry(real, folds)?;
        let spelled = lexical(&self.path.join(written.path));
        if spelled == real {
            return Ok(location);
        }
        let location = location.also(&self.path, &spelled).map_err(unfit)?;
        self.with_forms(location, &spelled)
    }

    /// The location of something that no other name was used for.
    pub(crate) fn entry(&self, real: &Path, folds: bool) -> Result<Location, Trouble> {
        let location = Location::new(&self.path, real).map_err(unfit)?;
        let location = self.with_forms(location, real)?;
        Ok(if folds { location.folding_case() } else { location })
    }

    pub(crate) fn with_forms(&self, location: Location, path: &Path) -> Result<Location, Trouble> {
        // The workspace keeps its name: it is what the rest is below of.
        let below = path.strip_prefix(&self.path);
        let forms = fold::forms(below.unwrap_or(path));
        let also = |location: Location, form: PathBuf| location.also(&self.path, &self.path.join(form));
        forms.into_iter().try_fold(location, also).map_err(unfit)
    }

    /// Returns true if case is ignored for an object: other file systems may be mounted in the workspace, and each is asked
    /// itself.
    fn folds(&self, real: &Path, object: &Object) -> Result<bool, Trouble> {
        match object {
            Object::Here(here) if here.stat.st_dev == self.system => Ok(self.folds_case),
            Object::Here(here) if kind(&here.stat) == FileType::Directory => self.folds_in(&here.handle),
            Object::Here(_) => self.folds_in(&self.known(real.parent().unwrap_or(real))?),
            Object::Missing(missing) => self.folds_in(&missing.parent),
        }
    }

    /// Returns true if case is ignored in a directory.
    pub(crate) fn folds_in(&self, directory: &OwnedFd) -> Result<bool, Trouble> {
        let ours = rustix::fs::fstat(directory)?.st_dev == self.system;
        if ours { Ok(self.folds_case) } else { fold::folds_case(&self.handles, directory) }
    }
}

impl Object {
    /// Returns its kind, if it exists.
    pub(crate) fn kind(&self) -> Option<EntryKind> {
        match self {
            Self::Here(here) => Some(kind(&here.stat).into()),
            Self::Missing(_) => None,
        }
    }

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

/// Opens a directory that a path leads to, by any links but those of the kernel.
fn directory(path: &Path) -> Result<OwnedFd, Trouble> {
    let flags = PATH | OFlags::DIRECTORY;
    match look(CWD, path, flags, Along::Links) {
        Err(Errno::NOSYS) => match steps::walk(from_here(path)?, path, Last::Follow)? {
            Object::Here(here) if kind(&here.stat) == FileType::Directory => Ok(here.handle),
            Object::Here(_) => Err(Trouble::NotADirectory),
            Object::Missing(_) => Err(Trouble::NotFound),
        },
        Err(Errno::LOOP) => Err(circle_or_magic(CWD, path, flags)),
        other => Ok(other?),
    }
}

/// Opens the start of a path that has none.
fn from_here(path: &Path) -> Result<OwnedFd, Errno> {
    let from = if path.is_absolute() { "/" } else { "." };
    rustix::fs::open(from, PATH | OFlags::DIRECTORY, Mode::empty())
}

/// Links that are none, or too many of them: without the restriction, only the latter are still in the way.
fn circle_or_magic(from: impl AsFd, path: &Path, flags: OFlags) -> Trouble {
    match look(from, path, flags, Along::Anything) {
        Err(Errno::LOOP) => Trouble::Loop,
        _ => Trouble::MagicLink,
    }
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
