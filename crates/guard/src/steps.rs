//! A path, step by step: each directory is opened by its handle, each link is read and followed by us.
//!
//! This is the way where the kernel has no `openat2`, and for paths to what does not exist.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path};

use rustix::fs::{FileType, Mode, OFlags, PROC_SUPER_MAGIC};
use rustix::io::Errno;

use crate::handle::{PATH, kind};
use crate::resolve::{Here, Last, Missing, Object};
use crate::trouble::Trouble;

/// Links that are followed before giving up, as the kernel does.
const MAX_LINKS: usize = 40;
/// Bytes that links may bring in, so that a path cannot grow without end.
const MAX_BYTES: usize = 64 << 10;

/// Walks along a path, relative ones from a directory.
pub(crate) fn walk(from: impl AsFd, path: &Path, last: Last) -> Result<Object, Trouble> {
    let at = if path.is_absolute() { root()? } else { rustix::io::fcntl_dupfd_cloexec(from, 0)? };
    let mut walk = Walk { at, names: Vec::new(), links: 0, bytes: 0 };
    walk.put(path);
    let object = walk.finish(last)?;
    if !wants_directory(path) {
        return Ok(object);
    }
    match object {
        Object::Here(here) if kind(&here.stat) == FileType::Directory => Ok(Object::Here(here)),
        Object::Here(_) => Err(Trouble::NotADirectory),
        Object::Missing(_) => Err(Trouble::NotFound),
    }
}

struct Walk {
    at: OwnedFd,
    /// What is still to be walked, the next last.
    names: Vec<OsString>,
    links: usize,
    bytes: usize,
}

impl Walk {
    fn finish(mut self, last: Last) -> Result<Object, Trouble> {
        while let Some(name) = self.names.pop() {
            let step = match rustix::fs::openat(&self.at, &*name, PATH | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(step) => step,
                Err(Errno::NOENT) => return self.ends_here(name),
                Err(errno) => return Err(errno.into()),
            };
            let stat = rustix::fs::fstat(&step)?;
            let is_last = self.names.is_empty();
            match kind(&stat) {
                FileType::Symlink if is_last && last == Last::Keep => {
                    return Ok(Object::Here(Here { handle: step, stat }));
                }
                FileType::Symlink => self.follow(&step)?,
                FileType::Directory => self.at = step,
                _ if is_last => return Ok(Object::Here(Here { handle: step, stat })),
                _ => return Err(Trouble::NotADirectory),
            }
        }
        Object::here(self.at)
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), Trouble> {
        // Those of the kernel jump instead of leading somewhere. Few others are there, and nobody misses them.
        if rustix::fs::fstatfs(link)?.f_type == PROC_SUPER_MAGIC {
            return Err(Trouble::MagicLink);
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new())?.into_bytes();
        self.links += 1;
        self.bytes += target.len();
        if self.links > MAX_LINKS || self.bytes > MAX_BYTES {
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

    /// The rest does not exist. Stepping back in what does not exist leads nowhere.
    fn ends_here(mut self, name: OsString) -> Result<Object, Trouble> {
        self.names.push(name);
        self.names.reverse();
        if self.names.iter().any(|name| name == "..") {
            return Err(Trouble::NotFound);
        }
        Ok(Object::Missing(Missing { parent: self.at, rest: self.names }))
    }

    fn put(&mut self, path: &Path) {
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        });
        let before = self.names.len();
        self.names.extend(names);
        self.names[before..].reverse();
    }
}

/// `Path` forgets about a slash at the end, and the kernel does not.
fn wants_directory(path: &Path) -> bool {
    let ends = |end: &str| path.as_os_str().as_bytes().ends_with(OsStr::new(end).as_bytes());
    ends("/") || ends("/.")
}

fn root() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/", PATH | OFlags::DIRECTORY, Mode::empty())
}
