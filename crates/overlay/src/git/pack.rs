//! Packs: many objects in one file, most of them stored as deltas.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;

use super::objects::{Budget, LONGEST, ObjectId, ObjectKind, Unreadable, inflate};

/// Maximum length of a delta chain. Git makes chains of 50 by default, and none longer than this.
const LONGEST_CHAIN: usize = 4096;

/// The index of a pack. The pack itself is opened when an object is read from it.
pub(crate) struct Pack {
    index: Index,
    /// For each byte value, the number of objects whose ID starts with that byte or a lower one.
    fanout: Vec<u64>,
}

/// Source of the index data.
enum Index {
    Memory(Vec<u8>),
    File(File),
}

impl Index {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::Memory(content) => {
                let start = usize::try_from(offset).ok();
                let range = start.and_then(|start| Some(start..start.checked_add(buffer.len())?));
                let piece = range.and_then(|range| content.get(range));
                buffer.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Self::File(file) => file.read_exact_at(buffer, offset),
        }
    }
}

/// Offset of the first table of an index.
const NAMES: u64 = 8 + 256 * 4;

/// An entry of a pack, before its delta is applied.
enum Packed {
    Whole(ObjectKind, Vec<u8>),
    /// A delta against the entry at an offset.
    From(u64, Vec<u8>),
    /// A delta against an object.
    FromObject(ObjectId, Vec<u8>),
}

impl Pack {
    /// Opens a pack by its index. Only one index version is in use.
    pub(crate) fn open(index: File) -> Result<Self, Unreadable> {
        Self::new(Index::File(index))
    }

    /// Opens a pack by its index, and reads the whole index into memory.
    pub(crate) fn load(mut index: File) -> Result<Self, Unreadable> {
        let mut content = Vec::new();
        (&mut index).take(LONGEST).read_to_end(&mut content)?;
        Self::new(Index::Memory(content))
    }

    fn new(index: Index) -> Result<Self, Unreadable> {
        let mut head = [0; 8 + 256 * 4];
        index.read_exact_at(&mut head, 0)?;
        if head[..8] != [0xff, b't', b'O', b'c', 0, 0, 0, 2] {
            return Err(Unreadable::Format("the index of a pack is of an unknown version"));
        }
        let fanout: Vec<_> = head[8..].chunks_exact(4).map(number).collect();
        if fanout.is_sorted() {
            Ok(Self { index, fanout })
        } else {
            Err(Unreadable::Format("the index of a pack is damaged"))
        }
    }

    /// Returns the number of objects.
    pub(crate) fn count(&self) -> u64 {
        self.fanout.last().copied().unwrap_or(0)
    }

    /// Returns the offset of an object in the pack.
    pub(crate) fn find(&self, id: ObjectId) -> Result<Option<u64>, Unreadable> {
        let first = usize::from(id.0[0]);
        let mut low = if first == 0 { 0 } else { self.fanout[first - 1] };
        let mut high = self.fanout[first];
        while low < high {
            let middle = low.midpoint(high);
            let mut name = [0; 20];
            self.index.read_exact_at(&mut name, NAMES + middle * 20)?;
            match name.cmp(&id.0) {
                std::cmp::Ordering::Equal => return self.offset(middle).map(Some),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// Returns the object at a position in the index, and its offset in the pack.
    pub(crate) fn object(&self, at: u64) -> Result<(ObjectId, u64), Unreadable> {
        let mut name = [0; 20];
        self.index.read_exact_at(&mut name, NAMES + at * 20)?;
        Ok((ObjectId(name), self.offset(at)?))
    }

    fn offset(&self, at: u64) -> Result<u64, Unreadable> {
        let offsets = NAMES + self.count() * 24;
        let mut short = [0; 4];
        self.index.read_exact_at(&mut short, offsets + at * 4)?;
        let short = number(&short);
        if short & 0x8000_0000 == 0 {
            return Ok(short);
        }
        let mut long = [0; 8];
        self.index.read_exact_at(&mut long, offsets + self.count() * 4 + (short & 0x7fff_ffff) * 8)?;
        Ok(number(&long))
    }

    /// Reads the object at an offset of the pack. The base of a delta is in the same pack: git stores no thin
    /// pack on disk. All intermediate data is charged to the budget: a few bytes can expand to a large
    /// object.
    pub(crate) fn read(
        &self,
        pack: &File,
        mut offset: u64,
        work: &Budget,
    ) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        let (mut differences, mut length) = (Vec::new(), 0);
        let (kind, mut content) = loop {
            let (base, difference) = match entry(pack, offset)? {
                Packed::Whole(kind, content) => break (kind, content),
                Packed::From(base, difference) => (Some(base), difference),
                Packed::FromObject(base, difference) => (self.find(base)?, difference),
            };
            length += difference.len() as u64;
            work.charge(difference.len() as u64)?;
            if differences.len() >= LONGEST_CHAIN || length > LONGEST {
                return Err(Unreadable::Format("a pack has a chain that is too long"));
            }
            differences.push(difference);
            offset = base.ok_or(Unreadable::Format("a pack is not whole"))?;
        };
        for difference in differences.iter().rev() {
            content = patched(&content, difference)?;
            work.charge(content.len() as u64)?;
        }
        Ok((kind, content))
    }
}

/// Reads the entry at an offset of a pack.
fn entry(pack: &File, offset: u64) -> Result<Packed, Unreadable> {
    let mut from = BufReader::new(At { file: pack, offset });
    let mut byte = next(&mut from)?;
    let kind = byte >> 4 & 7;
    while byte & 0x80 != 0 {
        byte = next(&mut from)?;
    }
    match kind {
        1 => Ok(Packed::Whole(ObjectKind::Commit, inflate(from)?)),
        2 => Ok(Packed::Whole(ObjectKind::Tree, inflate(from)?)),
        3 => Ok(Packed::Whole(ObjectKind::Blob, inflate(from)?)),
        4 => Ok(Packed::Whole(ObjectKind::Tag, inflate(from)?)),
        6 => {
            let base = offset.checked_sub(distance(&mut from)?).filter(|base| *base < offset);
            let base = base.ok_or(Unreadable::Format("a pack is damaged"))?;
            Ok(Packed::From(base, inflate(from)?))
        }
        7 => {
            let mut id = [0; 20];
            from.read_exact(&mut id)?;
            Ok(Packed::FromObject(ObjectId(id), inflate(from)?))
        }
        _ => Err(Unreadable::Format("a pack is damaged")),
    }
}

/// Reader of a file from an offset on.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

fn next(from: &mut impl Read) -> Result<u8, Unreadable> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Reads a backward offset: seven bits per byte, where each further byte adds one.
fn distance(from: &mut impl Read) -> Result<u64, Unreadable> {
    let mut byte = next(from)?;
    let mut value = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next(from)?;
        let more = value.checked_add(1).and_then(|value| value.checked_mul(128));
        value = more.ok_or(Unreadable::Format("a pack is damaged"))? | u64::from(byte & 0x7f);
    }
    Ok(value)
}

/// Decodes an unsigned big-endian number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Applies a delta: chunks copied from the base, and chunks that the delta contains.
fn patched(base: &[u8], difference: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let damaged = || Unreadable::Format("a difference in a pack is damaged");
    let mut from = difference;
    let mut length = || -> Result<u64, Unreadable> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = next(&mut from)?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).ok_or_else(damaged)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
    };
    let (before, after) = (length()?, length()?);
    if before != base.len() as u64 || after > LONGEST {
        return Err(damaged());
    }
    let mut content = Vec::with_capacity(usize::try_from(after).map_err(|_| damaged())?);
    while let [op, rest @ ..] = from {
        from = rest;
        if op & 0x80 == 0 {
            let piece = from.get(..usize::from(*op)).filter(|piece| !piece.is_empty()).ok_or_else(damaged)?;
            content.extend(piece);
            from = &from[piece.len()..];
        } else {
            let mut field = |bits: std::ops::Range<u32>| -> Result<usize, Unreadable> {
                let mut value = 0;
                for (place, bit) in bits.enumerate() {
                    if op >> bit & 1 != 0 {
                        value |= usize::from(next(&mut from)?) << (8 * place);
                    }
                }
                Ok(value)
            };
            let (start, count) = (field(0..4)?, field(4..7)?);
            let count = if count == 0 { 0x10000 } else { count };
            content.extend(base.get(start..start + count).ok_or_else(damaged)?);
        }
        if content.len() as u64 > after {
            return Err(damaged());
        }
    }
    if content.len() as u64 == after { Ok(content) } else { Err(damaged()) }
}
