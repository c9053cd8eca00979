//! Grants that change something: a file put in place of another at once, a name removed or moved.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};
use std::sync::Arc;

use policy::Location;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use rustix::path::DecInt;

use crate::grant::{Permit, Version};
use crate::handle::{PATH, kind, same};
use crate::resolve::{Found, Here, Missing, Object, Workspace};
use crate::trouble::Trouble;

/// A file that may be written, whether it exists or not.
#[derive(Debug)]
#[must_use]
pub struct Writable {
    permit: Permit,
    location: Location,
    place: Place,
    workspace: Arc<Workspace>,
}

#[derive(Debug)]
enum Place {
    /// In the place of a file that exists.
    Old(Entry, Here),
    /// Where nothing is yet; directories on the way may be missing, too.
    New(Missing),
}

/// A name in a directory.
#[derive(Debug)]
struct Entry {
    parent: OwnedFd,
    name: OsString,
}

/// A name that may be removed or moved.
#[derive(Debug)]
#[must_use]
pub struct Removable {
    permit: Permit,
    location: Location,
    entry: Entry,
    stat: Stat,
    workspace: Arc<Workspace>,
}

impl Writable {
    pub(crate) fn new(permit: Permit, found: Found, workspace: &Arc<Workspace>) -> Result<Self, Trouble> {
        let Found { location, object } = found;
        let place = match object {
            Object::Missing(missing) => Place::New(missing),
            Object::Here(here) => {
                match kind(&here.stat) {
                    FileType::RegularFile => {}
                    FileType::Directory => return Err(Trouble::IsADirectory),
                    _ => return Err(Trouble::Special),
                }
                may_be_written(workspace, &here)?;
                Place::Old(Entry::of(&location, &here.stat, workspace)?, here)
            }
        };
        Ok(Self { permit, location, place, workspace: Arc::clone(workspace) })
    }

    /// The proof that it is allowed.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Where it is or will be.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Whether there is a file already.
    #[must_use]
    pub fn exists(&self) -> bool {
        matches!(self.place, Place::Old(..))
    }

    /// The state the file is in now, if there is one.
    pub fn version(&self) -> Result<Option<Version>, Trouble> {
        match &self.place {
            Place::Old(_, here) => Ok(Some(Version::of(&rustix::fs::fstat(&here.handle)?))),
            Place::New(_) => Ok(None),
        }
    }

    /// Puts a new file in its place, with the mode of the old one. Whoever looks sees all of the old or all of the new. Directories on
    /// the way are made.
    pub fn replace(self, content: &[u8]) -> Result<(), Trouble> {
        let Self { location, place, workspace, .. } = self;
        let (entry, old) = match place {
            Place::Old(entry, here) => (entry, Some(here.stat)),
            Place::New(missing) => (Entry::make(missing, &location, &workspace)?, None),
        };
        entry.is_still(&location, &workspace)?;
        let staged = Staged::new(&entry.parent, old.as_ref())?;
        staged.write(content, old.as_ref())?;
        match old {
            None => staged.appear(&entry, &workspace),
            Some(old) => {
                entry.is_still_called(&old)?;
                staged.take_place(&entry, &workspace)
            }
        }
    }
}

impl Removable {
    pub(crate) fn new(
        permit: Permit,
        (found, path): (Found, &Path),
        workspace: &Arc<Workspace>,
    ) -> Result<Self, Trouble> {
        if !ends_in_name(path) {
            return Err(Trouble::NoName);
        }
        let Object::Here(Here { stat, .. }) = found.object else { return Err(Trouble::NotFound) };
        let entry = Entry::of(&found.location, &stat, workspace)?;
        Ok(Self { permit, location: found.location, entry, stat, workspace: Arc::clone(workspace) })
    }

    /// The proof that it is allowed.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Where it is.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Removes the name. A link is removed, not what it leads to; a directory has to be empty.
    pub fn remove(self) -> Result<(), Trouble> {
        self.entry.is_still(&self.location, &self.workspace)?;
        self.entry.is_still_called(&self.stat)?;
        let directory = kind(&self.stat) == FileType::Directory;
        let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(rustix::fs::unlinkat(&self.entry.parent, &self.entry.name, flags)?)
    }

    /// Moves a file to where another may be written. Directories are not moved: what is in them was not judged at its new place.
    pub fn move_to(self, to: Writable) -> Result<(), Trouble> {
        if kind(&self.stat) == FileType::Directory {
            return Err(Trouble::IsADirectory);
        }
        let (entry, replaces) = match to.place {
            Place::Old(entry, _) => (entry, true),
            Place::New(missing) => (Entry::make(missing, &to.location, &to.workspace)?, false),
        };
        entry.is_still(&to.location, &to.workspace)?;
        self.entry.is_still(&self.location, &self.workspace)?;
        self.entry.is_still_called(&self.stat)?;
        if !replaces {
            return entry.becomes(&self.entry.parent, &self.entry.name);
        }
        Ok(rustix::fs::renameat(&self.entry.parent, &self.entry.name, &entry.parent, &entry.name)?)
    }
}

/// A file that is put in place of another must not get around that the other is read-only.
fn may_be_written(workspace: &Workspace, here: &Here) -> Result<(), Trouble> {
    match workspace.handles.open(&here.handle, OFlags::WRONLY) {
        // A program that runs cannot be written, and can be replaced.
        Ok(_) | Err(Trouble::System(Errno::TXTBSY)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

impl Entry {
    /// The name that leads to an object, by the place that was judged.
    fn of(location: &Location, stat: &Stat, workspace: &Workspace) -> Result<Self, Trouble> {
        let (parent, name) = split(location)?;
        let entry = Self { parent: workspace.known(parent)?, name: name.to_owned() };
        entry.is_still(location, workspace)?;
        entry.is_still_called(stat)?;
        Ok(entry)
    }

    /// Makes the directories on the way. Whoever puts a link in the way meets an error.
    fn make(missing: Missing, location: &Location, workspace: &Workspace) -> Result<Self, Trouble> {
        let Missing { mut parent, mut rest } = missing;
        // Nothing is made in a directory that was moved away.
        let mut expected = workspace.handles.name(&parent)?;
        expected.extend(&rest);
        if expected != location.path() {
            return Err(Trouble::Changed);
        }
        let name = rest.pop().ok_or(Trouble::NoName)?;
        for directory in rest {
            match rustix::fs::mkdirat(&parent, &*directory, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            let flags = PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY;
            parent = rustix::fs::openat(&parent, &*directory, flags, Mode::empty())?;
        }
        Ok(Self { parent, name })
    }

    /// Moves a name here, where nothing has been so far. Where the file system cannot do that in one step, the file has both names for
    /// a moment.
    fn becomes(&self, parent: &OwnedFd, name: &OsStr) -> Result<(), Trouble> {
        match rustix::fs::renameat_with(parent, name, &self.parent, &self.name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                rustix::fs::linkat(parent, name, &self.parent, &self.name, AtFlags::empty())
                    .map_err(taken)?;
                Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
            }
            other => other.map_err(taken),
        }
    }

    /// Whether the directory is where it was when the place was judged.
    fn is_still(&self, location: &Location, workspace: &Workspace) -> Result<(), Trouble> {
        let (parent, _) = split(location)?;
        if workspace.handles.name(&self.parent)? == parent { Ok(()) } else { Err(Trouble::Changed) }
    }

    /// Whether the name still leads to the object.
    fn is_still_called(&self, stat: &Stat) -> Result<(), Trouble> {
        match rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(now) if same(&now, stat) => Ok(()),
            Ok(_) | Err(Errno::NOENT) => Err(Trouble::Changed),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// A new file that nobody sees yet.
struct Staged<'a> {
    parent: &'a OwnedFd,
    file: File,
    /// A name it has already, on file systems that know no files without one.
    name: Option<Scratch<'a>>,
}

/// A name for a moment.
struct Scratch<'a> {
    parent: &'a OwnedFd,
    name: OsString,
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // It is gone already when it has been renamed.
        let _gone = rustix::fs::unlinkat(self.parent, &self.name, AtFlags::empty());
    }
}

impl<'a> Staged<'a> {
    fn new(parent: &'a OwnedFd, old: Option<&Stat>) -> Result<Self, Trouble> {
        // What replaces a file is nobody else's until it has the old one's mode.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(parent, ".", flags | OFlags::TMPFILE, mode) {
            Ok(file) => return Ok(Self { parent, file: File::from(file), name: None }),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let name = scratch_name();
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(parent, &*name, flags, mode)?;
        Ok(Self { parent, file: File::from(file), name: Some(Scratch { parent, name }) })
    }

    fn write(&self, content: &[u8], old: Option<&Stat>) -> Result<(), Trouble> {
        (&self.file).write_all(content).map_err(|error| from_io(&error))?;
        let Some(old) = old else { return Ok(()) };
        let ours = rustix::fs::fstat(&self.file)?;
        if (ours.st_uid, ours.st_gid) != (old.st_uid, old.st_gid) {
            let owner = Some(rustix::fs::Uid::from_raw(old.st_uid));
            let group = Some(rustix::fs::Gid::from_raw(old.st_gid));
            // Only root gives files away. Who else may write a file of somebody else makes it his own, as editors do.
            let kept = rustix::fs::fchown(&self.file, owner, group);
            kept.or_else(|_| rustix::fs::fchown(&self.file, None, group)).or_else(not_permitted)?;
        }
        // A program that changed does not keep the rights that it was given as another.
        Ok(rustix::fs::fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o1777))?)
    }

    /// Gets its name, if nothing has it meanwhile.
    fn appear(self, entry: &Entry, workspace: &Workspace) -> Result<(), Trouble> {
        match &self.name {
            None => self.link(&entry.name, workspace),
            Some(scratch) => entry.becomes(self.parent, &scratch.name),
        }
    }

    /// Takes the name of the old one.
    fn take_place(mut self, entry: &Entry, workspace: &Workspace) -> Result<(), Trouble> {
        let scratch = if let Some(scratch) = self.name.take() {
            scratch
        } else {
            let name = scratch_name();
            self.link(&name, workspace)?;
            Scratch { parent: self.parent, name }
        };
        Ok(rustix::fs::renameat(self.parent, &scratch.name, &entry.parent, &entry.name)?)
    }

    fn link(&self, name: &OsStr, workspace: &Workspace) -> Result<(), Trouble> {
        let number = DecInt::from_fd(self.file.as_fd());
        let ours = workspace.handles.ours()?;
        rustix::fs::linkat(ours, number, self.parent, name, AtFlags::SYMLINK_FOLLOW).map_err(taken)
    }
}

fn scratch_name() -> OsString {
    OsString::from(format!(".ringfence-{:016x}", RandomState::new().hash_one(std::process::id())))
}

fn split(location: &Location) -> Result<(&Path, &OsStr), Trouble> {
    let path = location.path();
    path.parent().zip(path.file_name()).ok_or(Trouble::NoName)
}

fn ends_in_name(path: &Path) -> bool {
    let plain = matches!(path.components().next_back(), Some(Component::Normal(_)));
    let bytes = path.as_os_str().as_encoded_bytes();
    plain && !bytes.ends_with(b"/") && !bytes.ends_with(b"/.")
}

fn taken(errno: Errno) -> Trouble {
    if errno == Errno::EXIST { Trouble::Changed } else { errno.into() }
}

fn not_permitted(errno: Errno) -> Result<(), Errno> {
    if errno == Errno::PERM { Ok(()) } else { Err(errno) }
}

fn from_io(error: &std::io::Error) -> Trouble {
    Errno::from_io_error(error).map_or(Trouble::System(Errno::IO), Trouble::from)
}
