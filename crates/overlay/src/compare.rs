//! Comparison of two entries in two directories.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::change::{Kind, Node};
use git::{Directory, Look};

/// An entry of a directory.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) parent: &'a Directory,
    pub(crate) name: &'a OsStr,
    pub(crate) look: Look,
}

impl<'a> Entry<'a> {
    /// Looks a name up in a directory, if it exists.
    pub(crate) fn of(parent: &'a Directory, name: &'a OsStr) -> Result<Option<Self>, Errno> {
        Ok(parent.look(name)?.map(|look| Self { parent, name, look }))
    }

    /// Describes the entry for people.
    pub(crate) fn node(&self) -> Result<Node, Errno> {
        let kind = match self.look.kind() {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link(self.parent.target(self.name)?),
            _ => Kind::Special,
        };
        Ok(Node { kind, mode: self.look.mode(), size: self.look.size() })
    }

    /// Returns true if both have the same content, which only two of a kind can have. Directories have none of their own.
    pub(crate) fn has_content_of(&self, other: &Self) -> Result<bool, Errno> {
        if self.look.kind() != other.look.kind() {
            return Ok(false);
        }
        match self.look.kind() {
            FileType::Directory => Ok(true),
            FileType::Symlink => Ok(self.parent.target(self.name)? == other.parent.target(other.name)?),
            FileType::RegularFile if self.look.size() != other.look.size() => Ok(false),
            FileType::RegularFile => {
                let files = (self.parent.file(self.name)?, other.parent.file(other.name)?);
                same(&files.0, &files.1, self.look.size())
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            _ => Ok(false),
        }
    }

    /// Returns true if both are alike in everything that is ever applied. What cannot be read is not.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let mode = self.look.kind() == FileType::Symlink || self.look.mode() == other.look.mode();
        mode && self.has_content_of(other).unwrap_or(false)
    }
}

/// Returns true if two files of one length have the same bytes. If both have nothing but holes there is nothing to read.
fn same(one: &File, other: &File, length: u64) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    while at < length {
        let Some(next) = content_after(one, at)?.into_iter().chain(content_after(other, at)?).min() else {
            return Ok(true);
        };
        at = next;
        let piece = usize::try_from(length.saturating_sub(at)).unwrap_or(PIECE).min(PIECE);
        one.read_exact_at(&mut left[..piece], at)?;
        other.read_exact_at(&mut right[..piece], at)?;
        if left[..piece] != right[..piece] {
            return Ok(false);
        }
        at += PIECE as u64;
    }
    Ok(true)
}

const PIECE: usize = 1 << 16;

/// Returns the offset of the next bytes that are not a hole.
fn content_after(file: &File, at: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
        Err(Errno::NXIO) => Ok(None),
        other => Ok(Some(other?)),
    }
}
