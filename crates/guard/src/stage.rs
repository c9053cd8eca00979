//! A new file that no other process sees yet.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use policy::Location;
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::attributes::Like;
use crate::change::{Entry, Place, Writable};
use crate::grant::{Permit, Version};
use crate::handle::give_to_owner;
use crate::resolve::Workspace;
use crate::sys;
use crate::trouble::Trouble;
use crate::undo::{Undo, Way};

/// A file that is written and has no name yet. Dropped, it was never there.
#[derive(Debug)]
#[must_use]
pub struct StagedFile {
    permit: Permit,
    location: Location,
    place: Place,
    workspace: Arc<Workspace>,
    unnamed: Unnamed,
}

impl StagedFile {
    pub(crate) fn new(to: Writable, unnamed: Unnamed, content: &[u8]) -> Result<Self, Trouble> {
        unnamed.write(content)?;
        let Writable { permit, location, place, workspace } = to;
        Ok(Self { permit, location, place, workspace, unnamed })
    }

    /// The proof that it is allowed.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Returns its future location.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The state that the file is in now whose place it takes, if there is one.
    pub fn version(&self) -> Result<Option<Version>, Trouble> {
        self.place.version()
    }

    /// Puts it in its place. Directories on the way are made.
    pub fn put(self) -> Result<Undo, Trouble> {
        let Self { location, place, workspace, unnamed, .. } = self;
        let stat = unnamed.stat()?;
        let alone = workspace.alone();
        let way = match place {
            Place::Old(entry, here) => {
                entry.is_still(&location, &workspace)?;
                unnamed.take_place(&entry, &here.stat, &workspace)?;
                Way::Restore(entry, here, stat)
            }
            Place::New(missing) => {
                let (entry, made) = Entry::make(missing)?;
                let still = entry.is_still(&location, &workspace);
                if let Err(trouble) = still.and_then(|()| unnamed.appear(&entry, &workspace)) {
                    made.take_back();
                    return Err(trouble);
                }
                Way::Remove(entry, stat, made)
            }
        };
        drop(alone);
        Ok(Undo { location, workspace, way })
    }
}

/// A file without a name, in a directory.
#[derive(Debug)]
pub(crate) struct Unnamed {
    parent: OwnedFd,
    file: File,
    /// The one whose mode, owner and attributes it takes over.
    like: Option<Like>,
    /// A name it has already, on file systems that know no files without one.
    name: Option<Scratch>,
}

/// A name for a moment.
#[derive(Debug)]
struct Scratch {
    parent: OwnedFd,
    name: OsString,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is gone already when it has been renamed.
        let _gone = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::empty());
    }
}

impl Unnamed {
    pub(crate) fn new(parent: &OwnedFd, like: Option<Like>) -> Result<Self, Trouble> {
        let parent = rustix::io::fcntl_dupfd_cloexec(parent, 0)?;
        // The replacement of a file is private until it has the old one's mode.
        let mode = Mode::from_raw_mode(if like.is_some() { 0o600 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        if let Some(file) = sys::unnamed(&parent, flags, mode)? {
            return Ok(Self { parent, file: File::from(file), like, name: None });
        }
        let scratch = Scratch::new(&parent)?;
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&parent, &*scratch.name, flags, mode)?;
        Ok(Self { parent, file: File::from(file), like, name: Some(scratch) })
    }

    pub(crate) fn write(&self, mut content: impl Read) -> Result<(), Trouble> {
        let copied = io::copy(&mut content, &mut &self.file).and_then(|_| (&self.file).flush());
        copied.map_err(|error| from_io(&error))?;
        let Some(like) = &self.like else { return Ok(give_to_owner(&self.parent, &self.file)?) };
        let old = &like.stat;
        let ours = self.stat()?;
        if (ours.st_uid, ours.st_gid) != (old.st_uid, old.st_gid) {
            let owner = Some(rustix::fs::Uid::from_raw(old.st_uid));
            let group = Some(rustix::fs::Gid::from_raw(old.st_gid));
            // Only root gives files away. Any other user who may write the file of another owner becomes its owner, as with
            // editors.
            let kept = rustix::fs::fchown(&self.file, owner, group);
            kept.or_else(|_| rustix::fs::fchown(&self.file, None, group)).or_else(not_permitted)?;
        }
        like.give_to(&self.file)?;
        // A program that changed does not keep the rights that it was given as another.
        Ok(rustix::fs::fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o1777))?)
    }

    pub(crate) fn stat(&self) -> Result<Stat, Trouble> {
        Ok(rustix::fs::fstat(&self.file)?)
    }

    /// Gets its name, if nothing has it meanwhile.
    pub(crate) fn appear(self, entry: &Entry, workspace: &Workspace) -> Result<(), Trouble> {
        match &self.name {
            None => workspace.handles.link(&self.file, &entry.parent, &entry.name),
            Some(scratch) => entry.becomes(&scratch.parent, &scratch.name),
        }
    }

    /// Takes the name of the old one, if that still has it.
    pub(crate) fn take_place(
        mut self,
        entry: &Entry,
        old: &Stat,
        workspace: &Workspace,
    ) -> Result<(), Trouble> {
        let scratch = if let Some(scratch) = self.name.take() {
            scratch
        } else {
            let scratch = Scratch::new(&self.parent)?;
            workspace.handles.link(&self.file, &self.parent, &scratch.name)?;
            scratch
        };
        // Nothing stands between the last look and the change.
        entry.is_still_called(old)?;
        Ok(rustix::fs::renameat(&scratch.parent, &scratch.name, &entry.parent, &entry.name)?)
    }
}

impl Scratch {
    fn new(parent: &OwnedFd) -> Result<Self, Errno> {
        let name = format!(".ringfence-{:016x}", RandomState::new().hash_one(std::process::id()));
        Ok(Self { parent: rustix::io::fcntl_dupfd_cloexec(parent, 0)?, name: OsString::from(name) })
    }
}

fn not_permitted(errno: Errno) -> Result<(), Errno> {
    if errno == Errno::PERM { Ok(()) } else { Err(errno) }
}

fn from_io(error: &io::Error) -> Trouble {
    Errno::from_io_error(error).map_or(Trouble::System(Errno::IO), Trouble::from)
}
