//! macOS: no handle without opening, no look-up in one call, no `/proc`. Every path is walked step by step.
//!
//! **Not tested on macOS.** The compiler checks it for that system, and its tests run on Linux, which stands in for what only the
//! other kernel can be asked. What that kernel and its file systems really answer was not seen. What is not known is refused:
//!
//! - Pipes, sockets and devices are looked at and never opened, not even to remove them.
//! - Directories on the way have to be readable, and so does a file that is to be written: a handle is had by opening it.
//! - The kernel's name of an object is believed only if it leads there. One that ends in another name of a file is not its name here.
//! - Letters are told apart only where that was tried.
//! - `/dev/fd`, `/.vol` and all other names that are instructions lead nowhere.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, SeekFrom, Stat, Uid};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use super::{Along, Letters};
use crate::handle::{QUIET, kind, same, straight};
use crate::resolve::Here;
use crate::trouble::Trouble;

/// A handle on a directory: it has to be opened to be read.
pub(crate) const PATH: OFlags = OFlags::RDONLY.union(QUIET);

/// Names that the kernel reads as instructions where a path begins with them.
const INSTRUCTIONS: [&str; 3] = [".vol", ".nofollow", ".resolve"];

/// The directory of our handles, in a file system of devices.
const HANDLES: &str = "fd";

/// Entries that are read at once.
const AT_ONCE: usize = 128;

/// Queries about our handles. The kernel answers them for each handle, in every process that has it.
#[derive(Debug)]
pub(crate) struct Handles;

impl Handles {
    #[expect(clippy::unnecessary_wraps, reason = "other systems have to look for it")]
    pub(crate) fn find() -> Result<Self, Errno> {
        Ok(Self)
    }

    /// Returns the present path of the object.
    #[expect(clippy::unused_self, reason = "other systems ask in a place")]
    pub(crate) fn name(&self, handle: impl AsFd) -> Result<PathBuf, Trouble> {
        let name = kernel::path_of(&handle)?;
        if !name.is_absolute() {
            return Err(Trouble::Gone);
        }
        if is_instruction(&name) {
            return Err(Trouble::MagicLink);
        }
        // It may be the last name that the kernel has heard of.
        let other = straight(CWD, &name).map_err(|_| Trouble::Gone)?;
        let leads = same(&rustix::fs::fstat(other)?, &rustix::fs::fstat(handle)?);
        if leads { Ok(name) } else { Err(Trouble::Gone) }
    }

    /// Opens the object that a handle leads to, once more. Without a name that leads to it, a file can still be read from its beginning.
    pub(crate) fn open(&self, handle: impl AsFd, flags: OFlags) -> Result<OwnedFd, Trouble> {
        let stat = rustix::fs::fstat(&handle)?;
        match kind(&stat) {
            FileType::Directory => {
                Ok(rustix::fs::openat(handle, ".", flags | OFlags::DIRECTORY | QUIET, Mode::empty())?)
            }
            FileType::RegularFile if flags.intersects(OFlags::WRONLY | OFlags::RDWR) => {
                self.by_name(&handle, &stat, flags)
            }
            FileType::RegularFile => self.by_name(&handle, &stat, flags).or_else(|_| from_beginning(&handle)),
            _ => Err(Trouble::Special),
        }
    }

    fn by_name(&self, handle: impl AsFd, stat: &Stat, flags: OFlags) -> Result<OwnedFd, Trouble> {
        let name = self.name(handle)?;
        let (parent, name) = name.parent().zip(name.file_name()).ok_or(Trouble::Gone)?;
        let flags = flags | OFlags::NOFOLLOW | QUIET;
        opened_as(&straight(CWD, parent)?, name, flags, stat)
    }

    /// Fails: there are no files without a name here.
    #[expect(clippy::unused_self, reason = "other systems ask in a place")]
    pub(crate) fn link(&self, _: impl AsFd, _: &OwnedFd, _: &OsStr) -> Result<(), Trouble> {
        Err(Trouble::System(Errno::NOSYS))
    }
}

/// Duplicates a handle: both share the position, so it starts anew.
fn from_beginning(handle: impl AsFd) -> Result<OwnedFd, Trouble> {
    let file = rustix::io::fcntl_dupfd_cloexec(handle, 0)?;
    rustix::fs::seek(&file, SeekFrom::Start(0))?;
    Ok(file)
}

/// The kernel does not look paths up in one call.
pub(crate) fn look(_: impl AsFd, _: &Path, _: OFlags, _: Along) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Object that a name in a directory leads to, without following or opening it.
pub(crate) struct Seen<'a> {
    at: &'a OwnedFd,
    name: &'a OsStr,
    stat: Stat,
}

impl<'a> Seen<'a> {
    pub(crate) fn of(at: &'a OwnedFd, name: &'a OsStr) -> Result<Self, Trouble> {
        if leads_elsewhere(at, name)? {
            return Err(Trouble::MagicLink);
        }
        let stat = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Self { at, name, stat })
    }

    pub(crate) fn kind(&self) -> FileType {
        kind(&self.stat)
    }

    /// Reads the target of a link. A process that changes it meanwhile could have done so before.
    pub(crate) fn target(&self) -> Result<Vec<u8>, Trouble> {
        match rustix::fs::readlinkat(self.at, self.name, Vec::new()) {
            Err(Errno::INVAL | Errno::NOENT) => Err(Trouble::Changed),
            target => Ok(target?.into_bytes()),
        }
    }

    /// Opens it, if it is nothing that notices.
    pub(crate) fn here(self) -> Result<Here, Trouble> {
        let flags = match self.kind() {
            FileType::Directory => PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW,
            FileType::RegularFile => PATH | OFlags::NOFOLLOW,
            FileType::Symlink => QUIET | kernel::LINK,
            _ => return Err(Trouble::Special),
        };
        let handle = opened_as(self.at, self.name, flags, &self.stat)?;
        self.is_called(&handle)?;
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Here { handle, stat })
    }

    /// The kernel may report another name of a file, which is not the one that is to be removed.
    fn is_called(&self, handle: &OwnedFd) -> Result<(), Trouble> {
        if self.kind() == FileType::Directory || self.stat.st_nlink <= 1 {
            return Ok(());
        }
        let expected = kernel::path_of(self.at)?.join(self.name);
        if kernel::path_of(handle)? == expected { Ok(()) } else { Err(Trouble::Gone) }
    }
}

/// Returns true if the kernel would take a name for a handle or for an instruction.
fn leads_elsewhere(at: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    if name.eq_ignore_ascii_case(HANDLES) {
        return kernel::has_devices(at);
    }
    let instruction = INSTRUCTIONS.iter().any(|instruction| name.eq_ignore_ascii_case(instruction));
    Ok(instruction && kernel::path_of(at)? == Path::new("/"))
}

fn is_instruction(path: &Path) -> bool {
    let is_below = |name: &str| path.starts_with(Path::new("/").join(name));
    INSTRUCTIONS.iter().any(|name| is_below(name)) || path.starts_with(Path::new("/dev").join(HANDLES))
}

/// Opens a name, if it still leads to the object that was looked at.
fn opened_as(at: &OwnedFd, name: &OsStr, flags: OFlags, stat: &Stat) -> Result<OwnedFd, Trouble> {
    let handle = match rustix::fs::openat(at, name, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Err(Trouble::Changed),
        other => other?,
    };
    if same(&rustix::fs::fstat(&handle)?, stat) { Ok(handle) } else { Err(Trouble::Changed) }
}

/// A handle on what a name in a directory leads to, without following it.
pub(crate) fn enter(at: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Trouble> {
    Ok(Seen::of(at, name)?.here()?.handle)
}

/// Opens an entry of a directory. The caller checks its kind.
pub(crate) fn open_listed(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Trouble> {
    let file = enter(directory, name)?;
    // Some file systems ignore invisible characters. The name was judged with them.
    if !name.as_bytes().is_ascii() && !is_alike(kernel::path_of(&file)?.file_name(), name) {
        return Err(Trouble::Changed);
    }
    Ok(file)
}

fn is_alike(real: Option<&OsStr>, name: &OsStr) -> bool {
    let decomposed = |name: &OsStr| name.to_str().map(|name| name.nfd().collect::<String>());
    real == Some(name) || real.and_then(decomposed).is_some_and(|real| Some(real) == decomposed(name))
}

/// No file system here knows files without a name.
#[expect(clippy::unnecessary_wraps, reason = "other systems have to try")]
pub(crate) fn unnamed(_: &OwnedFd, _: OFlags, _: Mode) -> Result<Option<OwnedFd>, Errno> {
    Ok(None)
}

/// Gives something to the owner of something else.
pub(crate) fn give(new: impl AsFd, owner: &Stat) -> Result<(), Errno> {
    let (user, group) = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
    rustix::fs::fchown(new, Some(user), Some(group))
}

/// Returns true if a rename that spares what is there is unknown here.
pub(crate) fn is_unknown(errno: Errno) -> bool {
    // Two numbers on this system, one on others.
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&errno)
}

/// Position in a directory.
pub(crate) struct Reading(Option<Dir>);

impl Reading {
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Reads some entries, and says whether there may be more.
    pub(crate) fn told(
        &mut self,
        directory: &OwnedFd,
        mut each: impl FnMut(&[u8], FileType),
    ) -> Result<bool, Errno> {
        let entries = match &mut self.0 {
            Some(entries) => entries,
            none => none.insert(Dir::read_from(directory)?),
        };
        for _ in 0..AT_ONCE {
            let Some(entry) = entries.read() else { return Ok(false) };
            let entry = entry?;
            each(entry.file_name().to_bytes(), entry.file_type());
        }
        Ok(true)
    }
}

/// The usual file systems exist in both kinds, and do not say which they are.
#[expect(clippy::unnecessary_wraps, reason = "other systems have to ask")]
pub(crate) fn letters(_: &OwnedFd) -> Result<Letters, Errno> {
    Ok(Letters::Unknown)
}

/// Directories have no such mark.
pub(crate) fn folds_by_mark(_: &OwnedFd) -> bool {
    false
}

/// Calls that only this kernel has.
#[cfg(target_os = "macos")]
mod kernel {
    use std::ffi::OsString;
    use std::os::fd::AsFd;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    /// Opens a link instead of following it.
    pub(super) const LINK: OFlags = OFlags::SYMLINK;

    /// Returns the kernel's path of an object.
    pub(super) fn path_of(handle: impl AsFd) -> Result<PathBuf, Errno> {
        Ok(PathBuf::from(OsString::from_vec(rustix::fs::getpath(handle)?.into_bytes())))
    }

    /// Returns true if a directory is in a file system of devices.
    pub(super) fn has_devices(directory: impl AsFd) -> Result<bool, Errno> {
        let kind = rustix::fs::fstatfs(directory)?.f_fstypename;
        Ok(kind.iter().flat_map(|letter| letter.to_ne_bytes()).take(5).eq(*b"devfs"))
    }
}

/// Linux in its place, so that the rest can be tried.
#[cfg(target_os = "linux")]
mod kernel {
    use std::ffi::OsString;
    use std::os::fd::AsFd;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    use rustix::fs::{OFlags, PROC_SUPER_MAGIC};
    use rustix::io::Errno;
    use rustix::path::DecInt;

    pub(super) const LINK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);

    pub(super) fn path_of(handle: impl AsFd) -> Result<PathBuf, Errno> {
        let number = DecInt::from_fd(handle.as_fd());
        let link = std::path::Path::new("/proc/self/fd").join(&number);
        let mut name = rustix::fs::readlink(link, Vec::new())?.into_bytes();
        // An object without a name is reported by its last one, as the other kernel may do.
        if rustix::fs::fstat(&handle)?.st_nlink == 0 {
            name.truncate(name.len().saturating_sub(" (deleted)".len()));
        }
        Ok(PathBuf::from(OsString::from_vec(name)))
    }

    /// The handles are in `/proc` there.
    pub(super) fn has_devices(directory: impl AsFd) -> Result<bool, Errno> {
        Ok(rustix::fs::fstatfs(directory)?.f_type == PROC_SUPER_MAGIC)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::{self, File};
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    fn directory(path: &Path) -> OwnedFd {
        rustix::fs::open(path, PATH | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    fn here(at: &OwnedFd, name: &str) -> Result<Here, Trouble> {
        Seen::of(at, OsStr::new(name))?.here()
    }

    fn text(file: OwnedFd) -> String {
        let mut text = String::new();
        File::from(file).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn instructions_are_not_names() {
        let dir = tempfile::tempdir().unwrap();
        let (root, ours) = (directory(Path::new("/")), directory(dir.path()));
        for name in [".vol", ".VOL", ".nofollow", ".resolve"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            assert_eq!(here(&root, name).map(drop), Err(Trouble::MagicLink), "{name}");
            assert_eq!(here(&ours, name).map(drop), Ok(()), "{name}");
        }
        fs::create_dir(dir.path().join("fd")).unwrap();
        assert_eq!(here(&ours, "fd").map(drop), Ok(()));
        // The counterpart of `/dev` there.
        let devices = directory(Path::new("/proc/self"));
        for name in ["fd", "FD"] {
            assert_eq!(here(&devices, name).map(drop), Err(Trouble::MagicLink), "{name}");
        }
        for (path, expected) in [
            ("/.vol/16777220/2", true),
            ("/dev/fd/3", true),
            ("/dev/fd", true),
            ("/dev/fdx", false),
            ("/ws/.vol", false),
        ] {
            assert_eq!(is_instruction(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn only_what_does_not_notice_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = directory(dir.path());
        fs::write(dir.path().join("file"), "text").unwrap();
        fs::create_dir(dir.path().join("dir")).unwrap();
        symlink("file", dir.path().join("link")).unwrap();
        rustix::fs::mknodat(&at, "pipe", FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        for (name, expected) in [
            ("file", Ok(FileType::RegularFile)),
            ("dir", Ok(FileType::Directory)),
            ("link", Ok(FileType::Symlink)),
            ("pipe", Err(Trouble::Special)),
            ("socket", Err(Trouble::Special)),
            ("none", Err(Trouble::NotFound)),
        ] {
            assert_eq!(here(&at, name).map(|here| kind(&here.stat)), expected, "{name}");
            let listed =
                open_listed(&at, OsStr::new(name)).map(|file| kind(&rustix::fs::fstat(file).unwrap()));
            assert_eq!(listed, expected, "{name}");
        }
        assert_eq!(Seen::of(&at, OsStr::new("link")).unwrap().target(), Ok(b"file".to_vec()));
        assert_eq!(Seen::of(&at, OsStr::new("file")).unwrap().target(), Err(Trouble::Changed));
    }

    #[test]
    fn what_was_put_in_its_place_is_not_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = directory(dir.path());
        let path = |name: &str| dir.path().join(name);
        for (what, put) in [
            ("a file", (|to: &Path| fs::write(to, "other").unwrap()) as fn(&Path)),
            ("a link", |to| symlink("old", to).unwrap()),
            ("a directory", |to| fs::create_dir(to).unwrap()),
            ("nothing", |_| ()),
        ] {
            fs::write(path("file"), "text").unwrap();
            let seen = Seen::of(&at, OsStr::new("file")).unwrap();
            fs::rename(path("file"), path("old")).unwrap();
            put(&path("file"));
            assert_eq!(seen.here().map(drop), Err(Trouble::Changed), "{what}");
            drop(fs::remove_dir(path("file")).or_else(|_| fs::remove_file(path("file"))));
        }
    }

    #[test]
    fn a_file_is_opened_again_by_its_name_or_read_without_one() {
        let dir = tempfile::tempdir().unwrap();
        let at = directory(dir.path());
        let handles = Handles::find().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "text").unwrap();
        let file = here(&at, "file").unwrap().handle;
        let read = || handles.open(&file, OFlags::RDONLY).map(text);
        assert_eq!([read(), read()], [Ok("text".to_owned()), Ok("text".to_owned())]);
        fs::rename(path("file"), path("moved")).unwrap();
        let written = handles.open(&file, OFlags::WRONLY).unwrap();
        assert_eq!(rustix::io::write(&written, b"TEXT"), Ok(4));
        fs::remove_file(path("moved")).unwrap();
        fs::write(path("moved"), "other").unwrap();
        assert_eq!([read(), read()], [Ok("TEXT".to_owned()), Ok("TEXT".to_owned())]);
        assert_eq!(handles.open(&file, OFlags::WRONLY).map(drop), Err(Trouble::Gone));
        assert_eq!(handles.name(&file), Err(Trouble::Gone));
        assert_eq!(handles.name(&at), Ok(fs::canonicalize(dir.path()).unwrap()));
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        for (real, name, expected) in [
            ("caf\u{e9}", "cafe\u{301}", true),
            ("caf\u{e9}", "caf\u{e9}", true),
            (".env", ".en\u{200c}v", false),
            (".ssh", ".\u{17f}sh", false),
        ] {
            assert_eq!(is_alike(Some(OsStr::new(real)), OsStr::new(name)), expected, "{name:?}");
        }
        assert!(!is_alike(None, OsStr::new("a")));
    }

    #[test]
    fn a_directory_is_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let count = AT_ONCE * 2 + 1;
        for number in 0..count {
            fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        let at = directory(dir.path());
        let (mut reading, mut names) = (Reading::new(), Vec::new());
        while reading.told(&at, |name, _| names.push(name.to_owned())).unwrap() {}
        names.sort();
        names.dedup();
        names.retain(|name| name != b"." && name != b"..");
        assert_eq!(names.len(), count);
    }
}
