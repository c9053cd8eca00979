//! Contents that git checks out at protected names.
//!
//! Content that the repository had at the same path before the run may come to its name; new content may not, and only the whole
//! content tells them apart. So git gets a file without a name to write, which is linked to the name or dropped when it is closed.
//! The supervisor does that before it handles another call, and git renames its index after every checkout.
//!
//! The file is the one that git has looked at, and not a copy: git compares inodes. The link changes `ctime`, which the
//! environment of a jail has git ignore.
//!
//! **Invariant.** A file whose content is read has no writer: it is open for writing only, so it cannot be mapped; the kernel
//! reports the close of its only description; and until it is linked, every other open for writing and every link is refused.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
    /// Number of files: mostly none.
    count: AtomicUsize,
    /// Held while files get their names. It is taken before the names, and `open` after them.
    finishing: Mutex<()>,
    open: Mutex<Open>,
    /// Contents of protected names at the top when the command started. Set once, so that no lock order depends on it.
    before: OnceLock<HashMap<PathBuf, (Vec<u8>, Stat)>>,
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

/// Use of a file after its close.
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

/// Finishes the files that are closed by now, so that the next call finds them.
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
        // Until here `is_free` refused to write to it or link it.
        let mut open = open();
        open.files.remove(&watch);
        shared.checkouts.count.store(open.files.len(), Ordering::Release);
    }
}

/// Finishes the remaining files as the jail's user, after the jail has ended.
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

/// Remembers the contents of protected names at the top of working trees before the command starts. They may come back, and stay
/// where new content is withheld.
pub(super) fn remember<'a>(shared: &Shared, tops: impl Iterator<Item = &'a Path>) {
    let mut before = Before { shared, found: HashMap::new(), left: MOST_REMEMBERED };
    for top in tops.filter(|top| repository::common_directory(shared, top).is_some()) {
        let is_kept = |name: &Vec<u8>| {
            let path = Path::new(OsStr::from_bytes(name));
            let judged = shared.protected().judge(Ground::Tree, path, Act::File);
            matches!(judged, Verdict::Kept(row) if !row.in_stores)
        };
        for name in names(shared, top).into_iter().filter(is_kept) {
            before.add(&top.join(OsStr::from_bytes(&name)), 0);
        }
    }
    let _first = shared.checkouts.before.set(before.found);
}

/// Collects contents.
struct Before<'a> {
    shared: &'a Shared,
    found: HashMap<PathBuf, (Vec<u8>, Stat)>,
    /// Bytes that may still be remembered.
    left: usize,
}

impl Before<'_> {
    /// Adds a file, or the files of a directory.
    fn add(&mut self, path: &Path, depth: usize) {
        let Some(above) = path.parent().and_then(|above| self.shared.directory(above).ok()) else { return };
        let Some(name) = path.file_name().and_then(|name| CString::new(name.as_bytes()).ok()) else { return };
        match kind(&above, &name) {
            Some(FileType::RegularFile) => {
                if let Some((text, found)) = self.read(&above, &name) {
                    self.left -= text.len();
                    self.found.insert(path.to_owned(), (text, found));
                }
            }
            Some(FileType::Directory) if depth < DEEPEST => {
                for name in names(self.shared, path) {
                    self.add(&path.join(OsStr::from_bytes(&name)), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Reads a file that the jail's user can read as its owner: the launcher may be root, and the command gets the content.
    fn read(&self, above: &OwnedFd, name: &CString) -> Option<(Vec<u8>, Stat)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(above, name, flags, Mode::empty()).ok()?;
        let found = rustix::fs::fstat(&file).ok()?;
        let is_own = found.st_uid == self.shared.about.user.uid && found.st_mode & 0o400 != 0;
        let fits = usize::try_from(found.st_size).is_ok_and(|size| size <= self.left.min(LARGEST_REMEMBERED));
        if !is_own || !fits {
            return None;
        }
        Some((content(&file).filter(|text| text.len() <= self.left)?, found))
    }
}

/// Names in a directory of the jail; none if it cannot be listed.
fn names(shared: &Shared, path: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = shared.listed_directory(path).and_then(Dir::new) else { return Vec::new() };
    let names = entries.map_while(Result::ok).map(|entry| entry.file_name().to_bytes().to_vec());
    names.filter(|name| !matches!(&name[..], b"." | b"..")).take(MOST_NAMES).collect()
}

/// Entries of a directory that are looked at.
const MOST_NAMES: usize = 4096;
/// Bytes that are remembered in all, and of one file.
const MOST_REMEMBERED: usize = 4 << 20;
const LARGEST_REMEMBERED: usize = 256 << 10;
/// Levels below a protected directory.
const DEEPEST: usize = 3;

/// Fails if a file that had no name a moment ago is a checkout, or has a name by now.
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

    /// Puts the content back that was there when the command started: git has removed it, and a commit would record that.
    fn put_back(&self, shared: &Shared) -> bool {
        let before = shared.checkouts.before.get();
        let Some((text, like)) = before.and_then(|before| before.get(&self.spot.full())) else {
            return false;
        };
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

/// Longest content of a protected name.
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

/// Returns true if a content was at a path when the command started, or a repository around it had it there before.
fn was_there(shared: &Shared, path: &Path, content: &[u8]) -> bool {
    let before = shared.checkouts.before.get().and_then(|before| before.get(path));
    if before.is_some_and(|(text, _)| text == content) {
        return true;
    }
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

/// Returns true for names of programs that check files out. Others are refused at the open instead of at the close; the content
/// is judged alike.
pub(super) fn checks_out(program: &[u8]) -> bool {
    program.starts_with(b"git") || program == b"jj"
}
