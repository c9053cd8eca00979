//! Files in memory that can no longer be changed.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;

/// A sealed file with this content, which cannot be executed.
pub(super) fn sealed(content: &[u8]) -> Result<OwnedFd, Errno> {
    make(content, MemfdFlags::NOEXEC_SEAL)
}

/// A sealed program. Where the system forbids programs in memory (`vm.memfd_noexec = 2`), a file without a name.
pub(super) fn program(content: &[u8]) -> Result<OwnedFd, Errno> {
    match make(content, MemfdFlags::EXEC) {
        Err(Errno::ACCESS | Errno::PERM) => unnamed(content),
        made => made,
    }
}

/// An empty file that can be written, and not executed.
pub(super) fn writable() -> Result<OwnedFd, Errno> {
    create(MemfdFlags::NOEXEC_SEAL)
}

fn create(kind: MemfdFlags) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create(c"ringfence", flags | kind) {
        // Kernels before 6.3 do not know either kind.
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"ringfence", flags),
        made => made,
    }
}

fn make(content: &[u8], kind: MemfdFlags) -> Result<OwnedFd, Errno> {
    let made = create(kind)?;
    write_all(&made, content)?;
    let all = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&made, all)?;
    // To be read from its beginning.
    rustix::fs::seek(&made, rustix::fs::SeekFrom::Start(0))?;
    Ok(made)
}

/// A program in a file that never had a name. It cannot be written to: the only handle is read-only.
fn unnamed(content: &[u8]) -> Result<OwnedFd, Errno> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(std::path::PathBuf::from);
    let usual = ["/dev/shm", "/tmp", "/var/tmp"].map(std::path::PathBuf::from);
    let mut reason = Errno::ACCESS;
    for directory in own.into_iter().chain(usual).filter(|directory| directory.is_absolute()) {
        match unnamed_in(&directory, content) {
            Ok(made) => return Ok(made),
            Err(errno) => reason = errno,
        }
    }
    Err(reason)
}

fn unnamed_in(directory: &std::path::Path, content: &[u8]) -> Result<OwnedFd, Errno> {
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let writable = rustix::fs::open(directory, flags, Mode::from_raw_mode(0o500))?;
    if rustix::fs::fstatvfs(&writable)?.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC) {
        return Err(Errno::ACCESS);
    }
    write_all(&writable, content)?;
    // A file that is open for writing cannot be executed.
    rustix::fs::open(
        format!("/proc/self/fd/{}", writable.as_raw_fd()),
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Writes all of a content.
pub(super) fn write_all(file: &OwnedFd, mut content: &[u8]) -> Result<(), Errno> {
    while !content.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file.as_fd(), content))?;
        content = content.get(written..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    /// Checks the content of a file, and that it cannot be changed.
    fn check(file: OwnedFd, content: &[u8]) {
        assert!(rustix::io::write(&file, b"x").is_err());
        let mut found = Vec::new();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        std::fs::File::open(path).unwrap().read_to_end(&mut found).unwrap();
        assert_eq!(found, content);
        drop(file);
    }

    #[test]
    fn what_is_sealed_stays_as_it_is() {
        check(sealed(b"script").unwrap(), b"script");
        check(program(b"program").unwrap(), b"program");
        check(unnamed(b"program").unwrap(), b"program");
    }
}
