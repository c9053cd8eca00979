//! Performs the brokered calls in the caller's place.

use std::ffi::CString;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use policy::{Act, ProtectedName};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::brokered_call::BrokeredCall;
use super::caller::Callers;
use super::checkout::Purpose;
use super::ground::{Permission, judge};
use super::known::Identity;
use super::names_lock::NamesGuard;
use super::path::{Finder, Found, Spot, is_proc, kind};
use super::{AbortOnPanic, Done, Shared, checkout, refused, settings, staging};
use crate::launch::WriteResult;
use crate::sys::linux::notify::observe::call::Notice;

/// Makes a call in the caller's place.
pub(super) fn perform(shared: &Arc<Shared>, notice: &Notice, callers: &mut Callers) -> Done {
    let Some(call) = BrokeredCall::decode(notice) else { return Done::Continue };
    if let BrokeredCall::Umask(mask) = call {
        shared.start_differing(mask);
        return Done::Continue;
    }
    let mut attempt =
        || CallerCall::reach(shared, notice, callers).and_then(|mut context| context.perform(&call));
    let done = match attempt() {
        // The handle is of an earlier process with the same number.
        Err(Errno::SRCH) if shared.is_waiting(notice.id) => {
            callers.forget(notice.pid);
            CallerCall::reach(shared, notice, callers).and_then(|mut context| context.perform(&call))
        }
        done => done,
    };
    done.unwrap_or_else(|errno| Done::Answered(Err(errno)))
}

/// One supervised call: its caller, its paths and its lock.
pub(super) struct CallerCall<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) notice: &'a Notice,
    pub(super) finder: Finder<'a>,
    /// The lock of this call. There is no second one.
    pub(super) guard: NamesGuard<'a>,
}

impl<'a> CallerCall<'a> {
    fn reach(shared: &'a Arc<Shared>, notice: &'a Notice, callers: &'a mut Callers) -> Result<Self, Errno> {
        let umask = if shared.umasks_differ.load(std::sync::atomic::Ordering::Acquire) {
            callers.find(notice.pid)?.umask()?
        } else {
            shared.usual_umask()
        };
        callers.take_on(umask);
        let caller = callers.find(notice.pid)?;
        Ok(Self { shared, notice, finder: Finder { shared, caller }, guard: shared.names_lock.of_call() })
    }

    fn perform(&mut self, call: &BrokeredCall) -> Result<Done, Errno> {
        checkout::finish_closed(self.shared);
        match call {
            BrokeredCall::Rename { .. } => self.guard.take_alone(),
            BrokeredCall::SocketName { .. } | BrokeredCall::Umask(_) => {}
            _ => self.guard.share(),
        }
        match *call {
            BrokeredCall::Open { at, path, flags, mode } => self.open(at, path, flags, mode),
            BrokeredCall::Directory { at, path, mode } => self.directory(at, path, mode).map(|()| DONE),
            BrokeredCall::Node { at, path, mode } => self.node(at, path, mode).map(|()| DONE),
            BrokeredCall::Symlink { to, at, path } => self.symlink(to, at, path).map(|()| DONE),
            BrokeredCall::Link { from, to, flags } => self.link(from, to, flags).map(|()| DONE),
            BrokeredCall::Rename { from, to, flags } => self.rename(from, to, flags).map(|()| DONE),
            BrokeredCall::Truncate { path, length } => self.truncate(path, length).map(|()| DONE),
            BrokeredCall::Bind { socket, address, length } => {
                self.bind(socket, address, length).map(|()| DONE)
            }
            BrokeredCall::SocketName { socket, address, length } => self.socket_name(socket, address, length),
            BrokeredCall::Umask(_) => Ok(Done::Continue),
        }
    }

    /// Finds a place, then checks that the caller still waits: otherwise the path was read from another process.
    fn find(&self, (at, path): (i32, u64)) -> Result<Found, Errno> {
        let path = self.notice.text(path)?;
        self.find_path(at, &path)
    }

    fn find_path(&self, at: i32, path: &[u8]) -> Result<Found, Errno> {
        let found = self.finder.find(at, path);
        self.is_waiting().and(found)
    }

    /// Fails with `ESRCH` unless the caller still waits: its number may belong to another process otherwise.
    pub(super) fn is_waiting(&self) -> Result<(), Errno> {
        if self.shared.is_waiting(self.notice.id) { Ok(()) } else { Err(Errno::SRCH) }
    }

    /// A place where something new can be.
    fn new_place(&self, place: (i32, u64)) -> Result<Spot, Errno> {
        unused(self.find(place)?)
    }

    /// A place where something new can be that is no directory.
    fn new_file(&self, place: (i32, u64)) -> Result<Spot, Errno> {
        self.new_place(place).and_then(without_slash)
    }

    /// The same for a path that was read already, from where the caller is.
    pub(super) fn new_file_at(&self, path: &[u8]) -> Result<Spot, Errno> {
        unused(self.find_path(libc::AT_FDCWD, path)?).and_then(without_slash)
    }

    /// A place, or where the link at it leads.
    fn followed(&self, place: (i32, u64)) -> Result<Found, Errno> {
        match self.find(place)? {
            Found::Spot(spot) => Ok(self.finder.follow(&spot)?.unwrap_or(Found::Spot(spot))),
            object @ Found::Object(_) => Ok(object),
        }
    }

    fn open(&mut self, at: i32, path: u64, flags: i32, mode: u32) -> Result<Done, Errno> {
        let close = flags & libc::O_CLOEXEC != 0;
        let wanted = OFlags::from_bits_retain(flags.cast_unsigned()) | OFlags::CLOEXEC | OFlags::NOCTTY;
        let found = self.find((at, path))?;
        self.open_found(found, Opening { flags: wanted, mode, close }, false)
    }

    fn open_found(&mut self, found: Found, how: Opening, followed: bool) -> Result<Done, Errno> {
        match found {
            Found::Object(object) => {
                self.free_object(&object)?;
                self.open_object(&object, how)
            }
            Found::Spot(spot) if spot.slash && how.flags.contains(OFlags::CREATE) => Err(Errno::ISDIR),
            Found::Spot(spot) if spot.slash => {
                self.open_spot(&spot, Opening { flags: how.flags | OFlags::DIRECTORY, ..how }, followed)
            }
            Found::Spot(spot) => self.open_spot(&spot, how, followed),
        }
    }

    fn open_spot(&mut self, spot: &Spot, how: Opening, followed: bool) -> Result<Done, Errno> {
        let Opening { flags, mode, close } = how;
        match judge(self.shared, spot, Act::File, &mut self.guard)? {
            Permission::Known(name) => return self.check_out(spot, how, name),
            Permission::FirstSettings(name) if flags.contains(OFlags::CREATE) => {
                staging::create(&spot.directory, &spot.name, b"")?;
                return self.stage(spot, how, (name, Purpose::Settings));
            }
            Permission::Written(text) if flags.contains(OFlags::CREATE) => {
                return written(spot, &text, close);
            }
            Permission::Written(_) | Permission::FirstSettings(_) => return Err(Errno::NOENT),
            Permission::Free | Permission::Settings(_) => {}
        }
        if flags.contains(OFlags::CREATE) {
            let new = flags | OFlags::EXCL | OFlags::NOFOLLOW;
            match rustix::fs::openat(&spot.directory, &spot.name, new, Mode::from_raw_mode(mode)) {
                Err(Errno::EXIST) if !flags.contains(OFlags::EXCL) => {}
                made => return made.map(|file| Done::Opened(file, close)),
            }
        }
        let path_only = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let object = rustix::fs::openat(&spot.directory, &spot.name, path_only, Mode::empty())?;
        // The target of a link is judged by its own name.
        match self.open_object(&object, how) {
            Err(Errno::LOOP) if !followed && !flags.contains(OFlags::NOFOLLOW) => {
                let leads = self.finder.follow(spot)?.ok_or(Errno::LOOP)?;
                self.open_found(leads, how, true)
            }
            opened => opened,
        }
    }

    /// Gives a program that checks files out a file to write whose content is looked at before it gets its name.
    fn check_out(&mut self, spot: &Spot, how: Opening, row: &'static ProtectedName) -> Result<Done, Errno> {
        let flags = how.flags;
        let writes = flags.contains(OFlags::WRONLY | OFlags::CREATE);
        let new = writes && kind(&spot.directory, &spot.name).is_none();
        if !new || !self.finder.caller.program().is_ok_and(|program| checkout::checks_out(&program)) {
            return Err(refused(self.shared, spot.full(), row));
        }
        self.is_waiting()?;
        self.stage(spot, how, (row, Purpose::Content))
    }

    /// Gives the caller a file without a name, which is looked at when it is closed.
    fn stage(
        &mut self,
        spot: &Spot,
        how: Opening,
        what: (&'static ProtectedName, Purpose),
    ) -> Result<Done, Errno> {
        let spot = spot.try_clone()?;
        self.guard.release();
        let file = checkout::begin(self.shared, spot, what, how.flags, Mode::from_raw_mode(how.mode))?;
        Ok(Done::Opened(file, how.close))
    }

    /// Opens the object of a handle, even if its name leads elsewhere by now.
    fn open_object(&mut self, object: &OwnedFd, how: Opening) -> Result<Done, Errno> {
        let Opening { flags, mode, close } = how;
        if flags.contains(OFlags::CREATE | OFlags::EXCL) {
            return Err(Errno::EXIST);
        }
        let found = rustix::fs::fstat(object)?;
        let flags = flags - (OFlags::CREATE | OFlags::EXCL);
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Symlink {
            return Err(Errno::LOOP);
        }
        // The right to read a file of `/proc` is decided when it is opened, by the process that opens it: that would be us.
        if is_proc(object)? {
            return Err(if flags.intersects(WRITES) { Errno::ROFS } else { Errno::ACCESS });
        }
        // A lease, a device or a network may have it wait.
        self.guard.release();
        if kind == FileType::CharacterDevice && found.st_rdev == rustix::fs::makedev(5, 0) {
            return self.open_terminal(flags, close);
        }
        let link = CString::new(format!("/proc/self/fd/{}", object.as_raw_fd())).map_err(|_| Errno::INVAL)?;
        let flags = flags - OFlags::NOFOLLOW;
        // The other end may be opened much later.
        if kind == FileType::Fifo && !flags.contains(OFlags::NONBLOCK) {
            let object = object.try_clone().map_err(|_| Errno::MFILE)?;
            return Ok(self.open_later(object, flags, close));
        }
        let opened = rustix::fs::open(&link, flags, Mode::from_raw_mode(mode))?;
        Ok(Done::Opened(opened, close))
    }

    /// The terminal that controls the caller, which is not ours.
    fn open_terminal(&self, flags: OFlags, close: bool) -> Result<Done, Errno> {
        let number = self.finder.caller.terminal().ok_or(Errno::NXIO)?;
        let terminals = self.shared.directory(std::path::Path::new("/dev/pts"))?;
        let opened = rustix::fs::openat(&terminals, number.to_string(), flags, Mode::empty())?;
        Ok(Done::Opened(opened, close))
    }

    fn open_later(&self, object: OwnedFd, flags: OFlags, close: bool) -> Done {
        let (shared, id) = (Arc::clone(self.shared), self.notice.id);
        let wait = move || {
            let _ends_the_launcher = AbortOnPanic;
            let link = format!("/proc/self/fd/{}", object.as_raw_fd());
            let opened = open_patiently(&shared, id, &link, flags);
            shared.reply(
                id,
                opened.map_or_else(|errno| Done::Answered(Err(errno)), |file| Done::Opened(file, close)),
            );
        };
        match std::thread::Builder::new().stack_size(64 << 10).spawn(wait) {
            Ok(_) => Done::Later,
            Err(_) => Done::Answered(Err(Errno::AGAIN)),
        }
    }

    fn directory(&mut self, at: i32, path: u64, mode: u32) -> Result<(), Errno> {
        let spot = self.new_place((at, path))?;
        self.free(&spot, Act::Directory)?;
        rustix::fs::mkdirat(&spot.directory, &spot.name, Mode::from_raw_mode(mode))?;
        self.shared.forget_places();
        if may_become_repository(&spot.full()) {
            let identity = Identity::named(&spot.directory, &spot.name)?;
            self.shared.repositories.remember_made(identity);
            let recorded = self.shared.references.add_made(spot.full(), identity);
            if let Err(errno) = recorded {
                // An unrecorded repository would count in a later run.
                rustix::fs::unlinkat(&spot.directory, &spot.name, AtFlags::REMOVEDIR)?;
                return Err(errno);
            }
        }
        Ok(())
    }

    fn node(&mut self, at: i32, path: u64, mode: u32) -> Result<(), Errno> {
        let kind = match FileType::from_raw_mode(mode) {
            kind @ (FileType::RegularFile | FileType::Fifo | FileType::Socket) => kind,
            _ if mode & libc::S_IFMT == 0 => FileType::RegularFile,
            _ => return Err(Errno::PERM),
        };
        let spot = self.new_file((at, path))?;
        self.free(&spot, Act::File)?;
        rustix::fs::mknodat(&spot.directory, &spot.name, kind, Mode::from_raw_mode(mode & 0o7777), 0)
    }

    fn symlink(&mut self, to: u64, at: i32, path: u64) -> Result<(), Errno> {
        let to = CString::new(self.notice.text(to)?).map_err(|_| Errno::INVAL)?;
        let spot = self.new_file((at, path))?;
        self.free(&spot, Act::Placed)?;
        self.is_linkable(&spot, &to)?;
        rustix::fs::symlinkat(&to, &spot.directory, &spot.name)
    }

    fn link(&mut self, from: (i32, u64), to: (i32, u64), flags: i32) -> Result<(), Errno> {
        let spot = self.new_file(to)?;
        // A link replaces nothing. A program that tries it first and renames then has not tried to.
        if kind(&spot.directory, &spot.name).is_some() {
            return Err(Errno::EXIST);
        }
        let source = self.source(from, flags)?;
        self.free(&spot, Act::Placed)?;
        match source {
            Found::Spot(old) => {
                self.free(&old, Act::File)?;
                self.link_file(&old, &spot)
            }
            Found::Object(file) => {
                self.free_object(&file)?;
                self.link_object(&file, &spot)
            }
        }
    }

    fn source(&self, from: (i32, u64), flags: i32) -> Result<Found, Errno> {
        if flags & libc::AT_EMPTY_PATH != 0 && self.notice.text(from.1)?.is_empty() {
            let object = self.finder.caller.descriptor(from.0)?;
            self.is_waiting()?;
            self.shared.is_inside(&object)?;
            return Ok(Found::Object(object));
        }
        if flags & libc::AT_SYMLINK_FOLLOW != 0 { self.followed(from) } else { self.find(from) }
    }

    fn rename(&mut self, from: (i32, u64), to: (i32, u64), flags: u32) -> Result<(), Errno> {
        let (Found::Spot(old), Found::Spot(new)) = (self.find(from)?, self.find(to)?) else {
            return Err(Errno::BUSY);
        };
        self.free(&old, Act::Placed)?;
        match judge(self.shared, &new, Act::Placed, &mut self.guard)? {
            Permission::Free => {}
            Permission::Settings(name) => {
                let replaced = settings::replace(self.shared, &old, &new, flags);
                return replaced.unwrap_or_else(|| Err(refused(self.shared, new.full(), name)));
            }
            Permission::Known(name) => return self.replace_known(&old, &new, flags, name),
            Permission::Written(_) | Permission::FirstSettings(_) => return Err(Errno::PERM),
        }
        let grounds = &self.shared.about.grounds;
        if grounds.holds_mounts(&old.full()) || grounds.holds_mounts(&new.full()) {
            return Err(Errno::BUSY);
        }
        // `EXDEV` has the caller copy instead, name by name.
        let (from, to) = (old.full(), new.full());
        let both_ways = RenameFlags::from_bits_retain(flags).contains(RenameFlags::EXCHANGE);
        if grounds.lets_out(&from, &to) || both_ways && grounds.lets_out(&to, &from) {
            return Err(Errno::XDEV);
        }
        let brings = |spot: &Spot, to: &std::path::Path| {
            grounds.lets_in(to) && kind(&spot.directory, &spot.name) == Some(FileType::Directory)
        };
        if brings(&old, &to) || both_ways && brings(&new, &from) {
            return Err(Errno::XDEV);
        }
        self.brings_no_link(&old, &new)?;
        if both_ways {
            self.brings_no_link(&new, &old)?;
        }
        let slash = |spot: &Spot| spot.slash && kind(&old.directory, &old.name) != Some(FileType::Directory);
        if slash(&old) || slash(&new) {
            return Err(Errno::NOTDIR);
        }
        let flags = RenameFlags::from_bits_retain(flags);
        let moved = rustix::fs::renameat_with(&old.directory, &old.name, &new.directory, &new.name, flags);
        self.shared.forget_places();
        moved
    }

    /// Renames a file to a protected name, if the repository had its content there.
    fn replace_known(
        &mut self,
        old: &Spot,
        new: &Spot,
        flags: u32,
        row: &'static ProtectedName,
    ) -> Result<(), Errno> {
        // `EXDEV` has the caller copy it, name by name.
        if kind(&old.directory, &old.name) == Some(FileType::Directory) {
            return Err(Errno::XDEV);
        }
        let replaced = (flags == 0).then(|| checkout::replace(self.shared, old, new)).flatten();
        let Some(replaced) = replaced else { return Err(refused(self.shared, new.full(), row)) };
        if replaced.is_ok() {
            self.shared.wrote(new.full(), row, WriteResult::Known);
        }
        replaced
    }

    fn truncate(&mut self, path: u64, length: u64) -> Result<(), Errno> {
        let object = match self.followed((libc::AT_FDCWD, path))? {
            Found::Object(object) => {
                self.free_object(&object)?;
                object
            }
            Found::Spot(spot) => {
                self.free(&spot, Act::File)?;
                let path_only = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                rustix::fs::openat(&spot.directory, &spot.name, path_only, Mode::empty())?
            }
        };
        self.guard.release();
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&object)?.st_mode);
        if kind != FileType::RegularFile {
            return Err(if kind == FileType::Directory { Errno::ISDIR } else { Errno::INVAL });
        }
        let link = format!("/proc/self/fd/{}", object.as_raw_fd());
        let file = rustix::fs::open(link, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::fs::ftruncate(&file, length)
    }

    /// Judges a change of something that is open already, by the name that it was opened by. Unnamed objects are free.
    fn free_object(&mut self, object: &OwnedFd) -> Result<(), Errno> {
        let found = rustix::fs::fstat(object)?;
        let named =
            matches!(FileType::from_raw_mode(found.st_mode), FileType::RegularFile | FileType::Directory);
        if !named {
            return Ok(());
        }
        if found.st_nlink == 0 {
            return checkout::is_free(self.shared, object);
        }
        let full = super::path::place(object)?;
        let (Some(above), Some(name)) = (full.parent(), full.file_name()) else { return Ok(()) };
        let directory = self.shared.directory(above).map_err(|_| Errno::ACCESS)?;
        let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
        // Another file may have the name by now, if this one was removed or a process outside has moved it.
        let there = rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW);
        if !there.is_ok_and(|there| (there.st_dev, there.st_ino) == (found.st_dev, found.st_ino)) {
            return Err(Errno::ACCESS);
        }
        let spot = Spot { directory, path: above.to_owned(), name, slash: false };
        self.free(&spot, Act::File)
    }

    /// Judges a name; everything but [`Permission::Free`] is an error.
    pub(super) fn free(&mut self, spot: &Spot, act: Act) -> Result<(), Errno> {
        match judge(self.shared, spot, act, &mut self.guard)? {
            Permission::Free => Ok(()),
            Permission::Settings(name) | Permission::FirstSettings(name) | Permission::Known(name) => {
                Err(refused(self.shared, spot.full(), name))
            }
            Permission::Written(_) => Err(Errno::PERM),
        }
    }
}

/// A name in a directory, which has to be there for something new.
fn unused(found: Found) -> Result<Spot, Errno> {
    match found {
        Found::Spot(spot) => Ok(spot),
        Found::Object(_) => Err(Errno::EXIST),
    }
}

/// Nothing but a directory can have a slash after its name.
fn without_slash(spot: Spot) -> Result<Spot, Errno> {
    if !spot.slash {
        return Ok(spot);
    }
    Err(if kind(&spot.directory, &spot.name).is_some() { Errno::EXIST } else { Errno::NOENT })
}

/// Returns true for a directory `.git`, and for one that may be the repository of a submodule.
fn may_become_repository(path: &std::path::Path) -> bool {
    const INNER: [&str; 7] = ["objects", "refs", "logs", "hooks", "info", "branches", "lfs"];
    let is = |part: &std::ffi::OsStr, name: &str| part.eq_ignore_ascii_case(name);
    if path.file_name().is_some_and(|name| is(name, ".git")) {
        return true;
    }
    let mut parts = path.iter().skip_while(|part| !is(part, ".git")).skip(1);
    parts.next().is_some_and(|part| is(part, "modules"))
        && parts.all(|part| INNER.iter().all(|inner| !is(part, inner)))
}

/// Flags and mode of an open call.
#[derive(Clone, Copy)]
struct Opening {
    flags: OFlags,
    mode: u32,
    close: bool,
}

/// Flags with which an open file is written.
const WRITES: OFlags = OFlags::WRONLY.union(OFlags::RDWR).union(OFlags::TRUNC);

const DONE: Done = Done::Answered(Ok(()));

/// A file with a text of ours, for a caller that believes to write it: what it writes goes nowhere.
fn written(spot: &Spot, text: &[u8], close: bool) -> Result<Done, Errno> {
    staging::create(&spot.directory, &spot.name, text)?;
    let nowhere = crate::sys::linux::memory_file::writable()?;
    Ok(Done::Opened(nowhere, close))
}

/// Opens a named pipe once its other end is open. Gives up when the caller no longer waits.
fn open_patiently(shared: &Shared, id: u64, link: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    use std::time::Duration;
    let mut pause = Duration::from_micros(200);
    loop {
        match rustix::fs::open(link, flags | OFlags::NONBLOCK, Mode::empty()) {
            Ok(file) => return rustix::fs::fcntl_setfl(&file, flags & OFlags::APPEND).map(|()| file),
            Err(Errno::NXIO) => {}
            Err(errno) => return Err(errno),
        }
        if !shared.is_waiting(id) {
            return Err(Errno::SRCH);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
