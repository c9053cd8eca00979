//! The objects of a repository, read without git: what lies there was written by a command that is not trusted.

use std::cell::Cell;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use rustix::io::Errno;

use super::pack::Pack;
use crate::side::Side;

/// The name of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub(crate) [u8; 20]);

impl ObjectId {
    /// Reads forty digits.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let digits = Some(text).filter(|text| text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit))?;
        let mut id = [0; 20];
        for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(id))
    }

    /// Reads twenty bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Why a repository cannot be read.
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

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// Longer than any commit or directory; a longer object is not read.
pub(crate) const LONGEST: u64 = 16 << 20;

/// More than the commits and directories of a session have.
const MOST_BYTES: u64 = 1 << 30;

/// More packs than a repository has that is taken care of.
const MOST_PACKS: usize = 10_000;

/// The objects of one side of a repository.
pub(crate) struct Objects<'a> {
    side: Side<'a>,
    directory: PathBuf,
    packs: Vec<Pack>,
    /// How many bytes may still be read.
    budget: Cell<u64>,
}

impl<'a> Objects<'a> {
    /// Opens the objects of a repository.
    pub(crate) fn open(side: Side<'a>, repository: &Path) -> Result<Self, Unreadable> {
        let directory = repository.join("objects");
        let place = directory.join("pack");
        let mut packs = Vec::new();
        for name in side.names(&place)? {
            let path = place.join(&name);
            if path.extension().is_none_or(|end| end != "idx") {
                continue;
            }
            if packs.len() >= MOST_PACKS {
                return Err(Unreadable::Format("it has too many packs"));
            }
            if let (Some(index), Some(pack)) = (side.file(&path)?, side.file(&path.with_extension("pack"))?) {
                packs.push(Pack::open(index, pack)?);
            }
        }
        Ok(Self { side, directory, packs, budget: Cell::new(MOST_BYTES) })
    }

    /// Whether the object is there.
    pub(crate) fn has(&self, id: ObjectId) -> Result<bool, Unreadable> {
        for pack in &self.packs {
            if pack.find(id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(self.side.has(&self.loose(id))?)
    }

    /// Reads an object, which must be there.
    pub(crate) fn read(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        // Git looks into packs first.
        for pack in &self.packs {
            if let Some(offset) = pack.find(id)? {
                return self.counted(pack.read(offset)?);
            }
        }
        self.read_loose(id)
    }

    /// Reads an object from a pack that does not belong to these.
    pub(crate) fn read_from(&self, pack: &Pack, offset: u64) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        self.counted(pack.read(offset)?)
    }

    /// Reads an object that lies by itself.
    pub(crate) fn read_loose(&self, id: ObjectId) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        let file = self.side.file(&self.loose(id))?;
        let file = file.ok_or_else(|| Unreadable::Missing(id.to_string()))?;
        self.counted(parse_loose(&inflate(file)?)?)
    }

    /// A small file can stand for very much; what is read of a repository in all is bounded.
    fn counted(&self, object: (ObjectKind, Vec<u8>)) -> Result<(ObjectKind, Vec<u8>), Unreadable> {
        let left = self.budget.get().checked_sub(object.1.len() as u64);
        self.budget.set(left.ok_or(Unreadable::Format("the new commits are too large"))?);
        Ok(object)
    }

    /// Reads an object of a kind.
    pub(crate) fn read_as(&self, id: ObjectId, kind: ObjectKind) -> Result<Vec<u8>, Unreadable> {
        let (found, content) = self.read(id)?;
        if found == kind { Ok(content) } else { Err(Unreadable::Format("an object is of the wrong kind")) }
    }

    fn loose(&self, id: ObjectId) -> PathBuf {
        let digits = id.to_string();
        self.directory.join(&digits[..2]).join(&digits[2..])
    }
}

/// Unpacks a compressed stream that is not longer than an object may be.
pub(crate) fn inflate(from: impl std::io::Read) -> Result<Vec<u8>, Unreadable> {
    let mut content = Vec::new();
    ZlibDecoder::new(from).take(LONGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LONGEST {
        return Err(Unreadable::Format("an object is too long"));
    }
    Ok(content)
}

/// `commit 123\0`, then the content.
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
