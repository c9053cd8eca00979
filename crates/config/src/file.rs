//! Policy files, read by handle and only when no other user could have written them.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use policy::{Code, Shown};
use rustix::fs::OFlags;

use crate::problem::Problem;
use crate::source::{Scope, Source};

/// Largest policy file, in bytes.
pub const MAX_FILE: u64 = 4 << 20;

/// Reads a policy file; `None` when there is none.
///
/// A managed or user file may be a link, as dotfiles often are: what counts is the file it leads to, which must belong
/// to root or the user, must not be writable by others, and must not lie where the agent writes. The project's file is
/// in the agent's reach anyway; it must be a plain file, so that it cannot show us another user's.
pub fn read(scope: Scope, path: &Path, workspace: &Path) -> Result<Option<Source>, Problem> {
    let real = match scope {
        Scope::Project => path.to_owned(),
        _ => match std::fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if is_absent(&error) && path.symlink_metadata().is_err() => return Ok(None),
            Err(error) => return Err(unreadable(path, &error)),
        },
    };
    let Some(mut file) = open(path, &real)? else { return Ok(None) };
    check(scope, path, &real, &file, workspace)?;
    let text = read_text(path, &mut file)?;
    Ok(Some(Source::new(scope, path, text)))
}

/// Reads a file that a person named, of any owner: a regular file of bounded size, and never waiting for one.
pub fn read_named(path: &Path) -> Result<String, Problem> {
    let real = std::fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
    let mut file = open(path, &real)?.ok_or_else(|| unreadable(path, &io::ErrorKind::NotFound.into()))?;
    if !file.metadata().map_err(|error| unreadable(path, &error))?.is_file() {
        return Err(Problem::new(
            Code::UnreadableFile,
            format!("{} is not a regular file", Shown::path(path)),
        ));
    }
    read_text(path, &mut file)
}

/// Opens without following a final link and without waiting for the other end of a pipe.
fn open(path: &Path, real: &Path) -> Result<Option<File>, Problem> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    match OpenOptions::new().read(true).custom_flags(flags).open(real) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Err(untrusted(path, "it is a link").hint("put the file itself there"))
        }
        // A socket cannot be opened at all.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            Err(untrusted(path, "it is not a regular file"))
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn check(scope: Scope, path: &Path, real: &Path, file: &File, workspace: &Path) -> Result<(), Problem> {
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(untrusted(path, "it is not a regular file"));
    }
    if metadata.len() > MAX_FILE {
        return Err(too_large(path));
    }
    if scope == Scope::Project {
        return Ok(());
    }
    if real.starts_with(workspace) {
        let hint = "move it out of the directory the agent works in, or run in another directory";
        return Err(untrusted(path, "it lies in the workspace, where the agent can change it").hint(hint));
    }
    let parent =
        real.parent().unwrap_or(Path::new("/")).metadata().map_err(|error| unreadable(path, &error))?;
    check_owner(scope, path, metadata.uid())?;
    check_mode(path, real, &metadata)?;
    // A directory with the sticky bit protects the files in it.
    if parent.mode() & 0o1000 == 0 {
        check_mode(path, real.parent().unwrap_or(real), &parent)?;
    }
    Ok(())
}

fn check_owner(scope: Scope, path: &Path, owner: u32) -> Result<(), Problem> {
    let user = rustix::process::geteuid().as_raw();
    let accepted = owner == 0 || (scope == Scope::User && owner == user);
    if accepted {
        return Ok(());
    }
    let whose = if scope == Scope::User { "neither you nor root own it" } else { "root does not own it" };
    Err(untrusted(path, whose).hint(format!("it belongs to user {owner}: change the owner with chown")))
}

fn check_mode(path: &Path, real: &Path, metadata: &Metadata) -> Result<(), Problem> {
    let mode = metadata.mode();
    // Many systems give every user a group of their own, with the same number; such a group has no other members.
    let others = if metadata.gid() == metadata.uid() { 0o002 } else { 0o022 };
    if mode & others == 0 {
        return Ok(());
    }
    let message = format!("{} can be written by others (mode {:04o})", Shown::path(real), mode & 0o7777);
    Err(untrusted(path, &message).hint(format!("chmod go-w {}", Shown::path(real))))
}

fn read_text(path: &Path, file: &mut File) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(too_large(path));
    }
    String::from_utf8(bytes).map_err(|error| {
        let message =
            format!("{} is not UTF-8 at byte {}", Shown::path(path), error.utf8_error().valid_up_to());
        Problem::new(Code::NotToml, message)
    })
}

/// The project's file: in the workspace, or nowhere.
#[must_use]
pub fn project_file(workspace: &Path) -> PathBuf {
    workspace.join("ringfence.toml")
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let message = format!("{} cannot be read: {error}", Shown::path(path));
    Problem::new(Code::UnreadableFile, message).hint("nothing runs with a policy that cannot be read")
}

fn untrusted(path: &Path, why: &str) -> Problem {
    Problem::new(Code::UntrustedFile, format!("{} is not used: {why}", Shown::path(path)))
}

fn too_large(path: &Path) -> Problem {
    let message = format!("{} is larger than {} MiB", Shown::path(path), MAX_FILE >> 20);
    Problem::new(Code::TooLarge, message)
}
