//! A path, step by step: each directory is opened by its handle, each link is read and followed by us.
//!
//! This is the way where the kernel does not look a path up in one call, and for paths to what does not exist.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::resolve::{Last, Missing, Object};
use crate::sys::{self, PATH, Seen};
use crate::trouble::Trouble;

/// Links that are followed before giving up, as the kernel does.
const MAX_LINKS: usize = 40;
/// Paths that the kernel takes are shorter.
const MAX_PATH: usize = 4096;

/// Walks along a path, relative ones from a directory.
pub(crate) fn walk(from: impl AsFd, path: &Path, last: Last) -> Result<Object, Trouble> {
    if path.as_os_str().len() >= MAX_PATH {
        return Err(Trouble::TooLong);
    }
    let at = if path.is_absolute() { root()? } else { rustix::io::fcntl_dupfd_cloexec(from, 0)? };
    let mut walk = Walk { at, names: Vec::new(), links: 0 };
    walk.put(path);
    walk.finish(last)
}

/// Walks along a path of plain names. A link or mount that leads elsewhere is an error; at the end it is the object found.
pub(crate) fn straight(from: impl AsFd, path: &Path) -> Result<OwnedFd, Trouble> {
    let mut at = if path.is_absolute() { root()? } else { rustix::io::fcntl_dupfd_cloexec(from, 0)? };
    for name in path.components().filter(|part| matches!(part, Component::Normal(_))) {
        at = sys::enter(&at, name.as_os_str())?;
    }
    Ok(at)
}

struct Walk {
    at: OwnedFd,
    /// Names still to be walked, the next last.
    names: Vec<OsString>,
    links: usize,
}

/// Stands for a slash at the end: what is before it has to be a directory.
const SLASH: &str = "";

impl Walk {
    fn finish(mut self, last: Last) -> Result<Object, Trouble> {
        while let Some(name) = self.names.pop() {
            // The walk has reached a directory.
            if name == SLASH {
                continue;
            }
            let seen = match Seen::of(&self.at, &name) {
                Ok(seen) => seen,
                Err(Trouble::NotFound) => return self.ends_here(name),
                Err(trouble) => return Err(trouble),
            };
            let is_last = self.names.is_empty();
            match seen.kind() {
                FileType::Symlink if is_last && last == Last::Keep => return seen.here().map(Object::Here),
                FileType::Symlink => {
                    let target = seen.target()?;
                    self.follow(target)?;
                }
                FileType::Directory => self.at = seen.here()?.handle,
                _ if is_last => return seen.here().map(Object::Here),
                _ => return Err(Trouble::NotADirectory),
            }
        }
        Object::here(self.at)
    }

    fn follow(&mut self, target: Vec<u8>) -> Result<(), Trouble> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Trouble::Loop);
        }
        if target.is_empty() {
            return Err(Trouble::NotFound);
        }
        let target = OsString::from_vec(target);
        if Path::new(&target).is_absolute() {
            self.at = root()?;
        }
        self.put(Path::new(&target));
        Ok(())
    }

    /// The rest does not exist. Stepping back in what does not exist leads nowhere, and nothing that is missing is a directory.
    fn ends_here(mut self, name: OsString) -> Result<Object, Trouble> {
        if self.names.first().is_some_and(|last| last == SLASH || last == ".") {
            return Err(Trouble::NotFound);
        }
        self.names.push(name);
        self.names.reverse();
        self.names.retain(|name| name != SLASH && name != ".");
        if self.names.iter().any(|name| name == "..") {
            return Err(Trouble::NotFound);
        }
        Ok(Object::Missing(Missing { parent: self.at, rest: self.names }))
    }

    /// Keeps what `Path` drops: a slash or a dot at the end.
    fn put(&mut self, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        let names: Vec<_> = bytes.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        if bytes.ends_with(b"/") {
            self.names.push(SLASH.into());
        }
        let last = names.len().saturating_sub(1);
        let counts = |(at, name): &(usize, &&[u8])| *at == last || **name != b".";
        let names =
            names.iter().enumerate().filter(counts).map(|(_, name)| OsStr::from_bytes(name).to_owned());
        self.names.extend(names.rev());
    }
}

fn root() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/", PATH | OFlags::DIRECTORY, Mode::empty())
}
