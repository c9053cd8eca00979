//! The object database of a repository, read without git: its content was written by an untrusted command.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::ZlibDecoder;
use rustix::io::Errno;

use super::pack::Pack;
use crate::side::Side;

/// Object ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub(crate) [u8; 20]);

impl ObjectId {
    /// Parses forty hexadecimal digits.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let digits = Some(text).filter(|text| text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit))?;
        let mut id = [0; 20];
        for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(id))
    }

    /// Converts twenty bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reason why a repository cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("{0}")]
    Format(&'static str),
    #[error("the object {0} is missing")]
    Missing(String),
    #[error("{0}")]
    System(#[from] Errno),
}

impl From<std::io::Error> for Unreadable {
    fn from(error: std::io::Error) -> Self {
        Errno::from_io_error(&error).map_or(Self::Format("an object is damaged"), Self::System)
    }
}

/// Type of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// Maximum length of an object that is read; longer than any commit or tree.
pub(crate) const LONGEST: u64 = 16 << 20;

/// Maximum number of bytes read; more than the commits and trees of a session have.
const MOST_BYTES: u64 = 1 << 30;

/// Maximum work to apply deltas, most of which git stores as chains of some dozens.
const MOST_WORK: u64 = 4 << 30;

/// Maximum number of packs, more than a maintained repository has, and of lookups in a pack.
const MOST_PACKS: usize = 10_000;
const MOST_QUESTIONS: u64 = 100_000_000;
/// Maximum length of an index that is kept in memory, and of all such indexes together.
const SHORT_INDEX: u64 = 4 << 20;
const MOST_INDEXES: u64 = 128 << 20;
/// Maximum number of longer indexes, which stay open as files: a process can open only some hundred
/// descriptors, and there are two sides.
const MOST_OPEN: usize = 64;

const TOO_MANY: Unreadable = Unreadable::Format("it has too many packs");

/// Amount of work that is left.
pub(crate) struct Budget {
    left: Cell<u64>,
    over: &'static str,
}

impl Budget {
    fn new(left: u64, over: &'static str) -> Self {
        Self { left: Cell::new(left), over }
    }

    /// Subtracts an amount; fails if less is left.
    pub(crate) fn charge(&self, amount: u64) -> Result<(), Unreadable> {
        let left = self.left.get().checked_sub(amount);
        self.left.set(left.ok_or(Unreadable::Format(self.over))?);
        Ok(())
    }
}

/// The pack that was read last, with its position.
type LastPack = Option<(usize, Rc<File>)>;

/// The object database of one side of a repository.
pub(crate) struct Objects<'a> {
    side: Side<'a>,
    directory: PathBuf,
    /// Packs, each with its path.
    packs: Vec<(PathBuf, Pack)>,
    last: RefCell<LastPack>,
    /// Bytes of objects that may still be read.
    bytes: Budget,
    /// Bytes that may still be produced to read them.
    work: Budget,
    questions: Budget,
}

impl<'a> Objects<'a> {
    /// Opens the object database of a repository.
    pub(crate) fn open(side: Side<'a>, repository: &Path) -> Result<Self, Unreadable> {
        let directory = repository.join("objects");
        let place = directory.join("pack");
        let (mut packs, mut in_memory, mut open) = (Vec::new(), 0, 0);
        for name in side.names(&place)? {
            let path = place.join(&name);
            if path.extension().is_none_or(|end| end != "idx") {
                continue;
            }
            if packs.len() >= MOST_PACKS {
                return Err(TOO_MANY);
            }
            let data = path.with_extension("pack");
            let Some(index) = side.file(&path)? else { continue };
            if !side.has(&data)? {
                continue;
            }
            let length = index.metadata()?.len();
            let is_short = length <= SHORT_INDEX && in_memory + length <= MOST_INDEXES;
            packs.push((data, if is_short { Pack::load(index)? } else { Pack::open(index)? }));
            if is_short {
                in_memory += length;
            } else {
                open += 1;
            }
            if open > MOST_OPEN {
                return Err(TOO_MANY);
            }
        }
        Ok(Self {
            side,
            directory,
            packs,
            last: RefCell::new(None),
            bytes: Budget::new(MOST_BYTES, "the new commits are too large"),
            work: Budget::new(MOST_WORK, "the new commits are too large"),
            questions: Budget::new(MOST_QUESTIONS, "it has too many packs for its new commits"),
        })
    }

    /// Returns the position of the pack that contains an object, and the offset in the pack.
    fn find(&self, id: ObjectId) -> Result<Option<(usize, u64)>, Unreadable> {
        self.questions.charge(self.packs.len() as u64)?;
        for (at, (_, pack)) in self.packs.iter().enumerate() {
            if let Some(offset) = pack.find(id)? {
                return Ok(Some((at, offset)));
            }
        }
        Ok(None)
    }

    /// Opens a pack, or returns the one that is open.
    fn data(&self, at: usize) -> Result<Rc<File>, Unreadable> {
        let mut last = self.last.borrow_mut();
        if let Some((_, file)) = last.as_ref().filter(|(place, _)| *place == at) {
            return Ok(Rc::clone(file));
        }
        let file = self.side.file(&self.packs[at].0)?.ok_or(Unreadable::Format("a pack is missing"))?;
        Ok(Rc::clone(&last.insert((at, Rc::new(file))).1))
    }

    /// Returns true if the object exists.
    pub(crate) fn has(&self, id: ObjectId) -> Result<bool, Unreadable> {
        Ok(self.find(id)?.is_some() || self.side.has(&self.loose(id))?)
    }

    /// Reads an object, which must exist.
    pub(crate) fn read(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        // Git searches packs first.
        match self.find(id)? {
            Some((at, offset)) => self.read_from(&self.packs[at].1, &*self.data(at)?, offset),
            None => self.read_loose(id),
        }
    }

    /// Reads an object from a pack, which need not be one of this database.
    pub(crate) fn read_from(
        &self,
        pack: &Pack,
        data: &File,
        offset: u64,
    ) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        self.counted(pack.read(data, offset, &self.work)?)
    }

    /// Reads a loose object.
    pub(crate) fn read_loose(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        let file = self.side.file(&self.loose(id))?;
        let file = file.ok_or_else(|| Unreadable::Missing(id.to_string()))?;
        self.counted(parse_loose(&inflate(file)?)?)
    }

    /// Charges an object to the budget: a small file can expand to a large object, so the total is bounded.
    fn counted(&self, object: (ObjectKind, Vec<u8>)) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        self.bytes.charge(object.1.len() as u64)?;
        Ok(object)
    }

    /// Reads an object, and checks its type.
    pub(crate) fn read_as(&self, id: ObjectId, kind: ObjectKind) -> Result<Vec<u8>, Unreadable> {
        let (found, content) = self.read(id)?;
        if found == kind { Ok(content) } else { Err(Unreadable::Format("an object is of the wrong kind")) }
    }

    fn loose(&self, id: ObjectId) -> PathBuf {
        let digits = id.to_string();
        self.directory.join(&digits[..2]).join(&digits[2..])
    }
}

/// Decompresses a zlib stream that is not longer than an object may be.
pub(crate) fn inflate(from: impl std::io::Read) -> Result<Vec<u8>, Unreadable> {
    let mut content = Vec::new();
    ZlibDecoder::new(from).take(LONGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LONGEST {
        return Err(Unreadable::Format("an object is too long"));
    }
    Ok(content)
}

/// Parses a loose object: `commit 123\0`, then the content.
fn parse_loose(object: &[u8]) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
    let damaged = || Unreadable::Format("an object has no proper head");
    let end = object.iter().take(40).position(|byte| *byte == 0).ok_or_else(damaged)?;
    let head = std::str::from_utf8(&object[..end]).map_err(|_| damaged())?;
    let (kind, length) = head.split_once(' ').ok_or_else(damaged)?;
    let kind = match kind {
        "commit" => ObjectKind::Commit,
        "tree" => ObjectKind::Tree,
        "blob" => ObjectKind::Blob,
        "tag" => ObjectKind::Tag,
        _ => return Err(damaged()),
    };
    let content = &object[end + 1..];
    if length.parse() == Ok(content.len()) { Ok((kind, content.to_vec())) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_what_they_say() {
        let rows: &[(&[u8], bool)] = &[
            (b"commit 3\0abc", true),
            (b"tree 0\0", true),
            (b"commit 4\0abc", false),
            (b"commit abc", false),
            (b"commit\0", false),
            (b"other 3\0abc", false),
            (b"", false),
        ];
        for (object, sound) in rows {
            assert_eq!(parse_loose(object).is_ok(), *sound, "{object:?}");
        }
    }

    #[test]
    fn names_have_forty_digits() {
        let id = ObjectId::parse(b"0123456789abcdef0123456789ABCDEF01234567").unwrap();
        assert_eq!(id.to_string(), "0123456789abcdef0123456789abcdef01234567");
        for wrong in [&b""[..], &[b'0'; 39], &[b'0'; 41], &[b'0'; 64], &[b'g'; 40], &[b'+'; 40]] {
            assert!(ObjectId::parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
