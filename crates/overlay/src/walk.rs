//! Changes in an overlay's directory, compared with the real one.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::change::{Change, Seen};
use crate::compare::Entry;
use crate::error::{At as _, OverlayError};
use crate::manifest::Manifest;
use crate::marks;
use crate::protection::Protection;
use git::{Directory, Look};

/// Deeper than directories are nested in practice; each level holds two handles.
pub(crate) const DEEPEST: usize = 200;

/// More than a person looks through.
const MOST: usize = 500_000;

/// A walk through one view.
pub(crate) struct Walk<'a> {
    pub(crate) id: &'a str,
    pub(crate) view: usize,
    pub(crate) manifest: &'a Manifest,
    pub(crate) protection: Protection<'a>,
    pub(crate) changes: Vec<Change>,
    /// Files of the overlay that still have a name outside, unchanged.
    pub(crate) linked: HashSet<(u64, u64)>,
    /// Changes at names that may have been removed outside, each with the file of the overlay that has the
    /// name.
    pub(crate) undecided: Vec<(usize, (u64, u64))>,
}

/// A directory of changes, and what it stands for.
struct Level<'a> {
    path: &'a Path,
    upper: &'a Directory,
    lower: Option<&'a Directory>,
    /// True if nothing of what is below is seen but what is here.
    hides: bool,
    depth: usize,
}

impl Walk<'_> {
    /// Finds every change of the view.
    pub(crate) fn whole(mut self) -> Result<Vec<Change>, OverlayError> {
        let (upper, lower) = (self.protection.upper, self.protection.lower);
        let here = Path::new("");
        let (above, below) = (upper.own().at(READ, here)?, lower.own().at(READ, here)?);
        if above.mode() != below.mode() {
            let [before, after] = [below, above].map(|look| crate::change::Node {
                kind: crate::change::Kind::Directory,
                mode: look.mode(),
                size: 0,
            });
            let change = self.change(here, Some(before), Some(after));
            self.push(Change { seen: Some(Seen::of(&below)), ..change })?;
        }
        let hides = marks::is_opaque(upper).at(READ, here)?;
        self.level(&Level { path: here, upper, lower: Some(lower), hides, depth: 0 })?;
        for (at, file) in &self.undecided {
            self.changes[*at].outside = !self.linked.contains(file);
        }
        Ok(self.changes)
    }

    fn level(&mut self, level: &Level<'_>) -> Result<(), OverlayError> {
        let names = level.upper.names().at(READ, level.path)?;
        for name in &names {
            self.entry(level, name)?;
        }
        let Some(lower) = level.lower.filter(|_| level.hides) else { return Ok(()) };
        let hidden = lower.names().at(READ, level.path)?;
        for name in hidden.into_iter().filter(|name| names.binary_search(name).is_err()) {
            self.removed(&level.path.join(&name), lower, &name, level.depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, level: &Level<'_>, name: &OsString) -> Result<(), OverlayError> {
        let path = level.path.join(name);
        let Some(above) = Entry::of(level.upper, name).at(READ, &path)? else { return Ok(()) };
        let below = level.lower.map(|lower| Entry::of(lower, name)).transpose().at(READ, &path)?.flatten();
        if below.is_some_and(|below| !self.touched_outside(&path, &below.look)) {
            self.linked.insert(above.look.id());
        }
        if above.look.is_whiteout() {
            let lower = level.lower.filter(|_| below.is_some());
            return lower.map_or(Ok(()), |lower| self.removed(&path, lower, name, level.depth));
        }
        if let Some(mark) = marks::foreign(&above).at(READ, &path)? {
            let why = format!("{} has the mark {mark}", policy::Shown::path(&path));
            return Err(OverlayError::Damaged { id: self.id.to_owned(), why });
        }
        // Entries of a directory go with it.
        if let (Some(below), Some(lower), false) = (below, level.lower, above.look.is_directory())
            && below.look.is_directory()
        {
            self.emptied(&path, lower, name, level.depth)?;
        }
        self.compared(level, &path, above, below)?;
        if above.look.is_directory() { self.deeper(level, &path, above, below) } else { Ok(()) }
    }

    /// Walks the entries of a directory of changes.
    fn deeper(
        &mut self,
        level: &Level<'_>,
        path: &Path,
        above: Entry<'_>,
        below: Option<Entry<'_>>,
    ) -> Result<(), OverlayError> {
        let depth = level.depth + 1;
        let Some(upper) = self.open(path, above, depth)? else { return Ok(()) };
        let below = below.filter(|below| below.look.is_directory());
        let lower = below.map(|below| below.parent.enter(below.name)).transpose().at(READ, path)?;
        let hides = level.hides || marks::is_opaque(&upper).at(READ, path)?;
        self.level(&Level { path, upper: &upper, lower: lower.as_ref(), hides, depth })
    }

    /// A directory, unless it lies too deep or is closed to us: then it is told.
    fn open(
        &mut self,
        path: &Path,
        entry: Entry<'_>,
        depth: usize,
    ) -> Result<Option<Directory>, OverlayError> {
        let why = match entry.parent.enter(entry.name) {
            _ if depth > DEEPEST => "it lies too deep",
            Ok(opened) => return Ok(Some(opened)),
            Err(Errno::ACCESS) => "it is closed to everybody",
            Err(errno) => return Err(errno).at(READ, path),
        };
        // It may be told already, for another reason.
        if self.changes.last().is_some_and(|last| last.path == path) {
            self.changes.pop();
        }
        let node = Some(entry.node().at(READ, path)?);
        let change = self.change(path, node.clone(), node);
        self.push(Change { cannot: Some(why), ..change })?;
        Ok(None)
    }

    /// Compares an entry that is on both sides, or above only.
    fn compared(
        &mut self,
        level: &Level<'_>,
        path: &Path,
        above: Entry<'_>,
        below: Option<Entry<'_>>,
    ) -> Result<(), OverlayError> {
        if below.is_some_and(|below| above.is_like(&below)) {
            return Ok(());
        }
        let content = below.is_none_or(|below| !above.has_content_of(&below).unwrap_or(false));
        let after = above.node().at(READ, path)?;
        let before = below.map(|below| below.node()).transpose().at(READ, path)?;
        let outside = below.is_some_and(|below| self.touched_outside(path, &below.look));
        if below.is_none() && self.is_perhaps_removed_outside(level, &above).at(READ, path)? {
            self.undecided.push((self.changes.len(), above.look.id()));
        }
        let special = after.kind == crate::change::Kind::Special;
        let change = self.change(path, before, Some(after));
        self.push(Change {
            content,
            outside,
            seen: below.map(|below| Seen::of(&below.look)),
            cannot: special.then_some("it is a pipe, a socket or a device"),
            ..change
        })
    }

    /// Returns true if the name of a file that was copied up may have been removed outside: it is gone, and
    /// the directory was changed outside since. The name is also gone if the command moved or linked the file
    /// to this name.
    fn is_perhaps_removed_outside(&self, level: &Level<'_>, above: &Entry<'_>) -> Result<bool, Errno> {
        let Some(lower) = level.lower.filter(|_| above.look.kind() == FileType::RegularFile) else {
            return Ok(false);
        };
        Ok(self.is_later(level.path, &lower.own()?) && marks::is_copied(above.parent, above.name)?)
    }

    /// Returns true if another program has changed something since the command began. Of directories only the entries count.
    fn touched_outside(&self, path: &Path, look: &Look) -> bool {
        !look.is_directory()
            && self.is_later(path, look)
            && !crate::git::is_clean_index(self.protection.lower, path)
    }

    fn is_later(&self, path: &Path, look: &Look) -> bool {
        look.touched() >= self.manifest.began && !self.manifest.is_own(self.view, path, look)
    }

    /// Something that is not there any more, with everything in it.
    fn removed(
        &mut self,
        path: &Path,
        lower: &Directory,
        name: &OsStr,
        depth: usize,
    ) -> Result<(), OverlayError> {
        let Some(below) = Entry::of(lower, name).at(READ, path)? else { return Ok(()) };
        let directory = below.look.is_directory();
        if directory {
            self.emptied(path, lower, name, depth)?;
        }
        let before = below.node().at(READ, path)?;
        let change = self.change(path, Some(before), None);
        let outside = self.touched_outside(path, &below.look);
        self.push(Change { outside, seen: Some(Seen::of(&below.look)), ..change })
    }

    /// Everything in a directory that is not there any more.
    fn emptied(
        &mut self,
        path: &Path,
        lower: &Directory,
        name: &OsStr,
        depth: usize,
    ) -> Result<(), OverlayError> {
        if depth >= DEEPEST {
            return Err(Errno::NAMETOOLONG).at("cannot go deeper than", path);
        }
        let directory = lower.enter(name).at(READ, path)?;
        for name in directory.names().at(READ, path)? {
            self.removed(&path.join(&name), &directory, &name, depth + 1)?;
        }
        Ok(())
    }

    fn change(
        &self,
        path: &Path,
        before: Option<crate::change::Node>,
        after: Option<crate::change::Node>,
    ) -> Change {
        Change {
            view: self.view,
            path: PathBuf::from(path),
            protected: self.protection.of(path, after.as_ref()),
            before,
            after,
            content: false,
            outside: false,
            cannot: None,
            seen: None,
        }
    }

    fn push(&mut self, change: Change) -> Result<(), OverlayError> {
        if self.changes.len() >= MOST {
            return Err(OverlayError::TooMany(MOST));
        }
        self.changes.push(change);
        Ok(())
    }
}

const READ: &str = "cannot read";
