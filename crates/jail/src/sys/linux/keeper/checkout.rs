//! Contents that git checks out at protected names.
//!
//! A content that the repository had at the same path before the run may come to its name; what is new may not. Only the whole
//! content tells. So git gets a file without a name to write; when it is closed, it gets the name or nothing does. That has
//! happened before the supervisor does anything else for anybody, and git always writes its index afterwards.
//!
//! The file is the one that git has looked at, and not a copy: git compares inodes. The link changes `ctime`, which the
//! environment of a jail has git ignore.
//!
//! **Invariant.** Nobody can write to a file whose content is read: the kernel tells that it is closed when the last descriptor and
//! mapping of the one description is gone, and until it has its name nobody gets a second one, or links it elsewhere.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use policy::{Act, Ground, ProtectedName, Verdict};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::path::{Spot, kind, place};
use super::repository::{self, Age};
use super::{Shared, refused, spawn, staging};
use crate::launch::WriteResult;
use crate::sys::linux::calls::confine;

/// Files that git writes at this moment.
#[derive(Default)]
pub(super) struct Checkouts {
    /// How many there are: mostly none.
    count: AtomicUsize,
    /// Held while files get their names. It is taken before the names, and `open` after them.
    finishing: Mutex<()>,
    open: Mutex<Open>,
    /// Contents that were at protected names at the top when the command started.
    before: Mutex<HashMap<PathBuf, (Vec<u8>, Stat)>>,
}

#[derive(Default)]
struct Open {
    /// The mounts of the jail, which stay until the last file has its name.
    mounts: Option<OwnedFd>,
    /// Tells when one of them is closed.
    closed: Option<Arc<OwnedFd>>,
    /// By their watches.
    files: HashMap<i32, Arc<Checkout>>,
}

/// A file without a name that git writes.
struct Checkout {
    spot: Spot,
    row: &'static ProtectedName,
    purpose: Purpose,
    /// For reading.
    file: OwnedFd,
}

/// What a file becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A file of a working tree.
    Content,
    /// The settings of a new repository, which are there already and empty.
    Settings,
}

/// Files at once. Git writes one at a time.
const MOST: usize = 256;

/// Gives git a file without a name, in place of one at a protected name where nothing is.
pub(super) fn begin(
    shared: &Arc<Shared>,
    spot: Spot,
    (row, purpose): (&'static ProtectedName, Purpose),
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    // Only for writing: what can be mapped can be written to after it was closed, by reading another file into it.
    let flags =
        flags & (OFlags::APPEND | OFlags::NONBLOCK) | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::TMPFILE;
    let file = match rustix::fs::openat(&spot.directory, c".", flags, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
            // The file system has no files without a name.
            return Err(refused(shared, spot.full(), row));
        }
        file => file?,
    };
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let reading = rustix::fs::open(&link, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut open = shared.checkouts.open.lock().unwrap_or_else(PoisonError::into_inner);
    if open.files.len() >= MOST {
        return Err(Errno::MFILE);
    }
    let closed = if let Some(closed) = &open.closed {
        Arc::clone(closed)
    } else {
        let namespace = format!("/proc/{}/ns/mnt", shared.first.as_raw_nonzero());
        open.mounts = Some(rustix::fs::open(namespace, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
        let closed = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        follow(shared, Arc::clone(&closed))?;
        Arc::clone(open.closed.insert(closed))
    };
    let watch = inotify::add_watch(&*closed, &link, WatchFlags::CLOSE_WRITE | WatchFlags::ONESHOT)?;
    open.files.insert(watch, Arc::new(Checkout { spot, row, purpose, file: reading }));
    shared.checkouts.count.store(open.files.len(), Ordering::Release);
    Ok(file)
}

/// Finishes files as soon as they are closed, until the jail ends.
fn follow(shared: &Arc<Shared>, closed: Arc<OwnedFd>) -> Result<(), Errno> {
    let shared = Arc::clone(shared);
    spawn(move || {
        loop {
            let mut watched = [
                PollFd::new(&*closed, PollFlags::IN),
                // It hangs up when the last process of the jail has ended.
                PollFd::new(&shared.listener, PollFlags::empty()),
            ];
            let polled = poll(&mut watched, None);
            let ended = !watched[1].revents().is_empty();
            match polled {
                Ok(_) if !ended => finish(&shared, &closed),
                Err(Errno::INTR) => {}
                _ => return,
            }
        }
    })
}

/// Finishes the files that are closed by now. Whoever asks afterwards finds them.
pub(super) fn finish_closed(shared: &Shared) {
    if shared.checkouts.count.load(Ordering::Acquire) == 0 {
        return;
    }
    let closed = shared.checkouts.open.lock().unwrap_or_else(PoisonError::into_inner).closed.clone();
    if let Some(closed) = closed {
        finish(shared, &closed);
    }
}

fn finish(shared: &Shared, closed: &OwnedFd) {
    let _one_at_a_time = shared.checkouts.finishing.lock().unwrap_or_else(PoisonError::into_inner);
    for watch in closed_files(closed) {
        let open = || shared.checkouts.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(checkout) = open().files.get(&watch).cloned() else { continue };
        checkout.finish(shared);
        // Until now nobody could write to it or link it.
        let mut open = open();
        open.files.remove(&watch);
        shared.checkouts.count.store(open.files.len(), Ordering::Release);
    }
}

/// Finishes what is left when the jail has ended, as the jail's user.
pub(super) fn finish_all(shared: &Arc<Shared>) {
    let left = {
        let mut open = shared.checkouts.open.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut open.files)
    };
    if !left.is_empty() {
        let (ended, wait) = channel::<Infallible>();
        let finishing = Arc::clone(shared);
        let work = move || {
            let _ended = ended;
            let user = finishing.about.user;
            if confine::use_files_as(user.uid, user.gid).is_ok() {
                for checkout in left.values() {
                    checkout.finish(&finishing);
                }
            }
        };
        if spawn(work).is_ok() {
            let _ended_or_late = wait.recv_timeout(LAST_FILES);
        }
    }
    shared.checkouts.open.lock().unwrap_or_else(PoisonError::into_inner).mounts = None;
}

/// Time for the last files.
const LAST_FILES: Duration = Duration::from_secs(12);

impl Checkouts {
    /// Remembers the contents at protected names at the top of a working tree. They may come back, and stay where a new one is
    /// withheld.
    pub(super) fn remember(&self, shared: &Shared, top: &Path) {
        if kind_at(shared, &top.join(".git")).is_none() {
            return;
        }
        let Ok(listed) = shared.listed_directory(top) else { return };
        let Ok(entries) = Dir::new(listed) else { return };
        let names = entries.flatten().take(MOST_NAMES).map(|entry| entry.file_name().to_bytes().to_vec());
        let is_kept = |name: &Vec<u8>| {
            let judged =
                shared.protected().judge(Ground::Tree, Path::new(OsStr::from_bytes(name)), Act::File);
            matches!(judged, Verdict::Kept(row) if !row.in_stores)
        };
        let mut pending: Vec<_> =
            names.filter(is_kept).map(|name| (top.join(OsStr::from_bytes(&name)), 0)).collect();
        let mut left = MOST_REMEMBERED;
        while let Some((path, depth)) = pending.pop() {
            let Some(bytes) = self.remember_one(shared, &path, left) else {
                let listed = shared.listed_directory(&path).and_then(Dir::new);
                let below = listed.into_iter().flat_map(|entries| entries.flatten().take(MOST_NAMES));
                let below = below.map(|entry| entry.file_name().to_bytes().to_vec());
                let below = below.filter(|name| depth < DEEPEST && !matches!(&name[..], b"." | b".."));
                pending.extend(below.map(|name| (path.join(OsStr::from_bytes(&name)), depth + 1)));
                continue;
            };
            left = left.saturating_sub(bytes + 1);
        }
    }

    /// Returns how much was read; `None` if it is no file.
    fn remember_one(&self, shared: &Shared, path: &Path, left: usize) -> Option<usize> {
        let directory = shared.directory(path.parent()?).ok()?;
        let name = CString::new(path.file_name()?.as_bytes()).ok()?;
        if kind(&directory, &name)? != FileType::RegularFile {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, &name, flags, Mode::empty()).ok();
        let Some(found) = file.and_then(|file| Some((rustix::fs::fstat(&file).ok()?, file))) else {
            return Some(0);
        };
        let size = usize::try_from(found.0.st_size).unwrap_or(usize::MAX);
        if size > left.min(LARGEST_REMEMBERED) {
            return Some(0);
        }
        let text = content(&found.1)?;
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        before.insert(path.to_owned(), (text, found.0));
        Some(size)
    }
}

/// Entries of a directory that are looked at.
const MOST_NAMES: usize = 4096;
/// Bytes that are remembered in all, and of one file.
const MOST_REMEMBERED: usize = 4 << 20;
const LARGEST_REMEMBERED: usize = 256 << 10;
/// Levels below a protected directory.
const DEEPEST: usize = 3;

fn kind_at(shared: &Shared, path: &Path) -> Option<FileType> {
    let directory = shared.directory(path.parent()?).ok()?;
    kind(&directory, &CString::new(path.file_name()?.as_bytes()).ok()?)
}

/// Fails if a file that had no name a moment ago is one that git writes, or has a name by now: nobody else writes to it or links it.
pub(super) fn is_free(shared: &Shared, file: &OwnedFd) -> Result<(), Errno> {
    let found = rustix::fs::fstat(file)?;
    if shared.checkouts.count.load(Ordering::Acquire) > 0 {
        let open = shared.checkouts.open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |checkout: &Arc<Checkout>| {
            rustix::fs::fstat(&checkout.file)
                .is_ok_and(|own| (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino))
        };
        if open.files.values().any(is_same) {
            return Err(Errno::PERM);
        }
    }
    // One that was finished meanwhile has its name.
    if rustix::fs::fstat(file)?.st_nlink == 0 { Ok(()) } else { Err(Errno::PERM) }
}

fn closed_files(closed: &OwnedFd) -> Vec<i32> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
    let mut events = inotify::Reader::new(closed, &mut buffer);
    let mut files = Vec::new();
    while let Ok(event) = events.next() {
        if event.events().contains(ReadFlags::CLOSE_WRITE) {
            files.push(event.wd());
        }
    }
    files
}

impl Checkout {
    fn finish(&self, shared: &Shared) {
        match (self.purpose, self.put(shared)) {
            (Purpose::Content, Some(())) => shared.wrote(self.spot.full(), self.row, WriteResult::Known),
            (Purpose::Content, None) => {
                let result =
                    if self.put_back(shared) { WriteResult::Restored } else { WriteResult::Withheld };
                shared.wrote(self.spot.full(), self.row, result);
            }
            (Purpose::Settings, Some(())) => {}
            (Purpose::Settings, None) => drop(refused(shared, self.spot.full(), self.row)),
        }
    }

    /// Puts back what was there when the command started: git has removed it, and a commit would record that.
    fn put_back(&self, shared: &Shared) -> bool {
        let before = shared.checkouts.before.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((text, like)) = before.get(&self.spot.full()) else { return false };
        let mut guard = shared.names_lock.of_call();
        guard.share();
        let is_same = place(&self.spot.directory).is_ok_and(|path| path == self.spot.path);
        // Something that is there by now stays.
        is_same && staging::create_like(&self.spot.directory, &self.spot.name, text, like).is_ok()
    }

    /// Gives the content its name, if it may have it.
    fn put(&self, shared: &Shared) -> Option<()> {
        let content = content(&self.file)?;
        let may = match self.purpose {
            Purpose::Content => was_there(shared, &self.spot.full(), &content),
            Purpose::Settings => repository::is_harmless(b"", &content, Age::New),
        };
        if !may {
            return None;
        }
        let mut guard = shared.names_lock.of_call();
        guard.share();
        // The directory may have been moved meanwhile.
        if place(&self.spot.directory).ok()? != self.spot.path {
            return None;
        }
        let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let Spot { directory, name, .. } = &self.spot;
        if self.purpose == Purpose::Settings {
            return staging::replace(directory, name, &content).ok();
        }
        rustix::fs::linkat(CWD, link, directory, name, AtFlags::SYMLINK_FOLLOW).ok()
    }
}

/// Nobody's file at a protected name is longer.
const LONGEST: usize = 8 << 20;

fn content(file: &OwnedFd) -> Option<Vec<u8>> {
    let size = usize::try_from(rustix::fs::fstat(file).ok()?.st_size).ok().filter(|size| *size <= LONGEST)?;
    let mut content = vec![0; size];
    let mut read = 0;
    while read < size {
        match rustix::io::pread(file, &mut content[read..], read as u64) {
            Ok(0) | Err(_) => return None,
            Ok(count) => read += count,
        }
    }
    Some(content)
}

/// Puts a known content that was written under another name at a protected one, as a rename does. `None` if it is not known.
pub(super) fn replace(shared: &Shared, old: &Spot, new: &Spot) -> Option<Result<(), Errno>> {
    if kind(&old.directory, &old.name) != Some(FileType::RegularFile) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&old.directory, &old.name, flags, Mode::empty()).ok()?;
    let content = content(&file)?;
    if !was_there(shared, &new.full(), &content) {
        return None;
    }
    let like = rustix::fs::fstat(&file).ok()?;
    let put = staging::replace_like(&new.directory, &new.name, &content, &like);
    Some(put.and_then(|()| rustix::fs::unlinkat(&old.directory, &old.name, rustix::fs::AtFlags::empty())))
}

/// Whether a content was at a path when the command started, or a repository around it had it there before.
fn was_there(shared: &Shared, path: &Path, content: &[u8]) -> bool {
    let before = shared.checkouts.before.lock().unwrap_or_else(PoisonError::into_inner);
    if before.get(path).is_some_and(|(text, _)| text == content) {
        return true;
    }
    drop(before);
    let Some(top) = shared.about.grounds.top_of(path) else { return false };
    let trees = path.ancestors().skip(1).take_while(|above| above.starts_with(top));
    let mut trees = trees.filter_map(|tree| Some((tree, repository::common_directory(shared, tree)?)));
    trees.any(|(tree, own)| {
        let Ok(below) = path.strip_prefix(tree) else { return false };
        // A clone of what was there before has nothing of its own that counts.
        let tops = shared.about.grounds.tops().filter(|_| tree != top);
        let others = tops.filter_map(|top| repository::common_directory(shared, top));
        let others: Vec<_> = others.filter(|other| *other != own).collect();
        std::iter::once(own.clone()).chain(others).any(|repository| {
            shared.references.had(shared, &repository, below.as_os_str().as_bytes(), content)
        })
    })
}

/// Whether a program is one that checks files out, by the name that it has. It decides who hears at once that a name is protected
/// and who only afterwards, and nothing else.
pub(super) fn checks_out(program: &[u8]) -> bool {
    program.starts_with(b"git") || program == b"jj"
}
