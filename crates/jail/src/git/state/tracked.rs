//! Files of a repository that name files of the working tree: its index, shared indexes, `MERGE_RR`, and the links in `rr-cache`.
//!
//! Git reads and writes the files that they name without a check of its own. Those that have changed are inspected when no process of
//! the command is left, and removed if git would not have written them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use policy::git_settings;
use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags, Stat};
use rustix::io::Errno;

use super::file::{FileIdentity, Finding, SAFE};
use super::walk::{Budget, directory, listed};
use super::{Report, index, tracked_path};

/// Files that name tracked files, and links below `rr-cache`, before the command started.
pub(super) type TrackedSnapshot = BTreeMap<PathBuf, FileIdentity>;

const INDEX: &str = "index";
const SHARED: &[u8] = b"sharedindex.";
const MERGE_RR: &str = "MERGE_RR";
const RR_CACHE: &str = "rr-cache";
/// Largest `MERGE_RR` that is read, in bytes.
const LARGEST_MERGE_RR: u64 = 4 << 20;
/// Largest `config` that is read, in bytes.
const LARGEST_CONFIG: u64 = 4 << 20;
/// Time that the paths of one index may take.
const INDEX_TIME: Duration = Duration::from_secs(5);

/// Remembers the files of a repository.
pub(super) fn capture(
    repository: &OwnedFd,
    path: &Path,
    budget: &mut Budget,
    snapshot: &mut TrackedSnapshot,
) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut add = |at: &OwnedFd, name: &OsStr, path: PathBuf| {
        let stat = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let identity = stat.as_ref().map(FileIdentity::of);
        // A file of this very moment could change again without a change of its time: inspect it in any case.
        let settled = identity.filter(|identity| !identity.is_recent(now));
        snapshot.extend(settled.map(|identity| (path, identity)));
    };
    for name in
        [OsString::from(INDEX), OsString::from(MERGE_RR)].into_iter().chain(shared(repository, budget))
    {
        let path = path.join(&name);
        add(repository, &name, path);
    }
    each_link(repository, path, budget, &mut |at, name, path| add(at, name, path));
}

/// Inspects the files of a repository that have changed. `tree` is its working tree, where that is known.
pub(super) fn remove_new(
    (repository, tree): (&OwnedFd, Option<&OwnedFd>),
    path: &Path,
    before: &TrackedSnapshot,
    budget: &mut Budget,
    report: &mut Report,
) {
    let mut hash = None;
    for name in std::iter::once(OsString::from(INDEX)).chain(shared(repository, budget)) {
        let path_of = path.join(&name);
        let Some(stat) = changed(repository, &name, before.get(&path_of)) else { continue };
        let hash = *hash.get_or_insert_with(|| hash_length(repository));
        if let Some(why) = index_problem(repository, &name, &stat, hash) {
            report.add(path_of, remove_index(repository, &name, &why));
        }
    }
    let name = OsStr::new(MERGE_RR);
    if let Some(why) = merge_rr_problem(repository, tree, before.get(&path.join(name))) {
        report
            .add(path.join(name), remove(repository, name, &why, "git does not remember these resolutions"));
    }
    each_link(repository, path, budget, &mut |at, name, path| {
        if changed(at, name, before.get(&path)).is_some() {
            report
                .add(path, remove(at, name, "a link that git would write through", "git makes a new entry"));
        }
    });
}

/// Returns the state of a file that is not as it was. A directory is the repository of a submodule with that name.
fn changed(at: &OwnedFd, name: &OsStr, before: Option<&FileIdentity>) -> Option<Stat> {
    let stat = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let same = before == Some(&FileIdentity::of(&stat));
    (!same && FileType::from_raw_mode(stat.st_mode) != FileType::Directory).then_some(stat)
}

fn index_problem(at: &OwnedFd, name: &OsStr, stat: &Stat, hash: usize) -> Option<String> {
    match read(at, name, stat, index::LARGEST) {
        Ok(data) => index::problem(&data, hash, Instant::now() + INDEX_TIME),
        Err(why) => Some(why),
    }
}

/// Removes an index. Git cannot use one whose shared index is missing, so that one goes with it.
fn remove_index(repository: &OwnedFd, name: &OsStr, why: &str) -> Finding {
    let effect = "`git reset` rebuilds it, changes that were staged are lost";
    let finding = remove(repository, name, why, effect);
    if name == INDEX || finding.remains {
        return finding;
    }
    match rustix::fs::unlinkat(repository, INDEX, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => finding,
        Err(errno) => {
            Finding { remains: true, reason: format!("{}; the index remains ({errno})", finding.reason) }
        }
    }
}

fn remove(at: &OwnedFd, name: &OsStr, why: &str, effect: &str) -> Finding {
    match rustix::fs::unlinkat(at, name, AtFlags::empty()) {
        Ok(()) => Finding { remains: false, reason: format!("{why}; it is removed: {effect}") },
        Err(errno) => Finding {
            remains: true,
            reason: format!("{why}; it could not be removed ({errno}): remove it before you use git there"),
        },
    }
}

/// Reads a regular file, or says why it is not one that git leaves.
fn read(at: &OwnedFd, name: &OsStr, stat: &Stat, largest: u64) -> Result<Vec<u8>, String> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err("a link".to_owned()),
        _ => return Err("not a regular file".to_owned()),
    }
    let read = || -> io::Result<Vec<u8>> {
        let handle = File::from(rustix::fs::openat(at, name, OFlags::RDONLY | SAFE, Bits::empty())?);
        let mut data = Vec::new();
        handle.take(largest + 1).read_to_end(&mut data)?;
        Ok(data)
    };
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > largest {
        return Err("it is too large to inspect".to_owned());
    }
    let data = read().map_err(|error| format!("it cannot be read ({error})"))?;
    if data.len() as u64 > largest { Err("it is too large to inspect".to_owned()) } else { Ok(data) }
}

/// Returns the length of an object name, from the settings that git takes it from.
fn hash_length(repository: &OwnedFd) -> usize {
    let linked = rustix::fs::statat(repository, "commondir", AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let name = OsStr::new(if linked { "../../config" } else { "config" });
    let stat = rustix::fs::statat(repository, name, AtFlags::SYMLINK_NOFOLLOW);
    let text = stat.ok().and_then(|stat| read(repository, name, &stat, LARGEST_CONFIG).ok());
    let settings = text.and_then(|text| git_settings(&text).ok()).unwrap_or_default();
    let format = settings.iter().rfind(|setting| setting.is("extensions.objectformat"));
    match format.and_then(|setting| setting.value.as_deref()) {
        Some(b"sha256") => 32,
        _ => 20,
    }
}

/// Says why `MERGE_RR` should not be used.
fn merge_rr_problem(
    repository: &OwnedFd,
    tree: Option<&OwnedFd>,
    before: Option<&FileIdentity>,
) -> Option<String> {
    let name = OsStr::new(MERGE_RR);
    let stat = changed(repository, name, None)?;
    let same = before == Some(&FileIdentity::of(&stat));
    let data = match read(repository, name, &stat, LARGEST_MERGE_RR) {
        Ok(data) => data,
        Err(why) => return (!same).then_some(why),
    };
    let Some(paths) = merge_rr_paths(&data) else {
        return (!same).then(|| "git would read or write files that it names elsewhere".to_owned());
    };
    // The file may be the user's, and the link on the way the command's.
    let linked = |tree: &OwnedFd| paths.iter().any(|path| has_link(tree, path));
    match tree {
        Some(tree) => linked(tree).then(|| "git would read or write through a link that it names".to_owned()),
        None if paths.is_empty() || same => None,
        None => Some(
            "git would read or write files that it names, in a working tree that is not known".to_owned(),
        ),
    }
}

/// Returns the paths in `MERGE_RR`; nothing if git would not have written it.
fn merge_rr_paths(data: &[u8]) -> Option<Vec<&[u8]>> {
    if data.is_empty() {
        return Some(Vec::new());
    }
    let path = |record| {
        let tab = <[u8]>::iter(record).position(|byte| *byte == b'\t')?;
        let (id, path) = (&record[..tab], &record[tab + 1..]);
        let hex = id.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let variant = match &id[hex..] {
            [] => true,
            [b'.', digits @ ..] => (1..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        let fits = [40, 64].contains(&hex) && variant && tracked_path::refusal(path, 0).is_none();
        fits.then_some(path)
    };
    data.strip_suffix(b"\0")?.split(|byte| *byte == 0).map(path).collect()
}

/// A component of the path is a link.
fn has_link(tree: &OwnedFd, path: &[u8]) -> bool {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    ends.chain([path.len()]).any(|end| {
        rustix::fs::statat(tree, OsStr::from_bytes(&path[..end]), AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    })
}

/// Names of the shared indexes of a repository.
fn shared(repository: &OwnedFd, budget: &mut Budget) -> Vec<OsString> {
    let entries = entries(repository, budget).into_iter();
    entries.map(|(name, _)| name).filter(|name| name.as_bytes().starts_with(SHARED)).collect()
}

/// Calls for `rr-cache` if it is a link, and for each link in it and in its entries.
fn each_link(
    repository: &OwnedFd,
    path: &Path,
    budget: &mut Budget,
    act: &mut dyn FnMut(&OwnedFd, &OsStr, PathBuf),
) {
    let name = OsStr::new(RR_CACHE);
    let path = path.join(name);
    let Ok(stat) = rustix::fs::statat(repository, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return act(repository, name, path);
    }
    let Ok(cache) = directory(repository, name) else { return };
    for (name, kind) in entries(&cache, budget) {
        let path = path.join(&name);
        match kind {
            FileType::Symlink => act(&cache, &name, path),
            FileType::Directory if !budget.is_spent() => {
                budget.directories = budget.directories.saturating_sub(1);
                let Ok(entry) = directory(&cache, &name) else { continue };
                let links = entries(&entry, budget).into_iter();
                links
                    .filter(|(_, kind)| *kind == FileType::Symlink)
                    .for_each(|(name, _)| act(&entry, &name, path.join(&name)));
            }
            _ => {}
        }
    }
}

/// Lists a directory, as far as the budget goes.
fn entries(at: &OwnedFd, budget: &mut Budget) -> Vec<(OsString, FileType)> {
    let Ok(listed) = listed(at) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in listed {
        let Ok(entry) = entry else { break };
        if budget.entries == 0 {
            break;
        }
        budget.entries -= 1;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let kind = match entry.file_type() {
            FileType::Unknown => rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        if name != "." && name != ".." {
            found.push((name.to_owned(), kind));
        }
    }
    found
}
