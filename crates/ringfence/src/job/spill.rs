//! Storage for output that is too long to keep in memory: files without a name, in a directory that only the caller reaches.
//!
//! A file has a name for no longer than it takes to remove it again. So there is nothing that could be exchanged for a link,
//! nothing that a jail could be shown by mistake, and nothing left when this process is killed.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jail::{Mode as Seen, Spec};
use policy::Shown;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::sys;

/// A directory for long output, and how much of it there may be.
#[derive(Debug)]
pub struct Spills {
    directory: OwnedFd,
    /// Its real path.
    path: PathBuf,
    /// For one stream of a command.
    each: u64,
    /// Number of bytes left for all of them.
    left: AtomicU64,
}

/// Why a directory is not used for output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpillError {
    /// It cannot be opened.
    #[error("the directory for long output cannot be opened: {errno}: {}", Shown::path(path))]
    Closed {
        /// The directory.
        path: PathBuf,
        /// The answer of the kernel.
        errno: Errno,
    },
    /// Another user has access to it.
    #[error("the directory for long output has to belong to the caller alone (mode 0700): {}", Shown::path(.0))]
    Shared(PathBuf),
    /// The command would see it.
    #[error("the directory for long output is seen from inside: {}", Shown::path(.0))]
    Seen(PathBuf),
}

impl Spills {
    /// Maximum size of one stream of a command, and of all streams of a session.
    pub const DEFAULT: (u64, u64) = (64 << 20, 1 << 30);

    /// Opens the directory, which has to be there and has to be the caller's alone.
    pub fn open(path: &Path, (each, all): (u64, u64)) -> Result<Arc<Self>, SpillError> {
        let closed = |errno| SpillError::Closed { path: path.to_owned(), errno };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(closed)?;
        let found = rustix::fs::fstat(&directory).map_err(closed)?;
        let ours = found.st_uid == rustix::process::geteuid().as_raw();
        if !ours || found.st_mode & 0o077 != 0 {
            return Err(SpillError::Shared(path.to_owned()));
        }
        let path = sys::path_of(&directory).map_err(closed)?;
        Ok(Arc::new(Self { directory, path, each, left: AtomicU64::new(all) }))
    }

    /// Returns the rest of what all commands may write.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Returns true if two more commands could use up all of it.
    pub(super) fn is_short(&self) -> bool {
        self.left() < self.each.saturating_mul(4)
    }

    /// Refuses a jail that shows the directory.
    pub(super) fn check(&self, spec: &Spec) -> Result<(), SpillError> {
        let shown = spec.mode_at(&self.path).is_some_and(Seen::shows_host);
        if shown { Err(SpillError::Seen(self.path.clone())) } else { Ok(()) }
    }

    /// A new file without a name.
    fn file(&self) -> Result<File, Errno> {
        let name = format!("output-{:032x}", sys::random()?);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, &name, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::unlinkat(&self.directory, &name, AtFlags::empty())?;
        let found = rustix::fs::fstat(&file)?;
        let plain = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if plain { Ok(File::from(file)) } else { Err(Errno::INVAL) }
    }

    /// Takes up to so many bytes from what is left for all.
    fn take(&self, wanted: u64) -> u64 {
        let mut taken = 0;
        let spent = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            taken = left.min(wanted);
            Some(left - taken)
        });
        spent.map_or(0, |_| taken)
    }

    fn give_back(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Why output was not recorded to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TruncationCause {
    /// No directory was given.
    Nowhere,
    /// It is longer than one stream may be.
    Each(u64),
    /// All commands of the session together wrote more than they may.
    All,
    /// The disk refused it.
    Refused(String),
}

/// The first bytes of a stream, as they were written: in memory while they are few, then in a file.
#[derive(Debug)]
pub(super) struct Record {
    spills: Option<Arc<Spills>>,
    /// Number of bytes that stay in memory.
    keep: usize,
    begin: Vec<u8>,
    file: Option<File>,
    /// In memory or in the file.
    size: u64,
    cut: Option<TruncationCause>,
}

impl Record {
    pub(super) const fn new(keep: usize, spills: Option<Arc<Spills>>) -> Self {
        Self { spills, keep, begin: Vec::new(), file: None, size: 0, cut: None }
    }

    /// Takes the next bytes, as far as there is room.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.cut.is_some() {
            return;
        }
        let room = self.keep.saturating_sub(self.begin.len());
        if self.file.is_none() && bytes.len() <= room {
            self.begin.extend(bytes);
            self.size += bytes.len() as u64;
        } else if let Some(spills) = self.spills.clone() {
            self.spill(&spills, bytes);
        } else {
            self.begin.extend(&bytes[..room]);
            self.size = self.begin.len() as u64;
            self.cut = Some(TruncationCause::Nowhere);
        }
    }

    fn spill(&mut self, spills: &Spills, bytes: &[u8]) {
        if self.file.is_none() {
            match spills.file() {
                Ok(file) => self.file = Some(file),
                Err(errno) => return self.cut = Some(TruncationCause::Refused(errno.to_string())),
            }
            // Complete from its first byte.
            let begin = std::mem::take(&mut self.begin);
            self.size = 0;
            self.append(spills, &begin);
        }
        self.append(spills, bytes);
    }

    fn append(&mut self, spills: &Spills, bytes: &[u8]) {
        let Some(file) = self.file.as_ref().filter(|_| self.cut.is_none()) else { return };
        let wanted = bytes.len() as u64;
        let room = wanted.min(spills.each.saturating_sub(self.size));
        let granted = spills.take(room);
        let part = &bytes[..usize::try_from(granted).unwrap_or(0)];
        if let Err(error) = file.write_all_at(part, self.size) {
            spills.give_back(granted);
            self.cut = Some(TruncationCause::Refused(error.to_string()));
            return;
        }
        self.size += granted;
        if room < wanted {
            self.cut = Some(TruncationCause::Each(spills.each));
        } else if granted < wanted {
            self.cut = Some(TruncationCause::All);
        }
    }

    /// Returns the number of bytes that can be read.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Why there are not all of them.
    pub(super) const fn cut(&self) -> Option<&TruncationCause> {
        self.cut.as_ref()
    }

    /// Returns true if it has gone to a file.
    pub(super) const fn is_spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes from somewhere, at most so many; fewer at the end.
    pub(super) fn read(&self, from: u64, most: usize) -> std::io::Result<Vec<u8>> {
        let there = self.size.saturating_sub(from).min(most as u64);
        let count = usize::try_from(there).unwrap_or(0);
        let Some(file) = &self.file else {
            let start = usize::try_from(from).unwrap_or(usize::MAX).min(self.begin.len());
            return Ok(self.begin[start..start + count].to_vec());
        };
        let mut bytes = vec![0; count];
        file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let (Some(spills), Some(_)) = (&self.spills, &self.file) {
            spills.give_back(self.size);
        }
    }
}
