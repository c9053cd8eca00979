//! The object database of a repository, read without git: its content was written by an untrusted command.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use git::{Decoder, Index, LARGEST, ObjectFormat, Pack};
pub(crate) use git::{Object, ObjectId, ObjectKind};
use rustix::io::Errno;

use crate::side::Side;

/// Parses an object ID of forty hexadecimal digits. Repositories that name objects by another hash are not read.
pub(crate) fn parse_id(text: &[u8]) -> Option<ObjectId> {
    ObjectId::from_hex(text).filter(|id| id.format() == SHA1)
}

pub(crate) const SHA1: ObjectFormat = ObjectFormat::Sha1;

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
        Errno::from_io_error(&error).map_or(DAMAGED, Self::System)
    }
}

const DAMAGED: Unreadable = Unreadable::Format("an object or a pack is damaged, or an object is too large");

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

const TOO_LARGE: &str = "the new commits are too large";
const TOO_MANY: Unreadable = Unreadable::Format("it has too many packs");

/// Amount of work that is left.
pub(crate) struct Budget {
    left: Cell<u64>,
    over: &'static str,
}

impl Budget {
    const fn new(left: u64, over: &'static str) -> Self {
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
    /// Indexes of packs, each with the path of the pack.
    packs: Vec<(PathBuf, Index)>,
    last: RefCell<LastPack>,
    /// Bytes of objects that may still be read.
    bytes: Budget,
    decoder: RefCell<Decoder>,
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
            let index = if is_short {
                in_memory += length;
                let mut content = Vec::new();
                index.take(SHORT_INDEX).read_to_end(&mut content)?;
                Index::from_bytes(content)?
            } else {
                open += 1;
                Index::open(index)?
            };
            packs.push((data, index));
            if open > MOST_OPEN {
                return Err(TOO_MANY);
            }
        }
        Ok(Self {
            side,
            directory,
            packs,
            last: RefCell::new(None),
            bytes: Budget::new(MOST_BYTES, TOO_LARGE),
            decoder: RefCell::new(Decoder::new(|_| LARGEST, MOST_WORK)),
            questions: Budget::new(MOST_QUESTIONS, "it has too many packs for its new commits"),
        })
    }

    /// Returns the position of the pack that contains an object, and the offset in the pack.
    fn find(&self, id: ObjectId) -> Result<Option<(usize, u64)>, Unreadable> {
        self.questions.charge(self.packs.len() as u64)?;
        for (at, (_, index)) in self.packs.iter().enumerate() {
            if let Some(offset) = index.find(&id)? {
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

    /// Returns the position and the index of the pack at a path.
    pub(crate) fn pack(&self, path: &Path) -> Option<(usize, &Index)> {
        let at = self.packs.iter().position(|(pack, _)| pack == path)?;
        Some((at, &self.packs[at].1))
    }

    /// Reads an object, which must exist.
    pub(crate) fn read(&self, id: ObjectId) -> Result<Object, Unreadable> {
        // Git searches packs first.
        match self.find(id)? {
            Some((at, offset)) => self.read_packed(at, offset),
            None => self.read_loose(id),
        }
    }

    /// Reads an object from a pack.
    pub(crate) fn read_packed(&self, at: usize, offset: u64) -> Result<Object, Unreadable> {
        let file = self.data(at)?;
        let pack = Pack { index: &self.packs[at].1, file: &file };
        let object = self.decoder.borrow_mut().packed(at as u64, pack, offset, SHA1);
        self.charged(object)
    }

    /// Reads a loose object.
    pub(crate) fn read_loose(&self, id: ObjectId) -> Result<Object, Unreadable> {
        let file = self.side.file(&self.loose(id))?;
        let file = file.ok_or_else(|| Unreadable::Missing(id.to_string()))?;
        let object = self.decoder.borrow_mut().loose(&file);
        self.charged(object)
    }

    /// Charges an object to the budget: a small file can expand to a large object, so the total is bounded.
    fn charged(&self, object: Option<Object>) -> Result<Object, Unreadable> {
        if self.decoder.borrow().work() > MOST_WORK {
            return Err(Unreadable::Format(TOO_LARGE));
        }
        let object = object.ok_or(DAMAGED)?;
        self.bytes.charge(object.content.len() as u64)?;
        Ok(object)
    }

    /// Reads an object, and checks its type.
    pub(crate) fn read_as(&self, id: ObjectId, kind: ObjectKind) -> Result<Object, Unreadable> {
        let object = self.read(id)?;
        if object.kind == kind {
            Ok(object)
        } else {
            Err(Unreadable::Format("an object is of the wrong kind"))
        }
    }

    fn loose(&self, id: ObjectId) -> PathBuf {
        let digits = id.to_string();
        self.directory.join(&digits[..2]).join(&digits[2..])
    }
}
