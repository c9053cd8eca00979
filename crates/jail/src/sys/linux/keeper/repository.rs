//! What git itself writes where nothing else may: the pointers of a working tree, and settings that make nothing run.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use super::Shared;
use super::path::{STRAIGHT, Spot, kind};

/// What belongs into the `.git` of a new working tree: where the repository that expects it there has its part. `None` if
/// there is something already, or no repository expects it.
pub(super) fn pointer(shared: &Shared, spot: &Spot) -> Option<Vec<u8>> {
    if kind(&spot.directory, &spot.name).is_some() {
        return None;
    }
    let full = spot.full();
    let repositories: Vec<_> = shared.about.grounds.repositories_around(&full).collect();
    repositories.iter().find_map(|repository| {
        let trees = shared.directory(&repository.join("worktrees")).ok()?;
        let id = expecting(&trees, &full)?;
        let place = repository.join("worktrees").join(OsStr::from_bytes(&id));
        Some([b"gitdir: ", place.as_os_str().as_bytes(), b"\n"].concat())
    })
}

/// Which working tree of a repository is said to be at a path.
fn expecting(trees: &OwnedFd, full: &Path) -> Option<Vec<u8>> {
    let listed =
        rustix::fs::openat(trees, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    for entry in Dir::new(listed.ok()?).ok()?.take(MOST_TREES) {
        let entry = entry.ok()?;
        let id = entry.file_name().to_bytes();
        let said = (!id.starts_with(b".")).then(|| text(trees, &[id, b"/gitdir"].concat()).ok()).flatten();
        if said.is_some_and(|said| said.trim_ascii_end() == full.as_os_str().as_bytes()) {
            return Some(id.to_vec());
        }
    }
    None
}

const MOST_TREES: usize = 1000;
/// Nobody's settings are longer.
const LONGEST: u64 = 1 << 20;

/// The text of a small plain file below a directory.
pub(super) fn text(directory: &OwnedFd, path: &[u8]) -> Result<Vec<u8>, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = rustix::fs::openat2(directory, OsStr::from_bytes(path), flags, Mode::empty(), STRAIGHT)?;
    let found = rustix::fs::fstat(&file)?;
    let plain = rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::RegularFile;
    if !plain || u64::try_from(found.st_size).unwrap_or(u64::MAX) > LONGEST {
        return Err(Errno::PERM);
    }
    let mut text = Vec::new();
    let read = File::from(file).take(LONGEST).read_to_end(&mut text);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(text)
}

/// Whether settings differ from others in nothing that makes git run something: in what branches follow.
pub(super) fn is_harmless(before: &[u8], after: &[u8]) -> bool {
    let (before, after) = (sections(before), sections(after));
    before.is_some() && before == after
}

/// The lines of settings without those about branches; `None` if something about them is not plain.
fn sections(text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut kept = Vec::new();
    let mut of_branch = false;
    for line in text.split(|byte| *byte == b'\n') {
        let plain = line.trim_ascii();
        if plain.first() == Some(&b'[') {
            of_branch = header_of_branch(plain);
        }
        if !of_branch {
            kept.push(line);
        } else if plain.first() != Some(&b'[') && !is_about_following(plain) {
            return None;
        }
    }
    while kept.last().is_some_and(|line| line.is_empty()) {
        kept.pop();
    }
    Some(kept)
}

/// `[branch "name"]` and nothing else on the line.
fn header_of_branch(line: &[u8]) -> bool {
    let name = line.strip_prefix(b"[branch \"").and_then(|rest| rest.strip_suffix(b"\"]"));
    name.is_some_and(|name| !name.iter().any(|byte| matches!(byte, b'"' | b'\\' | b'[' | b']')))
}

/// A key that says what a branch follows, with a plain value on the same line.
fn is_about_following(line: &[u8]) -> bool {
    if line.is_empty() {
        return true;
    }
    let Some(at) = line.iter().position(|byte| *byte == b'=') else { return false };
    let (key, value) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    let known: [&[u8]; 5] = [b"remote", b"merge", b"rebase", b"pushremote", b"description"];
    let plain = !value.iter().any(|byte| matches!(byte, b'\\' | b'"' | b';' | b'#' | b'['));
    plain && known.iter().any(|known| key.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_may_change_in_what_branches_follow_and_in_nothing_else() {
        let plain = "[core]\n\tbare = false\n";
        let follows = "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n";
        let rows = [
            (plain.to_owned(), true),
            (format!("{plain}{follows}"), true),
            (format!("{follows}{plain}"), true),
            (format!("{plain}{follows}\tx = 1\n"), false),
            (format!("{plain}{follows}[core]\n\tfsmonitor = x\n"), false),
            (format!("{plain}[branch \"x\"] remote = a\n"), false),
            (format!("{plain}[branch \"x\"]\n\tremote = a\\\n[core]\n"), false),
            (format!("{plain}[branch \"a\\\"]\n[core \"]\n"), false),
            (format!("{plain}[Branch \"x\"]\n\tremote = o\n"), false),
            ("[core]\n\tbare = true\n".to_owned(), false),
            (String::new(), false),
        ];
        for (after, expected) in rows {
            assert_eq!(is_harmless(plain.as_bytes(), after.as_bytes()), expected, "{after}");
        }
    }
}
