//! Looking through directories: what the policy does not let the tool read is not there.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::{Chain, Decision, Location, Request, Want};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::grant::Opened;
use crate::guard::Guard;
use crate::handle::kind;
use crate::trouble::Trouble;

/// A directory that is looked through, by handle. Cheap to clone.
#[derive(Clone)]
pub struct Directory(Arc<Inner>);

struct Inner {
    guard: Guard,
    /// The policy when the first directory was opened: one walk, one policy.
    chain: Arc<Chain>,
    handle: OwnedFd,
    path: PathBuf,
    /// Whether names that differ in case alone are one name in it.
    folds: bool,
}

/// Something in a directory that the policy lets the tool read. Nothing is followed: a link is a link.
#[derive(Debug)]
pub struct Entry {
    location: Location,
    kind: EntryKind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// The entries of a directory, in no particular order.
pub struct Entries<'a> {
    directory: &'a Directory,
    listing: Dir,
    path: PathBuf,
}

impl Directory {
    pub(crate) fn open(guard: Guard, opened: &Opened) -> Result<Self, Trouble> {
        if !opened.is_directory() {
            return Err(Trouble::NotADirectory);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let handle = opened.workspace.handles.open(&opened.here.handle, flags)?;
        let (chain, path) = (guard.chain(), opened.location.path().to_owned());
        Self::new(guard, chain, handle, path)
    }

    fn new(guard: Guard, chain: Arc<Chain>, handle: OwnedFd, path: PathBuf) -> Result<Self, Trouble> {
        let folds = guard.session.workspace.folds_in(&handle)?;
        Ok(Self(Arc::new(Inner { guard, chain, handle, path, folds })))
    }

    /// Its real path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// What is in it, as far as the policy lets the tool read it.
    pub fn entries(&self) -> Result<Entries<'_>, Trouble> {
        Ok(Entries { directory: self, listing: Dir::read_from(&self.0.handle)?, path: self.0.path.clone() })
    }

    /// Goes into a directory that was listed here.
    pub fn enter(&self, entry: &Entry) -> Result<Self, Trouble> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.0.handle, entry.name(), flags, Mode::empty())?;
        let (guard, chain) = (self.0.guard.clone(), Arc::clone(&self.0.chain));
        Self::new(guard, chain, handle, entry.location.path().to_owned())
    }

    /// Opens a file that was listed here. What has become a link or something else meanwhile is not opened.
    pub fn file(&self, entry: &Entry) -> Result<Listed, Trouble> {
        self.file_named(entry.name())
    }

    /// Opens a file by its name in this directory, if the policy lets the tool read it.
    pub fn file_called(&self, name: &OsStr) -> Result<Listed, Trouble> {
        let plain = !name.is_empty() && !name.as_bytes().contains(&b'/') && name != "." && name != "..";
        let location = self.0.guard.session.workspace.entry(&self.0.path.join(name), self.0.folds)?;
        if plain && self.0.allows(&location) { self.file_named(name) } else { Err(Trouble::NotFound) }
    }

    /// What is known of an entry without opening it.
    pub fn look(&self, entry: &Entry) -> Result<Look, Trouble> {
        let stat = rustix::fs::statat(&self.0.handle, entry.name(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Look::of(&stat))
    }

    fn file_named(&self, name: &OsStr) -> Result<Listed, Trouble> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0.handle, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        match kind(&stat) {
            FileType::RegularFile => Ok(Listed { file: File::from(file), look: Look::of(&stat) }),
            FileType::Directory => Err(Trouble::IsADirectory),
            _ => Err(Trouble::Special),
        }
    }
}

/// A file that was opened from a listing.
#[derive(Debug)]
pub struct Listed {
    /// The file.
    pub file: File,
    /// What is known of it.
    pub look: Look,
}

/// What is known of an entry without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Its length in bytes.
    pub size: u64,
    /// How many names it has.
    pub names: u64,
    /// The same for all of its names, and for nothing else.
    pub object: (u64, u64),
    /// When it was changed, in seconds since 1970.
    pub modified: i64,
    /// Its mode: the nine bits and the three above them.
    pub mode: u32,
}

impl Look {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        reason = "the types of these fields differ between systems"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            names: stat.st_nlink as u64,
            object: (stat.st_dev as u64, stat.st_ino as u64),
            modified: stat.st_mtime as i64,
            mode: (stat.st_mode & 0o7777) as u32,
        }
    }
}

impl Inner {
    fn allows(&self, location: &Location) -> bool {
        let request = Request { tool: &self.guard.own.tool, want: Want::Read(location) };
        matches!(self.chain.decide(&request, &self.guard.session.answers()), Decision::Allow(_))
    }
}

impl Entry {
    /// Its name in the directory.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        self.location.path().file_name().unwrap_or_default()
    }

    /// Where it is.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        let inner = &self.directory.0;
        loop {
            let entry = match self.listing.next()? {
                Ok(entry) => entry,
                Err(errno) => return Some(Err(errno.into())),
            };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            self.path.push(OsStr::from_bytes(name));
            let location = inner.guard.session.workspace.entry(&self.path, inner.folds);
            self.path.pop();
            let location = match location {
                Ok(location) => location,
                Err(trouble) => return Some(Err(trouble)),
            };
            if inner.allows(&location) {
                let kind = self.directory.kind(entry.file_type(), OsStr::from_bytes(name));
                return Some(Ok(Entry { location, kind }));
            }
        }
    }
}

impl Directory {
    /// Some file systems do not say what an entry is.
    fn kind(&self, told: FileType, name: &OsStr) -> EntryKind {
        let told = match told {
            FileType::Unknown => rustix::fs::statat(&self.0.handle, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| kind(&stat)),
            told => told,
        };
        match told {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Special,
        }
    }
}
