//! Files that the supervisor writes itself: they are complete before they get their name.
//!
//! A file has no name while it is written. Where a name has to be replaced, it gets an unpredictable one for a moment, which
//! no supervised call may use; see [`is_staging_name`].

use std::ffi::CString;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::repository;
use crate::sys::linux::memory_file::write_all;

/// Prefix of staging names.
const PREFIX: &[u8] = b".ringfence-staged-";

/// Mode of a new file before the umask.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// Returns true if a name may be one that a file has before it replaces another.
pub(super) fn is_staging_name(name: &[u8]) -> bool {
    name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// A complete file that is nowhere yet.
struct Staged<'a> {
    directory: &'a OwnedFd,
    file: OwnedFd,
    /// Its name, once it has one.
    name: Option<CString>,
}

/// Makes a file with a text under a name that nothing has.
pub(super) fn create(directory: &OwnedFd, name: &CString, text: &[u8]) -> Result<(), Errno> {
    Staged::write(directory, text, None)?.link(name)
}

/// Makes a file with a text under a name that nothing has, with the mode and group of another.
pub(super) fn create_like(
    directory: &OwnedFd,
    name: &CString,
    text: &[u8],
    like: &Stat,
) -> Result<(), Errno> {
    Staged::write(directory, text, Some(like))?.link(name)
}

/// Puts a file with a text at a name, with the mode and group of another, no matter what is there.
pub(super) fn replace_like(
    directory: &OwnedFd,
    name: &CString,
    text: &[u8],
    like: &Stat,
) -> Result<(), Errno> {
    Staged::write(directory, text, Some(like))?.put(name).map(drop)
}

/// Puts a file with a text in the place of another, with its mode and group. Fails if something else is there afterwards.
pub(super) fn replace(directory: &OwnedFd, name: &CString, text: &[u8]) -> Result<(), Replaced> {
    let before = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let staged = Staged::write(directory, text, before.as_ref()).map_err(Replaced::Not)?;
    let file = staged.put(name).map_err(Replaced::Not)?;
    is_there(directory, name, &file, text)
}

/// Reason why a file was not replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// It is as it was.
    Not(Errno),
    /// Another file has the name by now.
    Overtaken,
    /// The file has another text.
    Changed,
}

/// Checks that a name leads to a file, and that the file has a text.
fn is_there(directory: &OwnedFd, name: &CString, file: &OwnedFd, text: &[u8]) -> Result<(), Replaced> {
    let own = rustix::fs::fstat(file).map_err(Replaced::Not)?;
    let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    if !found.is_ok_and(|found| (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)) {
        return Err(Replaced::Overtaken);
    }
    // The file could be written to through a second name.
    let same = own.st_nlink == 1 && repository::text(directory, name.to_bytes()).is_ok_and(|now| now == text);
    if same { Ok(()) } else { Err(Replaced::Changed) }
}

impl<'a> Staged<'a> {
    fn write(directory: &'a OwnedFd, text: &[u8], before: Option<&Stat>) -> Result<Self, Errno> {
        let unnamed = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let staged = match rustix::fs::openat(directory, c".", unnamed, NEW_FILE) {
            Ok(file) => Self { directory, file, name: None },
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => Self::named(directory)?,
            Err(errno) => return Err(errno),
        };
        staged.complete(text, before).map(|()| staged)
    }

    /// Makes a file with a name, where the file system has none without. Its mode is 0 until it is complete.
    fn named(directory: &'a OwnedFd) -> Result<Self, Errno> {
        let name = staging_name()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, &name, flags, Mode::empty())?;
        Ok(Self { directory, file, name: Some(name) })
    }

    /// Writes the text, then sets the group and the mode: those of `before`, or those of a new file.
    fn complete(&self, text: &[u8], before: Option<&Stat>) -> Result<(), Errno> {
        write_all(&self.file, text)?;
        let Some(before) = before else {
            if self.name.is_none() {
                return Ok(());
            }
            // The thread has the umask of its caller, and its own copy of it.
            let umask = rustix::process::umask(Mode::empty());
            rustix::process::umask(umask);
            return rustix::fs::fchmod(&self.file, NEW_FILE - umask);
        };
        // A group that the user does not have cannot be given; the file is usable without.
        let _kept = rustix::fs::fchown(&self.file, None, Some(rustix::fs::Gid::from_raw(before.st_gid)));
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(before.st_mode & 0o777))
    }

    /// Gives the file a name that nothing has.
    fn link(self, name: &CString) -> Result<(), Errno> {
        self.link_with(name, |directory, staged| {
            rustix::fs::renameat_with(directory, staged, directory, name, RenameFlags::NOREPLACE)
        })
    }

    fn link_with(
        mut self,
        name: &CString,
        rename: impl FnOnce(&OwnedFd, &CString) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let Some(staged) = &self.name else { return self.link_unnamed(name) };
        match rename(self.directory, staged) {
            Ok(()) => self.name = None,
            // NFS and some of FUSE do not know `RENAME_NOREPLACE`. The staging name is removed on drop.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                rustix::fs::linkat(self.directory, staged, self.directory, name, AtFlags::empty())?;
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }

    /// Gives the file a name in place of what has it.
    fn put(mut self, name: &CString) -> Result<OwnedFd, Errno> {
        if self.name.is_none() {
            let staged = staging_name()?;
            self.link_unnamed(&staged)?;
            self.name = Some(staged);
        }
        let staged = self.name.take().ok_or(Errno::IO)?;
        let moved = rustix::fs::renameat(self.directory, &staged, self.directory, name);
        self.name = moved.is_err().then_some(staged);
        moved?;
        self.file.try_clone().map_err(|_| Errno::MFILE)
    }

    fn link_unnamed(&self, name: &CString) -> Result<(), Errno> {
        let file = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(CWD, file, self.directory, name, AtFlags::SYMLINK_FOLLOW)
    }
}

impl Drop for Staged<'_> {
    /// Removes what is left of a file that did not get where it should.
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _gone = rustix::fs::unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

fn staging_name() -> Result<CString, Errno> {
    let mut random = [0_u8; 16];
    let count = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    if count < random.len() {
        return Err(Errno::AGAIN);
    }
    let digits = format!("{:032x}", u128::from_ne_bytes(random));
    CString::new([PREFIX, digits.as_bytes()].concat()).map_err(|_| Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::path::Path;

    use super::*;

    fn open(path: &Path) -> OwnedFd {
        rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    fn only_name(top: &Path) -> Vec<String> {
        fs::read_dir(top).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("config");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        let before = fs::metadata(&path).unwrap();
        replace(&open(place.path()), &c"config".to_owned(), b"new").unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!((after.mode(), after.gid()), (before.mode(), before.gid()));
        assert_ne!(after.ino(), before.ino());
        assert_eq!(only_name(place.path()), ["config"]);
    }

    #[test]
    fn a_file_without_o_tmpfile_is_closed_until_it_is_complete() {
        let place = tempfile::tempdir().unwrap();
        let directory = open(place.path());
        let staged = Staged::named(&directory).unwrap();
        let name = only_name(place.path()).remove(0);
        assert!(is_staging_name(name.as_bytes()) && name.len() == PREFIX.len() + 32);
        let mode = || fs::metadata(place.path().join(&name)).unwrap().mode() & 0o777;
        assert_eq!(mode(), 0);
        write_all(&staged.file, b"te").unwrap();
        assert_eq!(mode(), 0);
        staged.complete(b"xt", None).unwrap();
        fs::write(place.path().join("plain"), "").unwrap();
        assert_eq!(mode(), fs::metadata(place.path().join("plain")).unwrap().mode() & 0o777);
        fs::remove_file(place.path().join("plain")).unwrap();
        staged.put(&c"config".to_owned()).unwrap();
        assert_eq!(only_name(place.path()), ["config"]);
        Staged::named(&directory).map(drop).unwrap();
        assert_eq!(only_name(place.path()), ["config"]);
        assert_eq!(fs::read(place.path().join("config")).unwrap(), b"text");
    }

    #[test]
    fn a_new_file_has_the_mode_that_the_umask_leaves() {
        let place = tempfile::tempdir().unwrap();
        create(&open(place.path()), &c"commondir".to_owned(), b"../..\n").unwrap();
        fs::write(place.path().join("plain"), "").unwrap();
        let mode = |name: &str| fs::metadata(place.path().join(name)).unwrap().mode();
        assert_eq!(mode("commondir"), mode("plain"));
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let place = tempfile::tempdir().unwrap();
        let (directory, name) = (open(place.path()), c"commondir".to_owned());
        assert_eq!(create(&directory, &name, b"../..\n"), Ok(()));
        assert_eq!(create(&directory, &name, b"evil"), Err(Errno::EXIST));
        assert_eq!(fs::read(place.path().join("commondir")).unwrap(), b"../..\n");
        let staged = Staged::named(&directory).unwrap();
        assert_eq!(staged.link(&name), Err(Errno::EXIST));
        assert_eq!(only_name(place.path()), ["commondir"]);
    }

    #[test]
    fn without_rename_noreplace_a_new_file_is_linked() {
        let place = tempfile::tempdir().unwrap();
        let (directory, name) = (open(place.path()), c"commondir".to_owned());
        for (errno, expected) in
            [(Errno::INVAL, Ok(())), (Errno::INVAL, Err(Errno::EXIST)), (Errno::IO, Err(Errno::IO))]
        {
            let staged = Staged::named(&directory).unwrap();
            staged.complete(b"text", None).unwrap();
            assert_eq!(staged.link_with(&name, |_, _| Err(errno)), expected);
            assert_eq!(only_name(place.path()), ["commondir"]);
        }
        let found = fs::metadata(place.path().join("commondir")).unwrap();
        assert_eq!((found.nlink(), found.len()), (1, 4));
    }

    #[test]
    fn another_file_or_another_text_is_found_out() {
        let place = tempfile::tempdir().unwrap();
        let (directory, name) = (open(place.path()), c"config".to_owned());
        let file = Staged::write(&directory, b"ours", None).unwrap().put(&name).unwrap();
        assert_eq!(is_there(&directory, &name, &file, b"ours"), Ok(()));
        fs::hard_link(place.path().join("config"), place.path().join("second")).unwrap();
        assert_eq!(is_there(&directory, &name, &file, b"ours"), Err(Replaced::Changed));
        fs::remove_file(place.path().join("second")).unwrap();
        fs::write(place.path().join("config"), "evil").unwrap();
        assert_eq!(is_there(&directory, &name, &file, b"ours"), Err(Replaced::Changed));
        fs::remove_file(place.path().join("config")).unwrap();
        assert_eq!(is_there(&directory, &name, &file, b"ours"), Err(Replaced::Overtaken));
    }

    #[test]
    fn staging_names_are_known_in_every_case_and_never_the_same() {
        let rows = [
            (&b".ringfence-staged-00"[..], true),
            (b".RingFence-STAGED-", true),
            (b".ringfence-stage", false),
            (b"config.ringfence", false),
            (b".ringfence-staged\xff", false),
        ];
        for (name, expected) in rows {
            assert_eq!(is_staging_name(name), expected, "{name:?}");
        }
        assert_ne!(staging_name().unwrap(), staging_name().unwrap());
    }
}
