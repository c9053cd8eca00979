//! Grants that change something: a file put in place of another at once, a name removed or moved.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::sync::Arc;

use policy::Location;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::attributes::Like;
use crate::grant::{Permit, ReadableFile, Version};
use crate::handle::{give_to_owner, kind, same};
use crate::resolve::{Found, Here, Missing, Object, Workspace};
use crate::stage::{StagedFile, Unnamed};
use crate::sys::{self, PATH};
use crate::trouble::Trouble;
use crate::undo::{Undo, Way};

/// A file that may be written, whether it exists or not.
#[derive(Debug)]
#[must_use]
pub struct Writable {
    pub(crate) permit: Permit,
    pub(crate) location: Location,
    pub(crate) place: Place,
    pub(crate) workspace: Arc<Workspace>,
}

#[derive(Debug)]
pub(crate) enum Place {
    /// In the place of a file that exists.
    Old(Entry, Here),
    /// Nothing exists yet; directories on the way may be missing, too.
    New(Missing),
}

/// A name in a directory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) parent: OwnedFd,
    pub(crate) name: OsString,
}

/// Directories that were made on the way to a name.
#[derive(Debug)]
pub(crate) struct Made(Vec<(OwnedFd, OsString)>);

/// A name that may be removed or moved.
#[derive(Debug)]
#[must_use]
pub struct Removable {
    permit: Permit,
    location: Location,
    may_be_read: bool,
    entry: Entry,
    here: Here,
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

    /// Returns its present or future location.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns true if there is a file already.
    #[must_use]
    pub fn exists(&self) -> bool {
        matches!(self.place, Place::Old(..))
    }

    /// The state the file is in now, if there is one.
    pub fn version(&self) -> Result<Option<Version>, Trouble> {
        self.place.version()
    }

    /// Replaces the file, with the mode and the attributes of the old one. A reader sees all of the old or all of the new.
    /// Directories on the way are made.
    pub fn replace(self, content: &[u8]) -> Result<(), Trouble> {
        self.stage(content)?.put().map(drop)
    }

    /// Writes the new file without giving it a name: no other process sees it before it is put in its place.
    pub fn stage(self, content: &[u8]) -> Result<StagedFile, Trouble> {
        let unnamed = self.unnamed(None)?;
        StagedFile::new(self, unnamed, content)
    }

    /// The same for a file that comes from elsewhere: where nothing is yet, it has the mode, the owner and the attributes of that one.
    pub fn stage_like(self, content: &[u8], other: &ReadableFile) -> Result<StagedFile, Trouble> {
        let unnamed = self.unnamed(Some(&other.here))?;
        StagedFile::new(self, unnamed, content)
    }

    fn unnamed(&self, like: Option<&Here>) -> Result<Unnamed, Trouble> {
        let (parent, levels, like) = match &self.place {
            Place::Old(entry, here) => (&entry.parent, 1, Some(here)),
            Place::New(missing) => (&missing.parent, missing.rest.len(), like),
        };
        let directory = self.location.path().ancestors().nth(levels).ok_or(Trouble::NoName)?;
        is_called(parent, directory, &self.workspace)?;
        let like = like.map(|here| Like::of(here, &self.workspace)).transpose()?;
        Unnamed::new(parent, like)
    }
}

impl Removable {
    pub(crate) fn new(
        permit: Permit,
        (found, path): (Found, &Path),
        may_be_read: bool,
        workspace: &Arc<Workspace>,
    ) -> Result<Self, Trouble> {
        if !ends_in_name(path) {
            return Err(Trouble::NoName);
        }
        let Object::Here(here) = found.object else { return Err(Trouble::NotFound) };
        let entry = Entry::of(&found.location, &here.stat, workspace)?;
        let (location, workspace) = (found.location, Arc::clone(workspace));
        Ok(Self { permit, location, may_be_read, entry, here, workspace })
    }

    /// The proof that it is allowed.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Returns its location.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns an error with its kind if it is no file.
    pub fn is_file(&self) -> Result<(), Trouble> {
        match kind(&self.here.stat) {
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(Trouble::IsADirectory),
            _ => Err(Trouble::Special),
        }
    }

    /// Removes the name. A link is removed, not what it leads to; a directory has to be empty.
    pub fn remove(self) -> Result<(), Trouble> {
        self.unlink()
    }

    /// Removes a file so that it can come back. Links and directories cannot.
    pub fn take_away(self) -> Result<Undo, Trouble> {
        self.is_file()?;
        self.unlink()?;
        let Self { location, entry, here, workspace, .. } = self;
        Ok(Undo { location, workspace, way: Way::Return(entry, here) })
    }

    /// Moves a file to where another may be written. Directories are not moved: what is in them was not judged at its new place.
    pub fn move_to(self, to: Writable) -> Result<(), Trouble> {
        self.take_to(to).map(drop)
    }

    /// Moves a file so that it can go back.
    pub fn take_to(self, to: Writable) -> Result<Undo, Trouble> {
        if !self.may_be_read {
            return Err(Trouble::MayNotBeRead);
        }
        if kind(&self.here.stat) == FileType::Directory {
            return Err(Trouble::IsADirectory);
        }
        let (entry, made, over) = match to.place {
            Place::Old(entry, here) => (entry, Made::nothing(), Some(here)),
            Place::New(missing) => {
                let (entry, made) = Entry::make(missing)?;
                (entry, made, None)
            }
        };
        let alone = to.workspace.alone();
        let moved = entry.is_still(&to.location, &to.workspace).and_then(|()| {
            self.is_still_there()?;
            let from = (&self.entry.parent, &*self.entry.name);
            if over.is_none() {
                return entry.becomes(from.0, from.1);
            }
            Ok(rustix::fs::renameat(from.0, from.1, &entry.parent, &entry.name)?)
        });
        if let Err(trouble) = moved {
            made.take_back();
            return Err(trouble);
        }
        drop(alone);
        let from = (self.entry, self.location);
        let way = Way::Back { from, stat: self.here.stat, to: entry, made, over };
        Ok(Undo { location: to.location, workspace: to.workspace, way })
    }

    fn unlink(&self) -> Result<(), Trouble> {
        let _alone = self.workspace.alone();
        self.is_still_there()?;
        let directory = kind(&self.here.stat) == FileType::Directory;
        let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(rustix::fs::unlinkat(&self.entry.parent, &self.entry.name, flags)?)
    }

    fn is_still_there(&self) -> Result<(), Trouble> {
        self.entry.is_still(&self.location, &self.workspace)?;
        self.entry.is_still_called(&self.here.stat)
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

impl Place {
    pub(crate) fn version(&self) -> Result<Option<Version>, Trouble> {
        match self {
            Self::Old(_, here) => Ok(Some(Version::of(&rustix::fs::fstat(&here.handle)?))),
            Self::New(_) => Ok(None),
        }
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

    /// Makes the directories on the way. A link that is put in the way is an error.
    pub(crate) fn make(missing: Missing) -> Result<(Self, Made), Trouble> {
        let Missing { parent, mut rest } = missing;
        let name = rest.pop().ok_or(Trouble::NoName)?;
        let mut made = Made::nothing();
        match made.all(parent, rest) {
            Ok(parent) => Ok((Self { parent, name }, made)),
            Err(errno) => {
                made.take_back();
                Err(errno.into())
            }
        }
    }

    /// Moves a name here, where nothing has been so far. Where the file system cannot do that in one step, the file has both names for
    /// a moment.
    pub(crate) fn becomes(&self, parent: &OwnedFd, name: &OsStr) -> Result<(), Trouble> {
        match rustix::fs::renameat_with(parent, name, &self.parent, &self.name, RenameFlags::NOREPLACE) {
            Err(errno) if sys::is_unknown(errno) => {
                rustix::fs::linkat(parent, name, &self.parent, &self.name, AtFlags::empty())
                    .map_err(taken)?;
                Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
            }
            other => other.map_err(taken),
        }
    }

    /// Checks that the directory is at the location that was judged.
    pub(crate) fn is_still(&self, location: &Location, workspace: &Workspace) -> Result<(), Trouble> {
        is_called(&self.parent, split(location)?.0, workspace)
    }

    /// Checks that the name still leads to the object.
    pub(crate) fn is_still_called(&self, stat: &Stat) -> Result<(), Trouble> {
        match rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(now) if same(&now, stat) => Ok(()),
            Ok(_) | Err(Errno::NOENT) => Err(Trouble::Changed),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Made {
    pub(crate) fn nothing() -> Self {
        Self(Vec::new())
    }

    fn all(&mut self, mut parent: OwnedFd, names: Vec<OsString>) -> Result<OwnedFd, Errno> {
        for name in names {
            let made = match rustix::fs::mkdirat(&parent, &*name, Mode::from_raw_mode(0o777)) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(errno) => return Err(errno),
            };
            let flags = PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY;
            let next = rustix::fs::openat(&parent, &*name, flags, Mode::empty());
            if made {
                self.0.push((rustix::io::fcntl_dupfd_cloexec(&parent, 0)?, name));
            }
            let next = next?;
            if made {
                give_to_owner(&parent, &next)?;
            }
            parent = next;
        }
        Ok(parent)
    }

    /// Removes them again. One that is used by now stays, and so do those around it.
    pub(crate) fn take_back(self) {
        for (parent, name) in self.0.into_iter().rev() {
            if rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }
}

/// Checks that a directory is at the location that was judged.
fn is_called(directory: &OwnedFd, path: &Path, workspace: &Workspace) -> Result<(), Trouble> {
    if workspace.handles.name(directory)? == path { Ok(()) } else { Err(Trouble::Changed) }
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

pub(crate) fn taken(errno: Errno) -> Trouble {
    if errno == Errno::EXIST { Trouble::Changed } else { errno.into() }
}
