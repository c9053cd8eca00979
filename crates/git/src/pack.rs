//! Packs: many objects in one file, with an index that says where each begins.
//!
//! Files are read with `pread` and never mapped: the command can shorten them while they are read. The index is only a hint; what is
//! found is checked by its name afterwards.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::id::{ObjectFormat, ObjectId};
use super::inflate::Inflater;
use super::object::{LARGEST, ObjectKind};

/// A pack and its index.
#[derive(Clone, Copy)]
pub struct Pack<'a> {
    /// Says where each object begins.
    pub index: &'a Index,
    /// The objects.
    pub file: &'a File,
}

/// An object in a pack, or what makes it out of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackEntry {
    pub(super) form: Form,
    /// The size after decompression.
    pub(super) size: usize,
    /// Offset at which the compressed bytes begin.
    at: u64,
}

/// Form in which an object stands in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Whole(ObjectKind),
    /// A delta to the object that begins at an offset.
    DeltaAt(u64),
    /// A delta to an object with a name.
    DeltaTo(ObjectId),
}

impl Pack<'_> {
    /// Reads what stands in front of the bytes of an object.
    pub(super) fn entry(&self, offset: u64, format: ObjectFormat) -> Option<PackEntry> {
        let mut bytes = [0; LONGEST_HEADER];
        let read = self.file.read_at(&mut bytes, offset).ok()?;
        entry(bytes.get(..read)?, offset, format)
    }

    /// Decompresses the bytes of an object or of a delta.
    pub(super) fn content(&self, entry: &PackEntry, inflater: &mut Inflater) -> Option<Vec<u8>> {
        let mut at = entry.at;
        let content = inflater.inflate(entry.size, |buffer| {
            let read = self.file.read_at(buffer, at).ok()?;
            at = at.checked_add(u64::try_from(read).ok()?)?;
            Some(read)
        })?;
        (content.len() == entry.size).then_some(content)
    }
}

/// A size of at most ten bytes and a name.
const LONGEST_HEADER: usize = 10 + 32;

/// Reads the header of an object at `offset`.
pub(super) fn entry(bytes: &[u8], offset: u64, format: ObjectFormat) -> Option<PackEntry> {
    let (first, mut rest) = bytes.split_first()?;
    let mut size = u64::from(first & 0x0f);
    let (mut more, mut shift) = (first & 0x80 != 0, 4);
    while more {
        let (byte, after) = rest.split_first()?;
        let bits = u64::from(byte & 0x7f);
        size |= bits.checked_shl(shift).filter(|moved| moved >> shift == bits)?;
        (more, shift, rest) = (byte & 0x80 != 0, shift + 7, after);
    }
    let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST)?;
    let form = match first >> 4 & 7 {
        1 => Form::Whole(ObjectKind::Commit),
        2 => Form::Whole(ObjectKind::Tree),
        3 => Form::Whole(ObjectKind::Blob),
        4 => Form::Whole(ObjectKind::Tag),
        6 => Form::DeltaAt(offset.checked_sub(distance(&mut rest)?)?),
        7 => {
            let (id, after) = rest.split_at_checked(format.width())?;
            rest = after;
            Form::DeltaTo(ObjectId::from_bytes(format, id)?)
        }
        _ => return None,
    };
    let header = u64::try_from(bytes.len() - rest.len()).ok()?;
    Some(PackEntry { form, size, at: offset.checked_add(header)? })
}

/// Reads how far before this object its base begins. Never zero: an object is not its own base.
fn distance(rest: &mut &[u8]) -> Option<u64> {
    let mut distance: u64 = 0;
    for at in 0..10 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        distance = if at == 0 { 0 } else { distance.checked_add(1)?.checked_mul(128)? };
        distance = distance.checked_add(u64::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return (distance > 0).then_some(distance);
        }
    }
    None
}

/// The index of a pack, of version 2.
pub struct Index {
    source: Source,
    /// Number of names that begin with a byte that is not greater.
    totals: Box<[u32; 256]>,
}

enum Source {
    File(File),
    Memory(Vec<u8>),
}

const INDEX_MAGIC: &[u8; 8] = b"\xfftOc\0\0\0\x02";
const NAMES: u64 = 8 + 1024;
/// Names that are read at once.
const BLOCK: u64 = 32;

impl Index {
    /// Opens an index. Its file is read when an object is looked for.
    pub fn open(file: File) -> io::Result<Self> {
        Self::new(Source::File(file))
    }

    /// Opens an index that has been read.
    pub fn from_bytes(bytes: Vec<u8>) -> io::Result<Self> {
        Self::new(Source::Memory(bytes))
    }

    fn new(source: Source) -> io::Result<Self> {
        let mut head = [0; 8 + 1024];
        source.read(&mut head, 0)?;
        let (magic, table) = head.split_at(8);
        let mut totals = Box::new([0; 256]);
        for (total, bytes) in totals.iter_mut().zip(table.chunks_exact(4)) {
            *total = bytes.iter().fold(0, |total, byte| total << 8 | u32::from(*byte));
        }
        if magic == INDEX_MAGIC && totals.is_sorted() {
            Ok(Self { source, totals })
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::from(self.totals[255])
    }

    /// Returns the offset of an object in the pack, if it has it.
    pub fn find(&self, id: &ObjectId) -> io::Result<Option<u64>> {
        self.row(id)?.map(|row| self.offset(row, id.format())).transpose()
    }

    /// Returns the object with a number among all of them, and its offset in the pack.
    pub fn object(&self, row: u64, format: ObjectFormat) -> io::Result<(ObjectId, u64)> {
        let mut name = [0; 32];
        let name = &mut name[..format.width()];
        self.source.read(name, NAMES + row * format.width() as u64)?;
        let id = ObjectId::from_bytes(format, name).ok_or(io::ErrorKind::InvalidData)?;
        Ok((id, self.offset(row, format)?))
    }

    fn offset(&self, row: u64, format: ObjectFormat) -> io::Result<u64> {
        let offsets = NAMES + self.count() * (format.width() as u64 + 4);
        let mut short = [0; 4];
        self.source.read(&mut short, offsets + row * 4)?;
        let short = u32::from_be_bytes(short);
        if short & 0x8000_0000 == 0 {
            return Ok(u64::from(short));
        }
        let mut long = [0; 8];
        self.source.read(&mut long, offsets + self.count() * 4 + u64::from(short & 0x7fff_ffff) * 8)?;
        Ok(u64::from_be_bytes(long))
    }

    /// The number of a name among all of them.
    fn row(&self, id: &ObjectId) -> io::Result<Option<u64>> {
        let first = usize::from(id.as_bytes()[0]);
        let mut low = if first == 0 { 0 } else { u64::from(self.totals[first - 1]) };
        let mut high = u64::from(self.totals[first]);
        let width = id.format().width();
        let at = |row: u64| NAMES + row * width as u64;
        let mut names = [0; 32 * 32];
        while high - low > BLOCK {
            let middle = low.midpoint(high);
            self.source.read(&mut names[..width], at(middle))?;
            if &names[..width] <= id.as_bytes() {
                low = middle;
            } else {
                high = middle;
            }
        }
        let count = usize::try_from(high - low).unwrap_or(0);
        let names = &mut names[..count * width];
        self.source.read(names, at(low))?;
        let found = names.chunks_exact(width).position(|name| name == id.as_bytes());
        Ok(found.map(|found| low + found as u64))
    }
}

impl Source {
    fn read(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(into, at),
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
                let piece = rest.and_then(|rest| rest.get(..into.len()));
                into.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_with_every_number_bounded() {
        let whole = |kind, size, at| Some(PackEntry { form: Form::Whole(kind), size, at });
        let delta = |base, size, at| Some(PackEntry { form: Form::DeltaAt(base), size, at });
        let rows: [(&[u8], Option<PackEntry>); 12] = [
            (&[0x15], whole(ObjectKind::Commit, 5, 101)),
            (&[0xa5, 0x01], whole(ObjectKind::Tree, 21, 102)),
            (&[0x65, 5], delta(95, 5, 102)),
            (&[0x65, 0x80, 0x00], None),
            (&[0x65, 0], None),
            (&[0x65, 101], None),
            (&[0x65], None),
            (&[0x75, 1, 2, 3], None),
            (&[0x05], None),
            (&[0x55], None),
            (&[0xa5, 0xff, 0xff, 0xff, 0x7f], None),
            (&[0xa5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], None),
        ];
        for (bytes, expected) in rows {
            assert_eq!(entry(bytes, 100, ObjectFormat::Sha1), expected, "{bytes:x?}");
        }
    }
}
