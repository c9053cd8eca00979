//! From a path that a command gave to a place: a directory by handle, and a name in it.
//!
//! Nothing is looked up from our own root: absolute paths and links start at the root of the jail, and beyond that root leads
//! nothing.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::Shared;
use super::caller::Caller;

/// Without links of any kind.
pub(super) const STRAIGHT: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Object or name that a path leads to.
pub(super) enum Found {
    /// A name in a directory, which may or may not be there, and may be a link.
    Spot(Spot),
    /// Something without a name to be judged: a directory called `.` or `..`, or what a process has open.
    Object(OwnedFd),
}

/// A name in a directory.
pub(super) struct Spot {
    /// The directory, on a mount of the jail.
    pub(super) directory: OwnedFd,
    /// Path of the directory.
    pub(super) path: PathBuf,
    /// The name.
    pub(super) name: CString,
    /// True if only a directory is meant.
    pub(super) slash: bool,
}

impl Spot {
    /// The same place by another handle.
    pub(super) fn try_clone(&self) -> Result<Self, Errno> {
        let directory = self.directory.try_clone().map_err(|_| Errno::MFILE)?;
        Ok(Self { directory, path: self.path.clone(), name: self.name.clone(), slash: self.slash })
    }

    /// The whole path.
    pub(super) fn full(&self) -> PathBuf {
        self.path.join(OsStr::from_bytes(self.name.to_bytes()))
    }
}

/// Treatment of a link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Follow,
    Stay,
}

/// Looks paths of one caller up.
pub(super) struct Finder<'a> {
    pub(super) shared: &'a Shared,
    pub(super) caller: &'a Caller,
}

/// As many links as the kernel follows.
const LINKS: usize = 40;

impl Finder<'_> {
    /// Finds the place of a path relative to a directory that the caller has open, or to where it is.
    pub(super) fn find(&self, at: i32, path: &[u8]) -> Result<Found, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        let own;
        let from = match (path.first(), at) {
            (Some(b'/'), _) => &self.shared.root,
            (_, libc::AT_FDCWD) => {
                own = self.caller.cwd()?;
                &own
            }
            (_, number) => {
                own = self.caller.descriptor(number)?;
                &own
            }
        };
        let (above, name, slash) = split(path);
        let Some(name) = name.filter(|_| !slash) else { return self.walk(from, path, Last::Follow) };
        let above = OsStr::from_bytes(relative(above));
        match rustix::fs::openat2(from, above, DIRECTORY, Mode::empty(), STRAIGHT) {
            Ok(directory) => self.end(directory, CString::new(name).map_err(|_| Errno::INVAL)?, slash),
            Err(Errno::LOOP) => self.walk(from, path, Last::Stay),
            Err(errno) => Err(errno),
        }
    }

    /// Follows the link at a place; `None` if it is none, or nothing is there.
    pub(super) fn follow(&self, spot: &Spot) -> Result<Option<Found>, Errno> {
        let Some(to) = link(&spot.directory, &spot.name)? else { return Ok(None) };
        if is_proc(&spot.directory)? {
            return self.object(&spot.directory, &spot.name).map(Some);
        }
        self.walk(&spot.directory, &to, Last::Follow).map(Some)
    }

    fn root(&self) -> Result<OwnedFd, Errno> {
        self.shared.root.try_clone().map_err(|_| Errno::MFILE)
    }

    /// Step by step, through every link.
    fn walk(&self, from: &OwnedFd, path: &[u8], last: Last) -> Result<Found, Errno> {
        let from = if path.first() == Some(&b'/') { &self.shared.root } else { from };
        let mut at = from.try_clone().map_err(|_| Errno::MFILE)?;
        self.shared.is_inside(&at)?;
        let mut rest: Vec<Vec<u8>> = parts(path);
        let mut slash = path.ends_with(b"/");
        let mut links = 0;
        while let Some(part) = rest.pop() {
            let end = rest.is_empty();
            if part == b".." {
                at = rustix::fs::openat(&at, c"..", DIRECTORY, Mode::empty())?;
                continue;
            }
            let name = CString::new(self.meant(&at, part)?).map_err(|_| Errno::INVAL)?;
            if end && last == Last::Stay && !slash {
                return self.end(at, name, slash);
            }
            match link(&at, &name)? {
                Some(_) if is_proc(&at)? && end => return self.object(&at, &name),
                Some(_) if is_proc(&at)? => {
                    self.may_follow(&at, &name)?;
                    at = rustix::fs::openat(&at, &name, DIRECTORY, Mode::empty())?;
                    self.shared.is_inside(&at)?;
                }
                Some(to) => {
                    links += 1;
                    if links > LINKS {
                        return Err(Errno::LOOP);
                    }
                    if to.first() == Some(&b'/') {
                        at = self.root()?;
                    }
                    slash |= end && to.ends_with(b"/");
                    rest.extend(parts(&to));
                }
                None if end => return self.end(at, name, slash),
                None => {
                    at = rustix::fs::openat(&at, &name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
                }
            }
        }
        Ok(Found::Object(at))
    }

    fn end(&self, directory: OwnedFd, name: CString, slash: bool) -> Result<Found, Errno> {
        let path = self.shared.place(&directory)?;
        Ok(Found::Spot(Spot { directory, path, name, slash }))
    }

    /// `self` in `/proc` is the process that asks, and we are not meant.
    fn meant(&self, at: &OwnedFd, part: Vec<u8>) -> Result<Vec<u8>, Errno> {
        if part != b"self" && part != b"thread-self" || !is_proc(at)? {
            return Ok(part);
        }
        self.caller.process_inside().map(String::into_bytes)
    }

    /// Opens what a process has open, or the directory it is in. An object from outside the jail can be used as it was
    /// given, and not be opened again.
    fn object(&self, directory: &OwnedFd, name: &CString) -> Result<Found, Errno> {
        self.may_follow(directory, name)?;
        let object = rustix::fs::openat(directory, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&object)?.st_mode);
        if kind != FileType::Fifo {
            self.shared.is_inside(&object)?;
        }
        Ok(Found::Object(object))
    }

    /// Fails with `EACCES` unless the caller may follow a link of `/proc` itself: one of its own process, or of another that
    /// the caller's user may trace. The kernel would ask whether we may. It shows the links of a process that its own user may not
    /// trace, such as init, as root's.
    fn may_follow(&self, directory: &OwnedFd, name: &CString) -> Result<(), Errno> {
        let link = rustix::fs::statat(directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        let user = self.shared.about.user.uid;
        if user != 0 && link.st_uid == user {
            return Ok(());
        }
        let own = PathBuf::from("/proc").join(self.caller.process_inside()?);
        if place(directory)?.starts_with(own) { Ok(()) } else { Err(Errno::ACCESS) }
    }
}

/// Reads the target of a link; `None` if it is none, or nothing is there.
fn link(directory: &OwnedFd, name: &CString) -> Result<Option<Vec<u8>>, Errno> {
    match rustix::fs::readlinkat(directory, name.as_c_str(), Vec::new()) {
        Ok(to) => Ok(Some(to.into_bytes())),
        Err(Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Returns true for what lies in `/proc`, where links lead where no text says.
pub(super) fn is_proc(object: &OwnedFd) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(object)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// The path of a directory, as the jail sees it: on a mount of the jail the kernel says it from its root on.
pub(super) fn place(handle: &OwnedFd) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd as _;
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::readlink(link, Vec::new()).map(|path| PathBuf::from(OsString::from_vec(path.into_bytes())))
}

/// The components of a path, the first one last.
fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    let named = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    named.rev().map(<[u8]>::to_vec).collect()
}

/// Returns the part above the last component, the component if it is a name, and whether slashes follow.
fn split(path: &[u8]) -> (&[u8], Option<&[u8]>, bool) {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let (plain, slash) = (&path[..end], end < path.len());
    let start = plain.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let name = &plain[start..];
    (&plain[..start], (!matches!(name, b"" | b"." | b"..")).then_some(name), slash)
}

/// A path without the slashes at its beginning.
fn relative(path: &[u8]) -> &[u8] {
    let start = path.iter().position(|byte| *byte != b'/').unwrap_or(path.len());
    if start == path.len() { b"." } else { &path[start..] }
}

/// Returns the type of the entry under a name, itself and not what it leads to.
pub(super) fn kind(directory: &OwnedFd, name: &CString) -> Option<FileType> {
    let found = rustix::fs::statat(directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(found.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_before_its_last_name() {
        type Split = (&'static str, Option<&'static str>, bool);
        let rows: [(&str, Split); 9] = [
            ("a", ("", Some("a"), false)),
            ("a/", ("", Some("a"), true)),
            ("/a", ("/", Some("a"), false)),
            ("a//b//", ("a//", Some("b"), true)),
            ("a/..", ("a/", None, false)),
            (".", ("", None, false)),
            ("/", ("", None, true)),
            ("../x", ("../", Some("x"), false)),
            ("//a/b", ("//a/", Some("b"), false)),
        ];
        for (path, (above, name, slash)) in rows {
            let expected = (above.as_bytes(), name.map(str::as_bytes), slash);
            assert_eq!(split(path.as_bytes()), expected, "{path}");
        }
    }
}
