//! The packs in a directory: which there are, and which are open.

use std::fs::File;
use std::os::fd::OwnedFd;

use super::file;
use super::id::ObjectId;
use super::pack::{Index, Pack};

/// The packs of one directory of objects, the one that was useful last in front.
pub(super) struct PackList {
    objects: Option<OwnedFd>,
    directory: Option<OwnedFd>,
    /// Number of times that it may still be listed.
    listings: usize,
    is_listed: bool,
    packs: Vec<PackState>,
    serials: u64,
}

/// A pack that has been listed.
struct PackState {
    stem: Vec<u8>,
    /// A number that no other pack of the store has or has had.
    serial: u64,
    opened: Opened,
}

enum Opened {
    NotYet,
    Open(Index, File),
    /// It cannot be read.
    Broken,
}

const MOST_PACKS: usize = 1000;
/// Each takes two handles, of which a process may have 1,024.
const MOST_OPEN: usize = 24;
/// A command that repacks all the time is not followed for ever.
const MOST_LISTINGS: usize = 500;

impl PackList {
    /// Nothing is read before an object is looked for. `place` is the number of the directory in its store.
    pub(super) fn new(objects: &OwnedFd, place: u32) -> Self {
        let (objects, serials) = (objects.try_clone().ok(), u64::from(place) << 32);
        Self {
            objects,
            directory: None,
            listings: MOST_LISTINGS,
            is_listed: false,
            packs: Vec::new(),
            serials,
        }
    }

    /// Asks the packs that have an object for it, until one of them gives an answer.
    pub(super) fn find_map<T>(
        &mut self,
        id: &ObjectId,
        mut ask: impl FnMut(u64, Pack<'_>, u64) -> Option<T>,
    ) -> Option<T> {
        if !self.is_listed {
            self.refresh();
        }
        for at in 0..self.packs.len() {
            let serial = self.packs[at].serial;
            let Some(pack) = self.open(at) else { continue };
            let found = pack.index.find(id).ok().flatten();
            let Some(answer) = found.and_then(|offset| ask(serial, pack, offset)) else { continue };
            self.packs[..=at].rotate_right(1);
            return Some(answer);
        }
        None
    }

    fn open(&mut self, at: usize) -> Option<Pack<'_>> {
        if matches!(self.packs[at].opened, Opened::NotYet) {
            self.close_some();
            let stem = &self.packs[at].stem;
            let file =
                |end: &[u8]| Some(file::plain_file(self.directory.as_ref()?, &[stem, end].concat()).ok()?.0);
            let index = file(b".idx").and_then(|index| Index::open(index).ok());
            let opened =
                index.zip(file(b".pack")).map_or(Opened::Broken, |(index, file)| Opened::Open(index, file));
            self.packs[at].opened = opened;
        }
        match &self.packs[at].opened {
            Opened::Open(index, file) => Some(Pack { index, file }),
            Opened::NotYet | Opened::Broken => None,
        }
    }

    /// Makes room for one more: those in front have been useful.
    fn close_some(&mut self) {
        let open = self.packs.iter().filter(|pack| matches!(pack.opened, Opened::Open(..))).count();
        if open >= MOST_OPEN {
            let last = self.packs.iter_mut().rev().find(|pack| matches!(pack.opened, Opened::Open(..)));
            if let Some(pack) = last {
                pack.opened = Opened::NotYet;
            }
        }
    }

    /// Lists the packs again, and says whether there are new ones. Those that are open stay so, even when their names are gone.
    pub(super) fn refresh(&mut self) -> bool {
        self.is_listed = true;
        let Some(left) = self.listings.checked_sub(1) else { return false };
        self.listings = left;
        if self.directory.is_none() {
            let found = self.objects.as_ref().map(|objects| file::directory(objects, b"pack"));
            self.directory = found.and_then(Result::ok);
        }
        let names = self.directory.as_ref().and_then(|directory| file::names(directory, MOST_PACKS * 8).ok());
        let names = names.unwrap_or_default();
        self.packs.retain(|pack| matches!(pack.opened, Opened::Open(..)) || has(&names, &pack.stem));
        let stems = names.iter().filter_map(|name| name.strip_suffix(b".idx"));
        let new: Vec<_> = stems.filter(|stem| self.packs.iter().all(|pack| pack.stem != *stem)).collect();
        let room = MOST_PACKS.saturating_sub(self.packs.len());
        for stem in new.iter().take(room) {
            self.serials += 1;
            let (stem, serial) = (stem.to_vec(), self.serials);
            self.packs.push(PackState { stem, serial, opened: Opened::NotYet });
        }
        !new.is_empty() && room > 0
    }
}

fn has(names: &[Vec<u8>], stem: &[u8]) -> bool {
    names.binary_search(&[stem, b".idx"].concat()).is_ok()
}
