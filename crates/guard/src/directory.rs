//! Looking through directories: what the policy does not let the tool read is not there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use policy::{Answers, Chain, Location, Request, Siblings, Want};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};

use crate::grant::ReadableFile;
use crate::guard::Guard;
use crate::handle::kind;
use crate::sys::{self, Reading};
use crate::trouble::Trouble;

/// A directory that is looked through, by handle. Cheap to clone.
#[derive(Clone)]
pub struct Directory(Arc<Inner>);

struct Inner {
    guard: Guard,
    /// The policy when the first directory was opened: one walk, one policy.
    chain: Arc<Chain>,
    handle: OwnedFd,
    /// Its location, by its real path alone.
    location: Location,
    /// True if the handle has been read from: it has one position for all who share it.
    used: AtomicBool,
}

/// Something in a directory that the policy lets the tool read. Nothing is followed: a link is a link.
#[derive(Debug, Clone)]
pub struct Entry {
    name: OsString,
    kind: EntryKind,
}

/// Kind of an entry.
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

impl EntryKind {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Special => "special",
        }
    }
}

/// The entries of a directory, in no particular order.
pub struct Entries<'a> {
    directory: &'a Directory,
    /// A second handle, if the first one has been read from.
    own: Option<OwnedFd>,
    reading: Reading,
    siblings: Siblings,
    /// The names that were judged and not taken yet, one after the other.
    names: Vec<u8>,
    /// Offset of each name, and its type as the file system tells it.
    judged: Vec<(usize, FileType)>,
    trouble: Option<Trouble>,
    ended: bool,
}

impl Directory {
    pub(crate) fn open(guard: Guard, opened: &ReadableFile) -> Result<Self, Trouble> {
        if !opened.is_directory() {
            return Err(Trouble::NotADirectory);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let handle = opened.workspace.handles.open(&opened.here.handle, flags)?;
        let workspace = &guard.session.workspace;
        let location = workspace.entry(opened.location.path(), workspace.folds_in(&handle)?)?;
        let chain = guard.chain();
        Ok(Self(Arc::new(Inner { guard, chain, handle, location, used: AtomicBool::new(false) })))
    }

    /// Its real path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.location.path()
    }

    /// Returns its entries, as far as the policy lets the tool read them.
    pub fn entries(&self) -> Result<Entries<'_>, Trouble> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let own = if self.0.used.swap(true, Ordering::Relaxed) {
            Some(rustix::fs::openat(&self.0.handle, ".", flags, Mode::empty())?)
        } else {
            None
        };
        let siblings = Siblings::of(&self.0.location);
        let (names, judged) = (Vec::with_capacity(1 << 10), Vec::with_capacity(1 << 6));
        let reading = Reading::new();
        Ok(Entries { directory: self, own, reading, siblings, names, judged, trouble: None, ended: false })
    }

    /// Goes into a directory that was listed here.
    pub fn enter(&self, entry: &Entry) -> Result<Self, Trouble> {
        self.directory_called(entry.name())
    }

    /// Goes into a directory by its name in this one, if the policy lets the tool read it.
    pub fn directory_called(&self, name: &OsStr) -> Result<Self, Trouble> {
        let location = self.0.judged(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.0.handle, name, flags, Mode::empty())?;
        let (guard, chain) = (self.0.guard.clone(), Arc::clone(&self.0.chain));
        // Another file system may be mounted here.
        let folds = guard.session.workspace.folds_in(&handle)?;
        let location = if folds { location.folding_case() } else { location };
        let used = AtomicBool::new(false);
        Ok(Self(Arc::new(Inner { guard, chain, handle, location, used })))
    }

    /// Opens a file that was listed here. What has become a link or something else meanwhile is not opened.
    pub fn file(&self, entry: &Entry) -> Result<ListedFile, Trouble> {
        self.file_called(entry.name())
    }

    /// Opens a file by its name in this directory, if the policy lets the tool read it.
    pub fn file_called(&self, name: &OsStr) -> Result<ListedFile, Trouble> {
        self.0.judged(name)?;
        let file = sys::open_listed(&self.0.handle, name)?;
        let stat = rustix::fs::fstat(&file)?;
        match kind(&stat) {
            FileType::RegularFile => {
                Ok(ListedFile { file: File::from(file), look: EntryMetadata::of(&stat) })
            }
            FileType::Directory => Err(Trouble::IsADirectory),
            _ => Err(Trouble::Special),
        }
    }

    /// Returns the metadata of an entry without opening it.
    pub fn look(&self, entry: &Entry) -> Result<EntryMetadata, Trouble> {
        self.0.judged(entry.name())?;
        let stat = rustix::fs::statat(&self.0.handle, entry.name(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(EntryMetadata::of(&stat))
    }

    /// Returns the target of a link that was listed here, as it is written. Nothing is followed.
    pub fn target(&self, entry: &Entry) -> Result<OsString, Trouble> {
        self.0.judged(entry.name())?;
        let target = rustix::fs::readlinkat(&self.0.handle, entry.name(), Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }
}

/// Readable object at a path.
pub enum ReadableObject {
    /// A file.
    File(Box<ReadableFile>),
    /// A directory, to look through.
    Directory(Directory),
}

/// A file that was opened from a listing.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListedFile {
    /// The file.
    pub file: File,
    /// Its metadata.
    pub look: EntryMetadata,
}

/// Metadata of an entry, known without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryMetadata {
    /// Its length in bytes.
    pub size: u64,
    /// Number of its names.
    pub names: u64,
    /// The same for all of its names, and for nothing else.
    pub object: (u64, u64),
    /// When it was changed, in seconds since 1970.
    pub modified: i64,
    /// Its mode: the nine bits and the three above them.
    pub mode: u32,
}

impl EntryMetadata {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between systems"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
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
    /// Returns the location of an entry that is about to be used. A name is judged each time, since it may have come from
    /// another directory.
    fn judged(&self, name: &OsStr) -> Result<Location, Trouble> {
        let mut siblings = Siblings::of(&self.location);
        let place = siblings.named(self.workspace(), name).map_err(|_| Trouble::NotFound)?;
        if self.allows(place, &self.guard.session.answers()) {
            Ok(place.clone())
        } else {
            Err(Trouble::NotFound)
        }
    }

    /// Returns true if an entry may be read: by its name, and by how the name looks.
    fn allows(&self, place: &Location, answers: &Answers) -> bool {
        let allows = |location: &Location| {
            let request = Request { tool: &self.guard.own.tool, want: Want::Read(location) };
            self.chain.allows(&request, answers)
        };
        if place.path().as_os_str().as_bytes().is_ascii() {
            return allows(place);
        }
        let folded = self.guard.session.workspace.with_forms(place.clone(), place.path());
        folded.is_ok_and(|location| allows(&location))
    }

    fn workspace(&self) -> &Path {
        &self.guard.session.workspace.path
    }
}

impl Entry {
    /// Its name in the directory.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((begin, told)) = self.judged.pop() {
                return Some(Ok(self.take(begin, told)));
            }
            if let Some(trouble) = self.trouble.take() {
                return Some(Err(trouble));
            }
            if self.ended {
                return None;
            }
            self.fetch();
        }
    }
}

impl Entries<'_> {
    /// Judges what the kernel tells at once, with the answers that people have given so far.
    fn fetch(&mut self) {
        let Self { directory, own, reading, siblings, names, judged, .. } = self;
        let inner = &directory.0;
        let mut answers = None;
        let told = reading.told(own.as_ref().unwrap_or(&inner.handle), |name, kind| {
            let answers = answers.get_or_insert_with(|| inner.guard.session.answers());
            let place = siblings.named(inner.workspace(), OsStr::from_bytes(name));
            if place.is_ok_and(|place| inner.allows(place, answers)) {
                judged.push((names.len(), kind));
                names.extend_from_slice(name);
            }
        });
        match told {
            Ok(more) => self.ended = !more,
            Err(errno) => {
                self.trouble = Some(errno.into());
                self.ended = true;
            }
        }
    }

    /// The last of the names that were judged.
    fn take(&mut self, begin: usize, told: FileType) -> Entry {
        let name = OsStr::from_bytes(&self.names[begin..]).to_owned();
        let told = if told == FileType::Unknown { self.directory.0.kind(&name) } else { told };
        self.names.truncate(begin);
        Entry { name, kind: told.into() }
    }
}

impl Inner {
    /// Some file systems do not say what an entry is.
    fn kind(&self, name: &OsStr) -> FileType {
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.map_or(FileType::Unknown, |stat| kind(&stat))
    }
}

impl From<FileType> for EntryKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}
