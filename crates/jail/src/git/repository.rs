//! Directories in which git keeps what belongs to a working tree, found without running git.
//!
//! **Invariant.** What the working tree says alone opens nothing: a process that can write in it could name the repository of another
//! user. A directory outside is given only if it is a repository that names this working tree itself, or one that names none
//! and belongs to the same owner.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use policy::{GitSetting, Shown, git_settings};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};

/// Directories in which git keeps what belongs to a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repository {
    /// Nowhere: there is no repository.
    None,
    /// In the working tree.
    Inside(PathBuf),
    /// Elsewhere, in a repository that knows the working tree.
    Outside(PathBuf),
    /// The working tree names it, and that is not enough.
    Unclaimed(PathBuf, Unclaimed),
    /// The directory is a part of the working tree of another one.
    Above(PathBuf),
}

/// Why a repository is not given to a working tree that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unclaimed {
    /// There is no repository.
    NotThere,
    /// It is for another working tree, or for none.
    Another,
    /// It says nothing, and is not certainly meant for this one.
    Unsure,
    /// It says nothing, and belongs to another user.
    Owner,
}

/// Finds the repository of a working tree, by the real path of its top.
#[must_use]
pub fn repository(top: &Path) -> Repository {
    let Some(tree) = Directory::open(top) else { return Repository::None };
    match tree.kind(".git") {
        None => return above(top),
        Some(FileType::Directory) => return Repository::Inside(top.join(".git")),
        Some(_) => {}
    }
    git_dir(top).map_or(Repository::None, |target| named(&tree, &target))
}

/// Returns the repository directory that a working tree names as its own. Nothing says that this is true.
pub(crate) fn git_dir(top: &Path) -> Option<PathBuf> {
    let tree = Directory::open(top)?;
    match tree.kind(".git")? {
        FileType::Directory | FileType::Symlink => Some(top.join(".git")),
        FileType::RegularFile => Some(top.join(pointed(&tree.text(".git")?)?)),
        _ => None,
    }
}

impl Repository {
    /// Returns a note for the user about it, with a hint.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Unclaimed(path, why) => {
                let path = Shown::path(path);
                Some(format!("the git repository {path} is not shown: {why}; `--write {path}` shows it"))
            }
            Self::Above(path) => {
                let path = Shown::path(path);
                Some(format!(
                    "git finds nothing inside: the repository is that of {path}, which is above the workspace; `--workspace {path}` shows it"
                ))
            }
            Self::None | Self::Inside(_) | Self::Outside(_) => None,
        }
    }
}

impl fmt::Display for Unclaimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotThere => "there is none",
            Self::Another => "it does not name this workspace as its working tree",
            Self::Unsure => "it names no working tree, and may be meant for another one",
            Self::Owner => "it names no working tree, and belongs to somebody else",
        })
    }
}

/// The path in a file called `.git`.
fn pointed(text: &[u8]) -> Option<&Path> {
    line(text.strip_prefix(b"gitdir: ")?)
}

/// A path that is all of a small text.
fn line(text: &[u8]) -> Option<&Path> {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    let path = &text[..=end];
    (!path.contains(&0)).then(|| Path::new(OsStr::from_bytes(path)))
}

/// A directory above that has a repository.
fn above(top: &Path) -> Repository {
    let found = top.ancestors().skip(1).find(|path| stat(&path.join(".git")).is_some());
    found.map_or(Repository::None, |path| Repository::Above(path.to_owned()))
}

fn named(tree: &Directory, target: &Path) -> Repository {
    let Some(git) = Directory::open(target) else {
        return Repository::Unclaimed(target.to_owned(), Unclaimed::NotThere);
    };
    if git.path.starts_with(&tree.path) {
        return Repository::Inside(git.path);
    }
    let (path, claim) = match git.text("commondir") {
        Some(text) => linked(tree, &git, &text),
        None => (git.path.clone(), separate(tree, &git)),
    };
    match claim {
        Ok(()) => Repository::Outside(path),
        Err(why) => Repository::Unclaimed(path, why),
    }
}

/// One of several working trees: the repository keeps a directory for each, which names its working tree.
fn linked(tree: &Directory, git: &Directory, common: &[u8]) -> (PathBuf, Result<(), Unclaimed>) {
    let common = line(common).and_then(|path| Directory::open(&git.path.join(path)));
    let Some(common) = common else { return (git.path.clone(), Err(Unclaimed::NotThere)) };
    let lies_there = git.path.parent() == Some(&*common.path.join("worktrees"));
    let names_it = || {
        let text = git.text("gitdir")?;
        let pointer = git.path.join(line(&text)?);
        let parent = std::fs::canonicalize(pointer.parent()?).ok()?;
        Some(pointer.file_name()? == ".git" && parent == tree.path)
    };
    let claim = match (common.is_repository(), lies_there && names_it() == Some(true)) {
        (false, _) => Err(Unclaimed::NotThere),
        (true, false) => Err(Unclaimed::Another),
        (true, true) => Ok(()),
    };
    (common.path, claim)
}

/// A repository that was put elsewhere, or that of a submodule.
fn separate(tree: &Directory, git: &Directory) -> Result<(), Unclaimed> {
    if !git.is_repository() {
        return Err(Unclaimed::NotThere);
    }
    let settings = git.settings().ok_or(Unclaimed::Unsure)?;
    let last = |name: &str| settings.iter().rev().find(|setting| setting.is(name));
    if let Some(setting) = last("core.worktree") {
        let path = setting.value.as_deref().and_then(line).map(|path| git.path.join(path));
        let named = path.and_then(|path| std::fs::canonicalize(path).ok());
        return if named.as_deref() == Some(&*tree.path) { Ok(()) } else { Err(Unclaimed::Another) };
    }
    let included = settings.iter().any(|setting| setting.section.starts_with("include"));
    let bare = last("core.bare").is_some_and(GitSetting::is_true);
    // One called `.git` is for the directory around it, and one in a working tree may be a part of it.
    let has_own = git.path.ancestors().any(|path| path.file_name() == Some(OsStr::new(".git")));
    let in_another = git.path.ancestors().skip(1).any(|path| stat(&path.join(".git")).is_some());
    if bare || has_own {
        return Err(Unclaimed::Another);
    }
    if included || in_another {
        return Err(Unclaimed::Unsure);
    }
    if git.owner == tree.owner { Ok(()) } else { Err(Unclaimed::Owner) }
}

/// A directory that is held.
struct Directory {
    path: PathBuf,
    handle: OwnedFd,
    owner: u32,
}

impl Directory {
    /// Opens what a path leads to, and keeps its real path.
    fn open(path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(path).ok()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&path, flags, Mode::empty()).ok()?;
        let owner = rustix::fs::fstat(&handle).ok()?.st_uid;
        Some(Self { path, handle, owner })
    }

    /// Returns the file type of a name in it. Links are not followed.
    fn kind(&self, name: &str) -> Option<FileType> {
        let found = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(found.st_mode))
    }

    fn text(&self, name: &str) -> Option<Vec<u8>> {
        small(&self.handle, Path::new(name))
    }

    /// Returns true if it has the entries that git itself looks for.
    fn is_repository(&self) -> bool {
        let is = |name: &str, kind| self.kind(name) == Some(kind);
        is("objects", FileType::Directory)
            && is("refs", FileType::Directory)
            && (is("HEAD", FileType::RegularFile) || is("HEAD", FileType::Symlink))
    }

    /// Its settings; `None` if they cannot be read.
    fn settings(&self) -> Option<Vec<GitSetting>> {
        let mut settings = git_settings(&self.text("config")?).ok()?;
        let own = settings.iter().rev().find(|setting| setting.is("extensions.worktreeconfig"));
        if own.is_some_and(GitSetting::is_true) && self.kind("config.worktree").is_some() {
            settings.extend(git_settings(&self.text("config.worktree")?).ok()?);
        }
        Some(settings)
    }
}

/// The whole text of a small plain file. Links are not followed, and nothing is waited for.
pub(crate) fn small(directory: &OwnedFd, name: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    whole(rustix::fs::openat(directory, name, flags, Mode::empty()).ok()?)
}

/// The whole text of an open file, if it is small and plain.
pub(crate) fn whole(file: OwnedFd) -> Option<Vec<u8>> {
    let found = rustix::fs::fstat(&file).ok()?;
    let plain = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let length = usize::try_from(found.st_size).ok().filter(|length| plain && *length <= LONGEST)?;
    let mut text = Vec::with_capacity(length + 1);
    let read =
        std::io::Read::read_to_end(&mut std::io::Read::take(std::fs::File::from(file), LIMIT), &mut text);
    read.ok().filter(|_| text.len() <= LONGEST).map(|_| text)
}

/// Maximum length of settings; no real ones are longer.
const LONGEST: usize = 1 << 20;
/// One byte more, to see that there is more.
const LIMIT: u64 = (1 << 20) + 1;

/// Returns the metadata of the entry at a path. Links are not followed.
pub(crate) fn stat(path: &Path) -> Option<Stat> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()
}

#[cfg(test)]
mod tests;
