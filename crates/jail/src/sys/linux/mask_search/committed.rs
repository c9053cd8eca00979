//! Files whose content is committed. A process that can use the repository reads it there, so a mask would hide nothing, and
//! git could not work with the file.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode as Bits, OFlags};

use crate::git::repository::{Repository, git_dir, repository};
use crate::plan::Mask;
use crate::spec::{Mode, Spec};
use ::git::{History, head};

/// Files that are read for this. In a repository with more of them, the rest is masked.
const MOST: usize = 256;
/// A longer file is masked.
const LONGEST: u64 = 1 << 20;

/// Leaves files out that are as a commit has them that is checked out.
pub(super) fn leave_out(found: &mut Vec<Mask>, spec: &Spec) {
    let mut trees = HashMap::new();
    let mut left = MOST;
    found.retain(|mask| {
        if mask.directory || left == 0 {
            return true;
        }
        left -= 1;
        !is_committed(&mask.path, spec, &mut trees).unwrap_or(false)
    });
}

/// Returns true if a file is as it was committed. `None` if it lies in no working tree, or something cannot be read.
fn is_committed(path: &Path, spec: &Spec, trees: &mut HashMap<PathBuf, Option<History>>) -> Option<bool> {
    let tree = path.ancestors().skip(1).find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let history = trees.entry(tree.to_owned()).or_insert_with(|| checked_out(tree, spec)).as_mut()?;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let about = file.metadata().ok()?;
    let mut content = Vec::new();
    if !about.is_file() || file.take(LONGEST + 1).read_to_end(&mut content).ok()? as u64 > LONGEST {
        return None;
    }
    Some(history.has_now(path.strip_prefix(tree).ok()?.as_os_str().as_bytes(), &content))
}

/// The commit that is checked out in a working tree, if the jail shows its repository.
fn checked_out(tree: &Path, spec: &Spec) -> Option<History> {
    let (Repository::Inside(shared) | Repository::Outside(shared)) = repository(tree) else { return None };
    if !spec.mode_at(&shared).is_some_and(Mode::shows_host) {
        return None;
    }
    // A command inside can write any number of other heads, and a guess of the content into each.
    let own = std::fs::canonicalize(git_dir(tree)?).ok()?;
    if own != std::fs::canonicalize(&shared).ok()? && own.parent()? != shared.join("worktrees") {
        return None;
    }
    let (shared, own) = (directory(&shared)?, directory(&own)?);
    History::new(&shared, head(&shared, &own), BTreeSet::new()).ok()
}

fn directory(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Bits::empty()).ok()
}
