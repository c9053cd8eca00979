//! The objects of a repository, each checked by its name when it is read.

use std::collections::HashSet;
use std::ffi::OsStr;
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

/// State kept between objects to read the next one faster.
struct Decoder {
    inflater: Inflater,
    bases: BaseCache,
}

const MOST_ALTERNATES: usize = 8;
const DEEPEST_ALTERNATE: usize = 3;
const LONGEST_ALTERNATES: u64 = 64 << 10;
/// As many as git makes at most.
const LONGEST_CHAIN: usize = 4095;
/// Maximum cost of one object: the bytes of all deltas and of everything that they make.
const MOST_WORK: usize = 128 << 20;
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
        let decoder = Decoder { inflater: Inflater::new(), bases: BaseCache::default() };
        Ok(Self { places: places.collect(), decoder })
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
            packed.or_else(|| decoder.loose(&place.handle, id).filter(|object| is_named(object, id)))
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

impl Decoder {
    /// Reads an object that has a file of its own.
    fn loose(&mut self, objects: &OwnedFd, id: &ObjectId) -> Option<Object> {
        let name = id.to_string();
        let (first, rest) = name.as_bytes().split_at(2);
        let directory = file::directory(objects, first).ok()?;
        let (file, size) = file::plain_file(&directory, rest).ok()?;
        let limit = LARGEST + 32;
        (size <= u64::try_from(limit).ok()?).then_some(())?;
        let bytes = self.inflater.inflate(limit, |buffer| rustix::io::read(&file, buffer).ok())?;
        with_header(bytes)
    }

    /// Reads an object in a pack: the one at the end of its deltas, and then what they make of it.
    fn packed(&mut self, serial: u64, pack: &Pack, offset: u64, format: ObjectFormat) -> Option<Object> {
        let (mut object, mut at, mut deltas) = self.base(serial, pack, offset, format)?;
        self.bases.insert((serial, at), object.clone());
        let mut work = 0;
        while let Some((next, entry)) = deltas.pop() {
            let delta = pack.content(&entry, &mut self.inflater)?;
            let made = delta::apply(&object.content, &delta, object.kind.limit())?;
            work += delta.len() + made.len();
            (work <= MOST_WORK).then_some(())?;
            (object, at) = (Object::new(object.kind, made), next);
            self.bases.insert((serial, at), object.clone());
        }
        Some(object)
    }

    /// Follows deltas to an object that is whole, or has been read before.
    fn base(&mut self, serial: u64, pack: &Pack, mut offset: u64, format: ObjectFormat) -> Option<Base> {
        let mut deltas = Vec::new();
        loop {
            if let Some(object) = self.bases.get((serial, offset)) {
                return Some((object, offset, deltas));
            }
            let entry = pack.entry(offset, format)?;
            let next = match entry.form {
                Form::Whole(kind) => {
                    (kind != ObjectKind::Blob && entry.size <= kind.limit()).then_some(())?;
                    let content = pack.content(&entry, &mut self.inflater)?;
                    return Some((Object::new(kind, content), offset, deltas));
                }
                Form::DeltaAt(base) => base,
                Form::DeltaTo(id) => pack.find(&id)?,
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
