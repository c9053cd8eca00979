//! Persistent home directories: one for each project, as a layer over an empty directory.
//!
//! **Invariant.** A home belongs to one directory: its path, inode and creation time. A different directory
//! that appears at the same path has a different home: inode numbers are reused, and the root of every file
//! system has the same one. The device number is not used, because it changes when a disk is mounted again.
//!
//! **Invariant.** The content of a home was written by untrusted commands. A home is entered by handle only,
//! and only to be removed; programs of the host have no reason to read it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode};
use rustix::io::Errno;

use crate::error::{At as _, OverlayError};
use crate::marks;
use crate::store::{ChangeDirectory, Lock, UPPER, WORK, give, remove_at};
use git::{Directory, Look};

/// The directory that contains all homes.
#[derive(Debug, Clone)]
pub struct Homes {
    path: PathBuf,
}

/// The home of one project.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Home {
    /// Directory name of the home.
    pub id: String,
    /// Project directory that the home belongs to.
    pub workspace: PathBuf,
    own: Identity,
    path: PathBuf,
}

/// Distinguishes a project directory from another one at the same path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Identity {
    inode: u64,
    /// Creation time.
    born: u128,
}

impl Identity {
    fn of(directory: &Directory) -> Result<Self, Errno> {
        Ok(Self { inode: directory.own()?.id().1, born: directory.born()? })
    }

    /// Parses `inode born`.
    fn parse(text: &str) -> Option<Self> {
        let (inode, born) = text.split_once(' ')?;
        Some(Self { inode: inode.parse().ok()?, born: born.parse().ok()? })
    }
}

impl Homes {
    /// Returns the homes in Ringfence's state directory.
    #[must_use]
    pub fn at(state: &Path) -> Self {
        Self { path: state.join("homes") }
    }

    /// Lists every home, by project. A damaged one belongs to no project.
    pub fn list(&self) -> Result<Vec<Home>, OverlayError> {
        let directory = match Directory::open(&self.path) {
            Err(Errno::NOENT) => return Ok(Vec::new()),
            other => other.at("cannot open", &self.path)?,
        };
        let names = directory.names().at("cannot read", &self.path)?;
        let names = names.iter().filter_map(|name| name.to_str()).filter(|name| !name.starts_with('.'));
        let mut homes: Vec<_> = names.map(|name| Home::open(&self.path, name)).collect();
        homes.sort_by(|one, other| (&one.workspace, &one.id).cmp(&(&other.workspace, &other.id)));
        Ok(homes)
    }

    /// Returns the home of a directory, created if there is none, and the lock that excludes other commands.
    pub fn begin(&self, workspace: &Path) -> Result<(Home, Lock), OverlayError> {
        let directory = Directory::open(workspace).at("cannot open", workspace)?;
        let like = directory.own().at("cannot read", workspace)?;
        let own = Identity::of(&directory).at("cannot read", workspace)?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.path);
        made.map_err(|error| raw_errno(&error)).at("cannot make", &self.path)?;
        let store = Directory::open(&self.path).at("cannot open", &self.path)?;
        // Held until the home exists: of two concurrent first runs, the second finds the home of the first.
        rustix::fs::flock(&store, FlockOperation::LockExclusive).at("cannot lock", &self.path)?;
        let known = |home: &Home| home.workspace == workspace && home.own == own;
        if let Some(home) = self.list()?.into_iter().find(known) {
            let lock = Lock::take(&home.path, &home.id)?;
            return Ok((home, lock));
        }
        self.make(&store, workspace, own, &like)
    }

    /// Removes a home and all its content.
    pub fn remove(&self, home: &Home) -> Result<(), OverlayError> {
        let lock = Lock::take(&home.path, &home.id)?;
        remove_at(&self.path, &home.id, lock)
    }

    fn make(
        &self,
        store: &Directory,
        workspace: &Path,
        own: Identity,
        like: &Look,
    ) -> Result<(Home, Lock), OverlayError> {
        let id = loop {
            let id = format!("{:016x}", RandomState::new().hash_one(std::process::id()))[..8].to_owned();
            if store.make(&id, 0o700).at("cannot make", &self.path.join(&id))? {
                break id;
            }
        };
        let path = self.path.join(&id);
        let home = Home { id, workspace: workspace.to_owned(), own, path };
        let lock = Lock::take(&home.path, &home.id)?;
        match home.fill(like) {
            Ok(()) => Ok((home, lock)),
            // It is empty, and no command uses it.
            Err(error) => remove_at(&self.path, &home.id, lock).and(Err(error)),
        }
    }
}

impl Home {
    fn open(homes: &Path, id: &str) -> Self {
        let path = homes.join(id);
        let read = || -> Option<(Identity, PathBuf)> {
            let file = Directory::open(&path).ok()?.file(OsStr::new(PROJECT)).ok()?;
            let mut text = Vec::new();
            file.take(LONGEST).read_to_end(&mut text).ok()?;
            let at = text.iter().position(|byte| *byte == b'\n')?;
            let own = Identity::parse(std::str::from_utf8(&text[..at]).ok()?)?;
            Some((own, PathBuf::from(OsString::from_vec(text[at + 1..].to_vec()))))
        };
        let (own, workspace) = read().unwrap_or_default();
        Self { id: id.to_owned(), workspace, own, path }
    }

    /// Returns the path of the empty directory at which the home appears, and the directory of its files.
    #[must_use]
    pub fn kept(&self) -> ChangeDirectory {
        ChangeDirectory { path: self.path.join(SEEN), directory: self.path.join(LAYER) }
    }

    /// Returns true if the project directory is gone, or a different one has its path.
    #[must_use]
    pub fn is_orphan(&self) -> bool {
        let found = Directory::open(&self.workspace).and_then(|own| Identity::of(&own));
        !found.is_ok_and(|found| found == self.own)
    }

    /// Creates its directories, owned by the owner of the project, the user that commands see themselves as.
    fn fill(&self, like: &Look) -> Result<(), OverlayError> {
        let made = || -> Result<Directory, Errno> {
            let own = Directory::open(&self.path)?;
            let make = |above: &Directory, name: &str| -> Result<Directory, Errno> {
                above.make(name, 0o700)?;
                let made = above.enter(OsStr::new(name))?;
                give(&made, like)?;
                rustix::fs::fchmod(&made, Mode::from_raw_mode(0o700))?;
                Ok(made)
            };
            make(&own, SEEN)?;
            let layer = make(&own, LAYER)?;
            make(&layer, WORK)?;
            make(&layer, UPPER)
        };
        let upper = made().at("cannot make", &self.path)?;
        if !marks::can_be_kept(&upper) {
            return Err(OverlayError::NoMarks(self.path.clone()));
        }
        let path = self.path.join(PROJECT);
        let Identity { inode, born } = self.own;
        let text = [format!("{inode} {born}\n").as_bytes(), self.workspace.as_os_str().as_bytes()].concat();
        fs::write(&path, text).map_err(|error| raw_errno(&error)).at("cannot write", &path)
    }
}

fn raw_errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

const PROJECT: &str = "project";
const SEEN: &str = "home";
const LAYER: &str = "layer";
const LONGEST: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_has_a_home_of_its_own() {
        let stage = tempfile::tempdir().unwrap();
        let (one, other) = (stage.path().join("one"), stage.path().join("other"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        let homes = Homes::at(&stage.path().join("state"));
        let (first, lock) = homes.begin(&one).unwrap();
        assert!(matches!(homes.begin(&one), Err(OverlayError::Busy(_))));
        assert!(matches!(homes.remove(&first), Err(OverlayError::Busy(_))));
        let (second, _) = homes.begin(&other).unwrap();
        assert_ne!(first.id, second.id);
        drop(lock);
        let (again, _) = homes.begin(&one).unwrap();
        assert_eq!(again.id, first.id);
        // Another directory at the same path; the old one is kept, so that its inode is not reused.
        fs::rename(&one, stage.path().join("old")).unwrap();
        fs::create_dir(&one).unwrap();
        let (new, _) = homes.begin(&one).unwrap();
        assert!(new.id != first.id && first.is_orphan() && !new.is_orphan());
        assert_eq!(homes.list().unwrap().len(), 3);
        homes.remove(&first).unwrap();
        assert_eq!(homes.list().unwrap().len(), 2);
    }

    #[test]
    fn first_runs_at_once_have_one_home() {
        for _ in 0..20 {
            let stage = tempfile::tempdir().unwrap();
            let homes = Homes::at(&stage.path().join("state"));
            let start = std::sync::Barrier::new(8);
            let begun = std::thread::scope(|scope| {
                let begin = || {
                    start.wait();
                    homes.begin(stage.path())
                };
                let all: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
                all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(homes.list().unwrap().len(), 1);
            assert_eq!(begun.iter().filter(|begun| begun.is_ok()).count(), 1, "{begun:?}");
            assert!(
                begun.iter().all(|begun| matches!(begun, Ok(_) | Err(OverlayError::Busy(_)))),
                "{begun:?}"
            );
        }
    }

    /// File systems reuse the inode of a removed directory for the next one.
    #[test]
    fn a_directory_made_anew_has_another_home() {
        let stage = tempfile::tempdir().unwrap();
        let homes = Homes::at(&stage.path().join("state"));
        let workspace = stage.path().join("project");
        fs::create_dir(&workspace).unwrap();
        let (first, lock) = homes.begin(&workspace).unwrap();
        drop(lock);
        // The clock of a file system advances only every few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(50));
        for _ in 0..50 {
            fs::remove_dir(&workspace).unwrap();
            fs::create_dir(&workspace).unwrap();
            assert!(first.is_orphan());
            let (next, _) = homes.begin(&workspace).unwrap();
            assert_ne!(next.id, first.id);
        }
    }
}
