//! Objects that a guard grants. Each holds the object that was judged, by its handle.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use policy::Location;
use rustix::fs::FileType;

use crate::directory::EntryMetadata;
use crate::handle::kind;
use crate::resolve::{Found, Here, Object, Workspace};
use crate::trouble::Trouble;

/// The proof that something is allowed which the guard does not do itself.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    id: String,
}

impl Permit {
    pub(crate) fn new(id: String) -> Self {
        Self { id }
    }

    /// The same in all records about the request.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// A file or directory that may be read.
#[derive(Debug)]
#[must_use]
pub struct ReadableFile {
    permit: Permit,
    pub(crate) location: Location,
    pub(crate) here: Here,
    pub(crate) workspace: Arc<Workspace>,
}

/// Identity of an object of the file system, independent of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectId {
    device: u64,
    inode: u64,
}

/// A state of a file. Two that are equal are about the same file, unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    object: (u64, u64),
    size: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl ReadableFile {
    pub(crate) fn new(permit: Permit, found: Found, workspace: &Arc<Workspace>) -> Result<Self, Trouble> {
        let Object::Here(here) = found.object else { return Err(Trouble::NotFound) };
        match kind(&here.stat) {
            FileType::RegularFile | FileType::Directory => {
                Ok(Self { permit, location: found.location, here, workspace: Arc::clone(workspace) })
            }
            _ => Err(Trouble::Special),
        }
    }

    /// The proof that it may be read.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Returns its location.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns true if it is a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        kind(&self.here.stat) == FileType::Directory
    }

    /// Returns its length when it was looked up.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.here.stat.st_size).unwrap_or(0)
    }

    /// Returns its metadata from when it was looked up.
    #[must_use]
    pub fn look(&self) -> EntryMetadata {
        EntryMetadata::of(&self.here.stat)
    }

    /// Opens it: the object that was judged, even if its name leads to another by now.
    pub fn file(&self) -> Result<File, Trouble> {
        if self.is_directory() {
            return Err(Trouble::IsADirectory);
        }
        self.workspace.open_to_read(&self.location, &self.here).map(File::from)
    }

    /// Which object it is.
    #[must_use]
    pub fn object(&self) -> ObjectId {
        ObjectId::of(&self.here.stat)
    }

    /// The state it is in now.
    pub fn version(&self) -> Result<Version, Trouble> {
        Ok(Version::of(&rustix::fs::fstat(&self.here.handle)?))
    }
}

impl ObjectId {
    /// The object that a path leads to now.
    pub fn at(path: &Path) -> Result<Self, Trouble> {
        Ok(Self::of(&rustix::fs::stat(path)?))
    }

    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between systems"
    )]
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}

impl Version {
    /// The state of what a path leads to now.
    pub fn at(path: &Path) -> Result<Self, Trouble> {
        Ok(Self::of(&rustix::fs::stat(path)?))
    }

    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between systems"
    )]
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Self {
        Self {
            object: (stat.st_dev as u64, stat.st_ino as u64),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        }
    }
}
