//! Symbolic links in repositories: git makes none there, and writes through those that it finds.

use std::ffi::CString;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::ground::repository_around;
use super::path::{Spot, kind};
use super::perform::CallerCall;
use super::refused;

impl CallerCall<'_> {
    /// Refuses a symbolic link in a repository, but for the one that git makes to see whether there are links.
    pub(super) fn is_linkable(&mut self, spot: &Spot, to: &CString) -> Result<(), Errno> {
        match repository_around(self.shared, spot, &mut self.guard) {
            Some((repository, _))
                if repository == spot.path && is_probe(spot.name.to_bytes(), to.to_bytes()) =>
            {
                Ok(())
            }
            Some((_, row)) => Err(refused(self.shared, spot.full(), row)),
            None => Ok(()),
        }
    }

    /// Links a file to a name. What is linked is what was looked at: the old name may be another file's by now.
    pub(super) fn link_file(&mut self, old: &Spot, new: &Spot) -> Result<(), Errno> {
        let path_only = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if repository_around(self.shared, new, &mut self.guard).is_none() {
            return rustix::fs::linkat(
                &old.directory,
                &old.name,
                &new.directory,
                &new.name,
                AtFlags::empty(),
            );
        }
        let file = rustix::fs::openat(&old.directory, &old.name, path_only, Mode::empty())?;
        self.link_object(&file, new)
    }

    /// Links what is open to a name.
    pub(super) fn link_object(&mut self, file: &OwnedFd, new: &Spot) -> Result<(), Errno> {
        let is_link = FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode) == FileType::Symlink;
        let around = is_link.then(|| repository_around(self.shared, new, &mut self.guard)).flatten();
        if let Some((_, row)) = around {
            return Err(refused(self.shared, new.full(), row));
        }
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(rustix::fs::CWD, link, &new.directory, &new.name, AtFlags::SYMLINK_FOLLOW)
    }

    /// Refuses to move a symbolic link into a repository, or within one. A directory from elsewhere could bring links along: `EXDEV`
    /// has the caller copy it, name by name.
    pub(super) fn brings_no_link(&mut self, old: &Spot, new: &Spot) -> Result<(), Errno> {
        let kind = kind(&old.directory, &old.name);
        if !matches!(kind, Some(FileType::Symlink | FileType::Directory)) {
            return Ok(());
        }
        let Some((repository, row)) = repository_around(self.shared, new, &mut self.guard) else {
            return Ok(());
        };
        if kind == Some(FileType::Symlink) {
            return Err(refused(self.shared, new.full(), row));
        }
        let from = repository_around(self.shared, old, &mut self.guard);
        if from.is_some_and(|(from, _)| from == repository) { Ok(()) } else { Err(Errno::XDEV) }
    }
}

/// `git init` makes a link `tXXXXXX` to `testing` at the top of the repository, and removes it. Git reads no such name.
fn is_probe(name: &[u8], to: &[u8]) -> bool {
    let is_random = |rest: &[u8]| rest.len() == 6 && rest.iter().all(u8::is_ascii_alphanumeric);
    to == b"testing" && name != to && name.strip_prefix(b"t").is_some_and(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_of_git_init_is_known() {
        let rows = [
            ("tAbC012", "testing", true),
            ("tAbC01", "testing", false),
            ("tAbC01.", "testing", false),
            ("xAbC012", "testing", false),
            ("testing", "testing", false),
            ("tAbC012", "../testing", false),
        ];
        for (name, to, expected) in rows {
            assert_eq!(is_probe(name.as_bytes(), to.as_bytes()), expected, "{name} {to}");
        }
    }
}
