//! The objects of a repository, each checked by its name when it is read.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::cache::BaseCache;
use super::id::{ObjectFormat, ObjectId};
use super::inflate::Inflater;
use super::object::{Commit, LARGEST, Object, ObjectKind, id_of, tagged, with_header};
use super::pack::{Form, Pack, PackEntry};
use super::packs::PackList;
use super::{delta, file};

/// The object directories of a repository.
pub(super) struct ObjectStore {
    places: Vec<ObjectDirectory>,
    decoder: Decoder,
}

/// One directory called `objects`.
struct ObjectDirectory {
    handle: OwnedFd,
    packs: PackList,
}

/// Reads objects out of files. They have not been checked by their names.
pub struct Decoder {
    /// Kept, like the next one, to read other objects faster.
    inflater: Inflater,
    bases: BaseCache,
    limit: fn(ObjectKind) -> usize,
    most_work: u64,
    /// Bytes of all deltas, and of everything that they made.
    work: u64,
}

const MOST_ALTERNATES: usize = 8;
const DEEPEST_ALTERNATE: usize = 3;
const LONGEST_ALTERNATES: u64 = 64 << 10;
/// As many as git makes at most.
const LONGEST_CHAIN: usize = 4095;
/// Maximum cost of one object: the bytes of all deltas and of everything that they make.
const MOST_WORK: u64 = 128 << 20;
const DEEPEST_TAG: usize = 16;

impl ObjectStore {
    /// Opens the objects of a repository, and those that it borrows from others.
    pub(super) fn open(git_dir: &OwnedFd) -> Result<Self, Errno> {
        let objects = file::directory(git_dir, b"objects")?;
        let mut seen = HashSet::from([identity(&objects)?]);
        let mut handles = vec![(objects, 0)];
        let mut next = 0;
        while let Some((handle, depth)) = handles.get(next) {
            let (found, depth) = (alternates(handle), depth + 1);
            next += 1;
            for alternate in found.into_iter().filter(|_| depth <= DEEPEST_ALTERNATE) {
                let is_new = identity(&alternate).is_ok_and(|identity| seen.insert(identity));
                if is_new && handles.len() <= MOST_ALTERNATES {
                    handles.push((alternate, depth));
                }
            }
        }
        let places = handles.into_iter().zip(0..).map(|((handle, _), number)| {
            let packs = PackList::new(&handle, number);
            ObjectDirectory { handle, packs }
        });
        Ok(Self { places: places.collect(), decoder: Decoder::new(ObjectKind::limit, MOST_WORK) })
    }

    /// Reads an object. `None` if it is not there, or is something else than its name says.
    pub(super) fn read(&mut self, id: &ObjectId) -> Option<Object> {
        if let Some(object) = self.search(id) {
            return Some(object);
        }
        // A repack may have moved it since the packs were listed.
        let new = self.places.iter_mut().filter_map(|place| place.packs.refresh().then_some(())).count();
        if new > 0 { self.search(id) } else { None }
    }

    fn search(&mut self, id: &ObjectId) -> Option<Object> {
        let Self { places, decoder } = self;
        places.iter_mut().find_map(|place| {
            let packed = place.packs.find_map(id, |serial, pack, offset| {
                decoder.packed(serial, pack, offset, id.format()).filter(|object| is_named(object, id))
            });
            let mut loose = || loose(&place.handle, id).and_then(|file| decoder.loose(&file));
            packed.or_else(|| loose().filter(|object| is_named(object, id)))
        })
    }

    /// Reads a tree.
    pub(super) fn tree(&mut self, id: &ObjectId) -> Option<Object> {
        self.read(id).filter(|object| object.kind == ObjectKind::Tree)
    }

    /// Reads a commit.
    pub(super) fn commit(&mut self, id: &ObjectId) -> Option<Commit> {
        let object = self.read(id).filter(|object| object.kind == ObjectKind::Commit)?;
        Commit::parse(id.format(), &object.content)
    }

    /// Reads the commit that a name leads to, through tags.
    pub(super) fn peeled(&mut self, id: &ObjectId) -> Option<(ObjectId, Commit)> {
        let mut id = *id;
        for _ in 0..DEEPEST_TAG {
            let object = self.read(&id)?;
            match object.kind {
                ObjectKind::Commit => return Some((id, Commit::parse(id.format(), &object.content)?)),
                ObjectKind::Tag => id = tagged(id.format(), &object.content)?,
                ObjectKind::Tree | ObjectKind::Blob => return None,
            }
        }
        None
    }
}

fn is_named(object: &Object, id: &ObjectId) -> bool {
    id_of(id.format(), object.kind, &object.content).as_ref() == Some(id)
}

/// Opens the file of an object that has one of its own.
fn loose(objects: &OwnedFd, id: &ObjectId) -> Option<File> {
    let name = id.to_string();
    let (first, rest) = name.as_bytes().split_at(2);
    file::plain_file(&file::directory(objects, first).ok()?, rest).ok().map(|(file, _)| file)
}

impl Decoder {
    /// Makes one that reads no more than `limit` bytes of an object, and does no more than `most_work` for it.
    #[must_use]
    pub fn new(limit: fn(ObjectKind) -> usize, most_work: u64) -> Self {
        Self { inflater: Inflater::new(), bases: BaseCache::default(), limit, most_work, work: 0 }
    }

    /// Returns the cost of all objects until now: the bytes of all deltas and of everything that they made.
    #[must_use]
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// Reads an object that has a file of its own. `None` if it is damaged or too large.
    pub fn loose(&mut self, file: &File) -> Option<Object> {
        let limit = LARGEST + 32;
        let mut file = file.take(limit as u64);
        let bytes = self.inflater.inflate(limit, |buffer| file.read(buffer).ok())?;
        with_header(bytes).filter(|object| object.content.len() <= (self.limit)(object.kind))
    }

    /// Reads an object in a pack: the one at the end of its deltas, and then what they make of it. `serial` is a number that no other
    /// pack has. `None` if it is damaged or costs too much.
    pub fn packed(
        &mut self,
        serial: u64,
        pack: Pack<'_>,
        offset: u64,
        format: ObjectFormat,
    ) -> Option<Object> {
        let (mut object, mut at, mut deltas) = self.base(serial, pack, offset, format)?;
        self.bases.insert((serial, at), object.clone());
        let before = self.work;
        while let Some((next, entry)) = deltas.pop() {
            let delta = pack.content(&entry, &mut self.inflater)?;
            let made = delta::apply(&object.content, &delta, (self.limit)(object.kind))?;
            self.work += (delta.len() + made.len()) as u64;
            (self.work - before <= self.most_work).then_some(())?;
            (object, at) = (Object::new(object.kind, made), next);
            self.bases.insert((serial, at), object.clone());
        }
        Some(object)
    }

    /// Follows deltas to an object that is whole, or has been read before.
    fn base(&mut self, serial: u64, pack: Pack<'_>, mut offset: u64, format: ObjectFormat) -> Option<Base> {
        let mut deltas = Vec::new();
        loop {
            if let Some(object) = self.bases.get((serial, offset)) {
                return Some((object, offset, deltas));
            }
            let entry = pack.entry(offset, format)?;
            let next = match entry.form {
                Form::Whole(kind) => {
                    (entry.size <= (self.limit)(kind)).then_some(())?;
                    let content = pack.content(&entry, &mut self.inflater)?;
                    return Some((Object::new(kind, content), offset, deltas));
                }
                Form::DeltaAt(base) => base,
                Form::DeltaTo(id) => pack.index.find(&id).ok()??,
            };
            deltas.push((offset, entry));
            (deltas.len() <= LONGEST_CHAIN).then_some(())?;
            offset = next;
        }
    }
}

/// An object, its offset, and the deltas to be applied to it, the last one first.
type Base = (Object, u64, Vec<(u64, PackEntry)>);

/// Opens the directories that a directory of objects borrows from. What they hold is checked like all the rest.
fn alternates(objects: &OwnedFd) -> Vec<OwnedFd> {
    let text = file::directory(objects, b"info")
        .and_then(|directory| file::text(directory, b"alternates", LONGEST_ALTERNATES))
        .unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n');
    let paths = lines.filter(|line| !matches!(line.first(), None | Some(b'#' | b'"')));
    let opened = paths.take(MOST_ALTERNATES).map(|path| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let from = if path.starts_with(b"/") { CWD } else { objects.as_fd() };
        rustix::fs::openat(from, OsStr::from_bytes(path), flags, Mode::empty())
    });
    opened.filter_map(Result::ok).collect()
}

/// Returns the numbers that tell a directory from others.
fn identity(handle: &OwnedFd) -> Result<(u64, u64), Errno> {
    let found = rustix::fs::fstat(handle)?;
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    Ok((found.st_dev as u64, found.st_ino as u64))
}
