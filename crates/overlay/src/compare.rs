//! Whether two things in two directories are alike.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::change::{Kind, Node};
use crate::directory::{Directory, Look};

/// An entry of a directory.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) parent: &'a Directory,
    pub(crate) name: &'a OsStr,
    pub(crate) look: Look,
}

impl<'a> Entry<'a> {
    /// What a name leads to in a directory, if it leads to anything.
    pub(crate) fn of(parent: &'a Directory, name: &'a OsStr) -> Result<Option<Self>, Errno> {
        Ok(parent.look(name)?.map(|look| Self { parent, name, look }))
    }

    /// What it is, for people.
    pub(crate) fn node(&self) -> Result<Node, Errno> {
        let kind = match self.look.kind() {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link(self.parent.target(self.name)?),
            _ => Kind::Special,
        };
        Ok(Node { kind, mode: self.look.mode(), size: self.look.size() })
    }

    /// Whether both have the same content, which only two of a kind can have. Directories have none of their own.
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
                same(files.0, files.1).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            _ => Ok(false),
        }
    }

    /// Whether both are alike in everything that is ever applied. What cannot be read is not.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let mode = self.look.kind() == FileType::Symlink || self.look.mode() == other.look.mode();
        mode && self.has_content_of(other).unwrap_or(false)
    }
}

fn same(one: File, other: File) -> io::Result<bool> {
    let (mut one, mut other) =
        (BufReader::with_capacity(1 << 16, one), BufReader::with_capacity(1 << 16, other));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if left[..length] != right[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(left.len() == right.len());
        }
        one.consume(length);
        other.consume(length);
    }
}
