//! The store of Ringfence: one file for each secret, in a directory that is closed to others.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;
use zeroize::Zeroizing;

use super::{MAX_VALUE, Secret, SecretError, SecretName};

/// Opens nothing through a link, and does not block on a pipe.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Secrets as files with mode 0600 in a directory with mode 0700. The values are not encrypted.
#[derive(Debug, Clone)]
pub struct FileStore {
    directory: PathBuf,
}

impl FileStore {
    /// Names the directory. It is made with the first secret.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Reads a secret.
    pub fn get(&self, name: &SecretName) -> Result<Secret, SecretError> {
        let Some(directory) = self.open()? else { return Err(SecretError::NotSet(name.clone())) };
        let path = self.directory.join(name.as_str());
        let opened = rustix::fs::openat(&directory, name.as_str(), READ, Mode::empty());
        let file = match opened {
            Err(Errno::NOENT) => return Err(SecretError::NotSet(name.clone())),
            Err(Errno::LOOP) => return Err(SecretError::NotAFile(path)),
            other => other.map_err(|error| SecretError::io(&path, error))?,
        };
        check_file(&file, &path)?;
        Secret::new(read_bounded(file, &path)?.to_vec())
    }

    /// Stores a secret, replacing an earlier value at once.
    pub fn set(&self, name: &SecretName, value: &Secret) -> Result<(), SecretError> {
        let directory = self.create()?;
        let draft = format!(".{name}.{}", crate::placeholder::random_hex()?);
        let written = self.write(&directory, &draft, value).and_then(|()| {
            let renamed = rustix::fs::renameat(&directory, &*draft, &directory, name.as_str());
            renamed.and_then(|()| rustix::fs::fsync(&directory)).map_err(|error| self.failed(error))
        });
        if written.is_err() {
            // The first error is the one to tell; a draft is closed to others as the store is.
            rustix::fs::unlinkat(&directory, &*draft, AtFlags::empty()).ok();
        }
        written
    }

    /// Removes a secret. Returns false if there was none.
    pub fn remove(&self, name: &SecretName) -> Result<bool, SecretError> {
        let Some(directory) = self.open()? else { return Ok(false) };
        match rustix::fs::unlinkat(&directory, name.as_str(), AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Lists the names, sorted. Reads no value.
    pub fn list(&self) -> Result<Vec<SecretName>, SecretError> {
        let Some(directory) = self.open()? else { return Ok(Vec::new()) };
        let entries = rustix::fs::Dir::read_from(&directory).map_err(|error| self.failed(error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.failed(error))?;
            names.extend(entry.file_name().to_str().ok().and_then(|name| SecretName::parse(name).ok()));
        }
        names.sort();
        Ok(names)
    }

    fn write(&self, directory: &OwnedFd, draft: &str, value: &Secret) -> Result<(), SecretError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, draft, flags, Mode::RUSR | Mode::WUSR);
        let mut file = File::from(file.map_err(|error| self.failed(error))?);
        let written = file.write_all(value.expose()).and_then(|()| file.sync_all());
        written.map_err(|error| SecretError::io(&self.directory, error))
    }

    /// Opens the directory; `None` if it is not there.
    fn open(&self) -> Result<Option<OwnedFd>, SecretError> {
        let opened = rustix::fs::open(&self.directory, READ | OFlags::DIRECTORY, Mode::empty());
        let directory = match opened {
            Err(Errno::NOENT) => return Ok(None),
            other => other.map_err(|error| self.failed(error))?,
        };
        check_owner(&directory, &self.directory, "700")?;
        Ok(Some(directory))
    }

    fn create(&self) -> Result<OwnedFd, SecretError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        made.map_err(|error| SecretError::io(&self.directory, error))?;
        self.open()?.ok_or_else(|| self.failed(Errno::NOENT))
    }

    fn failed(&self, error: Errno) -> SecretError {
        SecretError::io(&self.directory, error)
    }
}

/// Refuses what another user owns, reads or writes.
pub(super) fn check_owner(file: &OwnedFd, path: &Path, mode: &'static str) -> Result<RawMode, SecretError> {
    let status = rustix::fs::fstat(file).map_err(|error| SecretError::io(path, error))?;
    let own = status.st_uid == rustix::process::geteuid().as_raw();
    if own && !Mode::from_raw_mode(status.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        Ok(status.st_mode)
    } else {
        Err(SecretError::Open { path: path.into(), mode })
    }
}

fn check_file(file: &OwnedFd, path: &Path) -> Result<(), SecretError> {
    let mode = check_owner(file, path, "600")?;
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(SecretError::NotAFile(path.into())),
    }
}

/// Reads a file that is no longer than a secret may be, with a line end.
pub(super) fn read_bounded(file: OwnedFd, path: &Path) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    // Room for all of it at once, so that no copy is left behind by growing.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_VALUE + 3));
    let read = File::from(file).take(MAX_VALUE as u64 + 3).read_to_end(&mut bytes);
    read.map_err(|error| SecretError::io(path, error))?;
    if bytes.len() > MAX_VALUE + 2 { Err(SecretError::TooLong) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn name(text: &str) -> SecretName {
        SecretName::parse(text).unwrap()
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text.into()).unwrap()
    }

    #[test]
    fn a_secret_is_stored_replaced_listed_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let store = FileStore::new(home.path().join("state/secrets"));
        assert!(matches!(store.get(&name("a")), Err(SecretError::NotSet(_))));
        assert!(store.list().unwrap().is_empty() && !store.remove(&name("a")).unwrap());
        store.set(&name("b"), &secret("first-value")).unwrap();
        store.set(&name("a"), &secret("other-value")).unwrap();
        store.set(&name("b"), &secret("second-value")).unwrap();
        assert!(store.get(&name("b")).unwrap() == secret("second-value"));
        assert_eq!(store.list().unwrap(), [name("a"), name("b")]);
        let mode = |path: &str| home.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("state/secrets"), mode("state/secrets/a")), (0o700, 0o600));
        assert_eq!(
            std::fs::read_dir(home.path().join("state/secrets")).unwrap().count(),
            2,
            "no draft is left"
        );
        assert!(store.remove(&name("a")).unwrap());
        assert_eq!(store.list().unwrap(), [name("b")]);
    }

    #[test]
    fn what_others_could_read_or_replace_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("secrets");
        let store = FileStore::new(&directory);
        store.set(&name("a"), &secret("first-value")).unwrap();
        let chmod =
            |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        chmod(&directory.join("a"), 0o640);
        assert!(matches!(store.get(&name("a")), Err(SecretError::Open { mode: "600", .. })));
        chmod(&directory.join("a"), 0o600);
        chmod(&directory, 0o711);
        assert!(matches!(store.get(&name("a")), Err(SecretError::Open { mode: "700", .. })));
        assert!(store.set(&name("a"), &secret("other-value")).is_err());
        chmod(&directory, 0o700);
        symlink("a", directory.join("link")).unwrap();
        assert!(matches!(store.get(&name("link")), Err(SecretError::NotAFile(_))));
        store.set(&name("link"), &secret("other-value")).unwrap();
        assert!(
            store.get(&name("a")).unwrap() == secret("first-value"),
            "the link is replaced, not followed"
        );
        symlink(&directory, home.path().join("alias")).unwrap();
        assert!(FileStore::new(home.path().join("alias")).get(&name("a")).is_err());
    }
}
