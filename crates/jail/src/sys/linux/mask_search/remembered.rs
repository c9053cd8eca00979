//! Targets that links with forbidden names have led to.
//!
//! A link cannot be mounted on, so a process that can write beside it can remove it, and with it the reason for the mask of
//! its target. That there was such a link is remembered where no jail sees it, and the target stays masked for as long as it
//! is the same object.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{FlockOperation, Mode as Bits};

use super::DIRECTORY;
use super::cache::hash;

/// The form of the files.
const VERSION: &[u8] = b"ringfence links 1";

/// A link with a forbidden name, and what it leads to or has led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) link: PathBuf,
    /// The real path.
    pub(super) path: PathBuf,
    object: Object,
}

/// Identity of an object, which stays the same after every change to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Object {
    device: u64,
    inode: u64,
    /// In nanoseconds; 0 where the file system does not know it.
    born: u64,
}

impl Target {
    /// Returns the target that a link leads to now. `None`: nothing.
    pub(super) fn of(link: PathBuf) -> Option<Self> {
        let path = fs::canonicalize(&link).ok()?;
        let object = Object::at(&path)?;
        Some(Self { link, path, object })
    }

    /// The same, if the object is still there.
    fn still(self) -> Option<Self> {
        let path = fs::canonicalize(&self.path).ok()?;
        (Object::at(&path)? == self.object).then_some(Self { path, ..self })
    }
}

impl Object {
    fn at(path: &Path) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        let born = found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born = born.and_then(|born| u64::try_from(born.as_nanos()).ok()).unwrap_or(0);
        Some(Self { device: found.dev(), inode: found.ino(), born })
    }
}

/// Targets that are remembered for a workspace. No other process changes them meanwhile.
pub(super) struct Remembered {
    file: PathBuf,
    /// Those that are still there.
    pub(super) targets: Vec<Target>,
    /// Number of targets in the file.
    count: usize,
    _lock: OwnedFd,
}

impl Remembered {
    pub(super) fn read(cache: &Path, workspace: &Path) -> io::Result<Self> {
        let directory = cache.join("links");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let lock = rustix::fs::open(&directory, DIRECTORY, Bits::empty())?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
        let file = directory.join(format!("{:016x}", hash(workspace.as_os_str().as_bytes())));
        let known = match fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            bytes => parsed(&bytes?).ok_or(ErrorKind::InvalidData)?,
        };
        let count = known.len();
        Ok(Self { file, targets: known.into_iter().filter_map(Target::still).collect(), count, _lock: lock })
    }

    /// Adds what is masked now.
    pub(super) fn save(mut self, masked: &[Target]) -> io::Result<()> {
        let known = self.targets.len();
        let new = masked.iter().filter(|target| !self.targets.contains(target)).cloned().collect::<Vec<_>>();
        self.targets.extend(new);
        if (known, self.targets.len()) == (self.count, self.count) {
            return Ok(());
        }
        let new = self.file.with_extension("new");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&written(&self.targets))?;
        fs::rename(&new, &self.file)
    }
}

fn written(targets: &[Target]) -> Vec<u8> {
    let mut bytes = [VERSION, b"\0"].concat();
    for Target { link, path, object: Object { device, inode, born } } in targets {
        for part in [format!("{device} {inode} {born}").as_bytes(), link.as_os_str().as_bytes()] {
            bytes.extend([part, b"\0"].concat());
        }
        bytes.extend([path.as_os_str().as_bytes(), b"\0"].concat());
    }
    bytes
}

fn parsed(bytes: &[u8]) -> Option<Vec<Target>> {
    let body = bytes.strip_prefix(VERSION)?.strip_prefix(b"\0")?;
    let Some(body) = body.strip_suffix(b"\0") else { return body.is_empty().then(Vec::new) };
    let parts: Vec<_> = body.split(|byte| *byte == 0).collect();
    let targets = parts.chunks(3).map(|parts| {
        let [object, link, path] = parts else { return None };
        let numbers = std::str::from_utf8(object).ok()?.split(' ').map(|number| number.parse().ok());
        let [device, inode, born] = numbers.collect::<Option<Vec<u64>>>()?.try_into().ok()?;
        let [link, path] = [link, path].map(|path| PathBuf::from(OsStr::from_bytes(path)));
        Some(Target { link, path, object: Object { device, inode, born } })
    });
    targets.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may unwrap")]

    use super::*;

    #[test]
    fn what_is_written_is_read_again_whole_or_not_at_all() {
        let object = Object { device: 1, inode: u64::MAX, born: 0 };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let one = Target { link: path(b"/a\n b"), path: path(b"/\xff"), object };
        let two = Target { link: path(b"/x/.env"), path: path(b"/y"), object };
        for targets in [vec![], vec![one.clone()], vec![one, two]] {
            let bytes = written(&targets);
            assert_eq!(parsed(&bytes), Some(targets.clone()));
            for end in 0..bytes.len() {
                let part = parsed(&bytes[..end]);
                assert!(
                    part.is_none_or(|part| targets.starts_with(&part) && part.len() < targets.len()),
                    "{end}"
                );
            }
        }
    }
}
