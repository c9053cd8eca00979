//! Changes made real.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::io::Errno;

use crate::change::{Change, Kind, Node, Seen};
use crate::error::{At as _, OverlayError};
use crate::manifest::Moment;
use crate::store::{Lock, Overlay};
use crate::tidy::{tidy, unfold};
use git::{Directory, Look, raw};

/// Result of applying changes.
#[derive(Debug)]
#[non_exhaustive]
pub struct ApplyReport {
    /// Number of changes that are real now.
    pub count: usize,
    /// Those that are not.
    pub left: Vec<UnappliedChange>,
    /// True if nothing is left of the overlay, so that it was removed.
    pub whole: bool,
}

/// A change that was not applied.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnappliedChange {
    /// In which view.
    pub view: usize,
    /// Path in the view.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// Content of files that are applied in part, by view and path.
pub type Parts = HashMap<(usize, PathBuf), Vec<u8>>;

impl Overlay {
    /// Makes changes real, each whole or not at all. `record` is asked before each; where it refuses, nothing more happens.
    /// A file that is applied in part gets its content from `parts`, and the rest stays in the overlay.
    ///
    /// A name that has changed since it was looked at is left alone. An overlay of which nothing is left is removed.
    pub fn apply<E: From<OverlayError>>(
        mut self,
        lock: Lock,
        changes: &[&Change],
        parts: &Parts,
        mut record: impl FnMut(&Change) -> Result<(), E>,
    ) -> Result<ApplyReport, E> {
        let (mut count, mut left, mut empty) = (0, Vec::new(), true);
        for view in 0..self.manifest.views.len() {
            let (upper, lower) = (self.upper(view)?, self.lower(view)?);
            let mut work = Work {
                upper: &upper,
                lower: &lower,
                owner: lower.own().at(APPLY, Path::new(""))?,
                parts,
                linked: HashMap::new(),
                unlinked: Vec::new(),
            };
            let here = Path::new("");
            unfold(here, &upper, Some(&lower), 0)?;
            let own: Vec<_> = changes.iter().filter(|change| change.view == view).copied().collect();
            let mut done = Vec::new();
            for change in in_order(&own) {
                record(change)?;
                match work.perform(change) {
                    Ok(()) => {
                        count += 1;
                        done.push(&change.path);
                    }
                    Err(why) => {
                        left.push(UnappliedChange { view, path: change.path.clone(), why: why.to_string() });
                    }
                }
            }
            work.settle_modes(&own).at(APPLY, here)?;
            self.manifest.unlinked.extend(std::mem::take(&mut work.unlinked));
            // Not before it is on the disk is it taken from the overlay.
            self.remember(view, &lower, &done);
            sync(&lower).at("cannot write", &self.manifest.views[view].path)?;
            empty &= tidy(here, &upper, Some(&lower), 0)?;
        }
        let whole = empty && left.is_empty();
        if whole {
            self.discard(lock)?;
        } else {
            self.write()?;
        }
        Ok(ApplyReport { count, left, whole })
    }

    /// Remembers that it was us who changed something, and the directories that it is in.
    fn remember(&mut self, view: usize, lower: &Directory, done: &[&PathBuf]) {
        let touched = |path: &Path| {
            let look = if path.as_os_str().is_empty() {
                lower.own().ok()
            } else {
                lower.holding(path).and_then(|(parent, name)| parent.look(name)).ok().flatten()
            };
            look.map(|look| look.touched())
        };
        let parents = done.iter().filter_map(|path| path.parent());
        for path in done.iter().map(|path| path.as_path()).chain(parents) {
            match touched(path) {
                Some(moment) => self.manifest.own.insert((view, path.to_owned()), moment),
                None => self.manifest.own.remove(&(view, path.to_owned())),
            };
        }
    }
}

const APPLY: &str = "cannot apply changes to";

#[cfg(target_os = "linux")]
fn sync(directory: &Directory) -> Result<(), Errno> {
    rustix::fs::syncfs(directory)
}

#[cfg(not(target_os = "linux"))]
fn sync(directory: &Directory) -> Result<(), Errno> {
    rustix::fs::fsync(directory)
}

/// Flag for a handle that does not open the file for reading or writing.
#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HELD: OFlags = OFlags::RDONLY;

/// Orders changes: removals first, the deepest before their parents; then additions, the other way round.
fn in_order<'a>(changes: &[&'a Change]) -> impl Iterator<Item = &'a Change> {
    let goes = |change: &&&Change| change.after.is_none();
    let mut first: Vec<_> = changes.iter().filter(goes).copied().collect();
    let mut then: Vec<_> = changes.iter().filter(|change| !goes(change)).copied().collect();
    first.sort_by(|one, other| other.path.cmp(&one.path));
    then.sort_by(|one, other| one.path.cmp(&other.path));
    first.into_iter().chain(then)
}

/// Why a change was not applied.
#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("it was changed outside meanwhile")]
    Outside,
    #[error("{0}")]
    Cannot(&'static str),
    #[error("{0}")]
    System(#[from] Errno),
}

/// Applying the changes of one view.
struct Work<'a> {
    upper: &'a Directory,
    lower: &'a Directory,
    /// The view itself: whose it is.
    owner: Look,
    parts: &'a Parts,
    /// Files with more than one name in the overlay, and the first that each has got outside.
    linked: HashMap<(u64, u64), (PathBuf, (u64, u64))>,
    /// Files outside that lost one of several hard links, and the time of that change.
    unlinked: Vec<((u64, u64), Moment)>,
}

/// Target of a change.
struct Place<'a> {
    parent: Directory,
    name: &'a OsStr,
}

impl Work<'_> {
    fn perform(&mut self, change: &Change) -> Result<(), Why> {
        if let Some(why) = change.cannot {
            return Err(Why::Cannot(why));
        }
        if change.path.as_os_str().is_empty() {
            // The directory itself only has a mode, which comes last.
            return Ok(());
        }
        let (parent, name) = self.lower.holding(&change.path)?;
        let place = Place { parent, name };
        let now = place.parent.look(name)?;
        if now.map(|look| Seen::of(&look)) != change.seen {
            return Err(Why::Outside);
        }
        let other_names =
            now.filter(|look| look.names() > 1 && !change.outside).map(|look| place.hold(&look));
        let other_names = other_names.transpose()?.flatten();
        self.place(change, &place, now)?;
        if let Some(held) = other_names {
            let look = Look(rustix::fs::fstat(&held)?);
            self.unlinked.push((look.id(), look.touched()));
        }
        Ok(())
    }

    fn place(&mut self, change: &Change, place: &Place<'_>, now: Option<Look>) -> Result<(), Why> {
        let is_directory = now.is_some_and(|look| look.is_directory());
        match &change.after {
            None => place.clear(is_directory),
            Some(Node { kind: Kind::Directory, .. }) => self.directory(place, now),
            Some(Node { kind: Kind::Link(target), .. }) => self.link(place, target, is_directory),
            Some(Node { kind: Kind::File, .. }) => self.file(place, change, is_directory),
            Some(Node { kind: Kind::Special, .. }) => {
                Err(Why::Cannot("it is neither file, directory nor link"))
            }
        }
    }

    fn directory(&self, place: &Place<'_>, now: Option<Look>) -> Result<(), Why> {
        if now.is_some_and(|look| look.is_directory()) {
            return Ok(());
        }
        if now.is_some() {
            place.clear(false)?;
        }
        // Its own mode comes when everything is in it.
        rustix::fs::mkdirat(&place.parent, place.name, Mode::from_raw_mode(raw(0o700)))?;
        crate::store::give(&place.parent.enter(place.name)?, &self.owner)?;
        Ok(())
    }

    fn link(&self, place: &Place<'_>, target: &Path, over_directory: bool) -> Result<(), Why> {
        let new = fresh();
        rustix::fs::symlinkat(target, &place.parent, &new)?;
        let given = self.give(&place.parent, &new);
        place.take(&new, over_directory, given)
    }

    fn file(&mut self, place: &Place<'_>, change: &Change, over_directory: bool) -> Result<(), Why> {
        if let Some(content) = self.parts.get(&(change.view, change.path.clone())) {
            return self.part(place, content);
        }
        if !change.content && change.before.is_some() {
            let file = place.parent.file(place.name)?;
            let mode = change.after.as_ref().map_or(0, |node| node.mode);
            return Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(raw(mode)))?);
        }
        let (parent, name) = self.upper.holding(&change.path)?;
        let source = parent.file(name)?;
        let look = Look(rustix::fs::fstat(&source)?);
        let new = fresh();
        let made = match self.first_name(&look) {
            Some((first, name)) => {
                let linked = rustix::fs::linkat(&first, &name, &place.parent, &new, AtFlags::empty());
                linked.or_else(|_| self.copy(source, &look, place, &new))
            }
            None => self.copy(source, &look, place, &new),
        };
        place.take(&new, over_directory, made)?;
        if look.names() > 1
            && let Some(put) = place.parent.look(place.name)?
        {
            self.linked.insert(look.id(), (change.path.clone(), put.id()));
        }
        Ok(())
    }

    /// Replaces the content of a file, and keeps its other attributes.
    fn part(&self, place: &Place<'_>, content: &[u8]) -> Result<(), Why> {
        let now = place.parent.look(place.name)?.filter(|look| look.kind() == FileType::RegularFile);
        let now = now.ok_or(Why::Outside)?;
        let new = fresh();
        let made = || -> Result<(), Errno> {
            let file = made(place, &new)?;
            (&file).write_all(content).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            self.give(&place.parent, &new)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(raw(now.mode())))
        };
        place.take(&new, false, made())
    }

    /// Finds the first applied name of a file with several names, if that is still the same file.
    fn first_name(&self, look: &Look) -> Option<(Directory, OsString)> {
        let (path, id) = self.linked.get(&look.id())?;
        let (parent, name) = self.lower.holding(path).ok()?;
        let same = parent.look(name).ok()??.id() == *id;
        same.then(|| (parent, name.to_owned()))
    }

    fn copy(&self, source: File, look: &Look, place: &Place<'_>, new: &OsStr) -> Result<(), Errno> {
        let made = made(place, new)?;
        fill(&made, source, look.size())?;
        self.give(&place.parent, new)?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(raw(look.mode())))?;
        let modified = look.modified();
        let modified = Timespec { tv_sec: modified.seconds, tv_nsec: modified.nanoseconds.into() };
        rustix::fs::futimens(&made, &Timestamps { last_access: modified, last_modification: modified })
    }

    /// Gives a new name to the owner of the view, if it is root who made it.
    fn give(&self, parent: &Directory, name: &OsStr) -> Result<(), Errno> {
        if !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        let (uid, gid) = (Uid::from_raw(self.owner.0.st_uid), Gid::from_raw(self.owner.0.st_gid));
        rustix::fs::chownat(parent, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Directories get their modes last, the deepest first: one that cannot be written could not have been filled.
    fn settle_modes(&self, changes: &[&Change]) -> Result<(), Errno> {
        for change in changes.iter().rev() {
            let Some(Node { kind: Kind::Directory, mode, .. }) = &change.after else { continue };
            let Ok(directory) = self.lower.along(&change.path) else { continue };
            let own = directory.own()?;
            let mode = own.0.st_mode & 0o7000 | raw(*mode);
            rustix::fs::fchmod(&directory, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }
}

impl Place<'_> {
    /// Opens a handle on a file that keeps other hard links when it loses this name. Its change time
    /// distinguishes that from a change by other processes.
    fn hold(&self, look: &Look) -> Result<Option<OwnedFd>, Errno> {
        if look.is_directory() {
            return Ok(None);
        }
        let flags = HELD | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.parent, self.name, flags, Mode::empty()).map(Some)
    }

    fn clear(&self, is_directory: bool) -> Result<(), Why> {
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match rustix::fs::unlinkat(&self.parent, self.name, flags) {
            Err(Errno::NOTEMPTY) => Err(Why::Cannot("something is still in it")),
            other => Ok(other?),
        }
    }

    /// Puts what was made under another name in its place.
    fn take(&self, new: &OsStr, over_directory: bool, made: Result<(), Errno>) -> Result<(), Why> {
        let put = || {
            made?;
            if over_directory {
                self.clear(true)?;
            }
            Ok(rustix::fs::renameat(&self.parent, new, &self.parent, self.name)?)
        };
        put().inspect_err(|_: &Why| {
            // The first error is the one to tell; a file that is left over says so itself.
            let _left = rustix::fs::unlinkat(&self.parent, new, AtFlags::empty());
        })
    }
}

/// Creates a file in the same directory.
fn made(place: &Place<'_>, new: &OsStr) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&place.parent, new, flags, Mode::from_raw_mode(raw(0o600))).map(File::from)
}

/// Copies what is in a file. What it only seems to have takes no space in the copy either.
fn fill(mut to: &File, mut from: File, length: u64) -> Result<(), Errno> {
    use rustix::fs::SeekFrom::{Data, Hole, Start};
    let broken = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let mut at = 0;
    while at < length {
        let begin = match rustix::fs::seek(&from, Data(at)) {
            Err(Errno::NXIO) => break,
            other => other?,
        };
        let end = rustix::fs::seek(&from, Hole(begin))?;
        rustix::fs::seek(&from, Start(begin))?;
        rustix::fs::seek(to, Start(begin))?;
        io::copy(&mut io::Read::by_ref(&mut from).take(end.saturating_sub(begin)), &mut to)
            .map_err(broken)?;
        at = end;
    }
    rustix::fs::ftruncate(to, length)
}

/// Returns an unused name.
fn fresh() -> OsString {
    let number = RandomState::new().hash_one(std::process::id());
    OsStr::from_bytes(format!(".ringfence-{number:016x}").as_bytes()).to_owned()
}
