//! A path -> the object it leads to, by handle, and every name it is judged by.
//!
//! The usual path has no link in it: one call of the kernel looks it up beneath the workspace and vouches for the name. A path
//! with links is followed, and the kernel is asked what it calls the object that was found. What does not exist is looked up step
//! by step, as far as it does. Nothing here creates, truncates or opens anything.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use policy::{Location, LocationError, lexical};
use rustix::fs::{CWD, FileType, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::fold;
use crate::handle::{Handles, PATH, kind, look, same, straight};
use crate::steps;
use crate::trouble::Trouble;

/// The directory that relative paths start from, by handle.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) handle: OwnedFd,
    /// Its real path.
    pub(crate) path: PathBuf,
    pub(crate) handles: Handles,
    /// The file system it is on.
    system: u64,
    /// Whether names that differ in case alone are one name there.
    folds_case: bool,
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
        check(path)?;
        let handle = directory(path)?;
        let path = handles.name(&handle)?;
        let folds_case = fold::folds_case(&handles, &handle)?;
        let system = rustix::fs::fstat(&handle)?.st_dev;
        Ok(Self { handle, path, handles, system, folds_case })
    }

    /// Finds what a path leads to.
    pub(crate) fn find(&self, written: Written<'_>, last: Last) -> Result<Found, Trouble> {
        check(written.path)?;
        let path = self.seen_from_within(written.path);
        let found = if path.is_absolute() { self.anywhere(path, last) } else { self.beneath(path, last) };
        let (real, object) = match found {
            Err(Trouble::System(Errno::NOSYS)) => self.step_by_step(path, last),
            other => other,
        }?;
        let location = self.location(&real, written, self.folds(&real, &object)?)?;
        let location = match &object {
            Object::Here(here) if last == Last::Follow && has_other_names(&here.stat) => location.shared(),
            _ => location,
        };
        Ok(Found { location, object })
    }

    /// The place that a path names by its spelling alone, where nothing better can be known.
    pub(crate) fn spelled(&self, written: Written<'_>) -> Result<Location, Trouble> {
        check(written.path)?;
        self.location(&lexical(&self.path.join(written.path)), written, self.folds_case)
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
            Ok(handle) => Ok((self.name(&handle)?, Object::here(handle)?)),
            Err(Errno::XDEV | Errno::LOOP) => self.anywhere(path, last),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Wherever it leads: the policy decides by the name of what is found there.
    fn anywhere(&self, path: &Path, last: Last) -> Result<(PathBuf, Object), Trouble> {
        match look(&self.handle, path, flags(last), ResolveFlags::NO_MAGICLINKS) {
            Ok(handle) => Ok((self.name(&handle)?, Object::here(handle)?)),
            Err(Errno::NOENT) => self.step_by_step(path, last),
            Err(Errno::LOOP) => Err(circle_or_magic(&self.handle, path, flags(last))),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Where the kernel cannot do it in one call, and where the path ends before it is walked to its end.
    pub(crate) fn step_by_step(&self, path: &Path, last: Last) -> Result<(PathBuf, Object), Trouble> {
        let object = steps::walk(&self.handle, path, last)?;
        let real = match &object {
            Object::Here(here) => self.name(&here.handle)?,
            Object::Missing(missing) => {
                let mut real = self.name(&missing.parent)?;
                real.extend(&missing.rest);
                real
            }
        };
        Ok((real, object))
    }

    /// What the kernel calls an object. That is not believed before the name leads to it: another directory may have been put, or
    /// mounted, where the workspace was, and even a step back from within leads into it; and what is out of our sight has names, too.
    fn name(&self, object: &OwnedFd) -> Result<PathBuf, Trouble> {
        let real = self.handles.name(object)?;
        let named = rustix::fs::fstat(self.known(&real)?)?;
        if same(&named, &rustix::fs::fstat(object)?) { Ok(real) } else { Err(Trouble::Changed) }
    }

    /// Looks a real name up once more, from within if it is in the workspace.
    pub(crate) fn known(&self, real: &Path) -> Result<OwnedFd, Trouble> {
        straight(&self.handle, self.seen_from_within(real)).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Trouble::Changed,
            other => other.into(),
        })
    }

    fn below(&self, path: &Path) -> PathBuf {
        let mut real = self.path.clone();
        real.extend(path.components().filter(|part| *part != Component::CurDir));
        real
    }

    /// The location with every name: the real one, the one that was written, and how they look in other forms.
    fn location(&self, real: &Path, written: Written<'_>, folds: bool) -> Result<Location, Trouble> {
        let mut location = self.entry(real, folds)?;
        let spelled = self.spelling(written.path);
        if *spelled != *real {
            location = location.also(&self.path, &spelled).map_err(unfit)?;
            location = self.with_forms(location, &spelled)?;
        }
        Ok(if written.absolute { location.spelled_absolute() } else { location })
    }

    /// What an entry of a directory is called, whose own name is known.
    pub(crate) fn entry(&self, real: &Path, folds: bool) -> Result<Location, Trouble> {
        let location = Location::new(&self.path, real).map_err(unfit)?;
        let location = self.with_forms(location, real)?;
        Ok(if folds { location.folding_case() } else { location })
    }

    fn with_forms(&self, location: Location, path: &Path) -> Result<Location, Trouble> {
        // The workspace keeps its name: it is what the rest is below of.
        let below = path.strip_prefix(&self.path);
        let forms = fold::forms(below.unwrap_or(path)).into_iter();
        let also = |location: Location, form: PathBuf| location.also(&self.path, &self.path.join(form));
        forms.into_iter().try_fold(location, also).map_err(unfit)
    }

    /// Whether case counts for an object: other file systems may be mounted in the workspace, and each is asked itself.
    fn folds(&self, real: &Path, object: &Object) -> Result<bool, Trouble> {
        match object {
            Object::Here(here) if here.stat.st_dev == self.system => Ok(self.folds_case),
            Object::Here(here) if kind(&here.stat) == FileType::Directory => self.folds_in(&here.handle),
            Object::Here(_) => self.folds_in(&self.known(real.parent().unwrap_or(real))?),
            Object::Missing(missing) => self.folds_in(&missing.parent),
        }
    }

    /// Whether case counts in a directory.
    pub(crate) fn folds_in(&self, directory: &OwnedFd) -> Result<bool, Trouble> {
        let ours = rustix::fs::fstat(directory)?.st_dev == self.system;
        if ours { Ok(self.folds_case) } else { fold::folds_case(&self.handles, directory) }
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

/// Opens a directory that a path leads to, by any links but those of the kernel.
fn directory(path: &Path) -> Result<OwnedFd, Trouble> {
    let flags = PATH | OFlags::DIRECTORY;
    match look(CWD, path, flags, ResolveFlags::NO_MAGICLINKS) {
        Err(Errno::NOSYS) => match steps::walk(CWD, path, Last::Follow)? {
            Object::Here(here) if kind(&here.stat) == FileType::Directory => Ok(here.handle),
            Object::Here(_) => Err(Trouble::NotADirectory),
            Object::Missing(_) => Err(Trouble::NotFound),
        },
        Err(Errno::LOOP) => Err(circle_or_magic(CWD, path, flags)),
        other => Ok(other?),
    }
}

/// Links that are none, or too many of them: without the restriction, only the latter are still in the way.
fn circle_or_magic(from: impl AsFd, path: &Path, flags: OFlags) -> Trouble {
    match look(from, path, flags, ResolveFlags::empty()) {
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
