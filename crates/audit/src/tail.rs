//! The end of the file: the newest record, and the remains of a crash behind it.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::record::{Flaw, Head, MAX_RECORD, Sealed, open};

/// End of a file that is not empty.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    /// Offset of `bytes` in the file.
    offset: u64,
    /// Offset in `bytes` of the end of the last complete line.
    complete: usize,
}

impl Tail {
    /// Reads the end of a file of `size` bytes: the last complete line and what follows it.
    ///
    /// A short read is enough for almost every record; only if that holds no complete line, more is read. Never more
    /// than two records: what has no line break within that is not ours.
    pub(crate) fn read(file: impl AsFd, size: u64) -> Result<Self, Errno> {
        let short = Self::read_last(&file, size, SHORT)?;
        if short.line().is_some() || short.offset == 0 {
            Ok(short)
        } else {
            Self::read_last(&file, size, LONG)
        }
    }

    /// The bytes after the last complete line.
    pub(crate) fn torn(&self) -> &[u8] {
        &self.bytes[self.complete..]
    }

    /// Returns the offset in the file of the end of the last complete line.
    pub(crate) fn complete_size(&self) -> u64 {
        self.offset + self.complete as u64
    }

    /// The head that the last complete line makes. None if the file holds no complete line and begins here.
    pub(crate) fn head(&self) -> Option<Result<Head, Flaw>> {
        if self.complete_size() == 0 {
            return None;
        }
        Some(self.line().ok_or(Flaw::Form).and_then(open).map(|sealed: Sealed<'_>| sealed.head))
    }

    /// The last complete line, if it begins within what was read.
    fn line(&self) -> Option<&[u8]> {
        let complete = &self.bytes[..self.complete];
        let before = complete.strip_suffix(b"\n")?;
        match before.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => Some(&complete[at + 1..]),
            None if self.offset == 0 => Some(complete),
            None => None,
        }
    }

    fn read_last(file: impl AsFd, size: u64, most: usize) -> Result<Self, Errno> {
        let length = usize::try_from(size).unwrap_or(usize::MAX).min(most);
        let offset = size - length as u64;
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            match rustix::io::pread(&file, &mut bytes[filled..], offset + filled as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Ok(Self { bytes, offset, complete })
    }
}

const SHORT: usize = 4 * 1024;
/// A whole record, the line break before it, and as much again.
const LONG: usize = 2 * MAX_RECORD + 1;
