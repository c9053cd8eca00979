//! Protected names that exist already, as far as they lie at the top of what can be changed.
//!
//! They are mounted read-only where there are mounts: a second wall beside the notify supervisor, and what keeps them from being
//! removed. In a working tree of git only the names of the repository are: git replaces the others when it changes branches. Nothing is walked, so that a launch costs the same in a large tree as in a small one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use policy::{Act, GitSetting, Ground, Protected, Verdict, git_settings};
use rustix::fs::{FileType, Mode as Bits, OFlags};
use rustix::io::Errno;

use crate::git::repository::{stat, whole};
use crate::plan::{Conflict, Unreadable};
use crate::spec::{Mode, Spec};

/// Returns the protected names that exist at the top of every view that can be changed, and in the repositories there.
///
/// Paths with a view of their own are left out: the spec says how they are seen.
pub(crate) fn kept(spec: &Spec, beside: Beside) -> Vec<PathBuf> {
    let mut found = Found { spec, beside, paths: BTreeSet::new() };
    for view in spec.views.iter().filter(|view| view.mode == Mode::ReadWrite) {
        if spec.repositories.contains(&view.path) {
            found.repository(&view.path, &spec.workspace);
        } else {
            found.tree(&view.path);
        }
    }
    let mut paths: Vec<_> = found.paths.into_iter().collect();
    // A path inside another one is kept with it, unless something between the two can be changed.
    paths.dedup_by(|path, before| {
        path.starts_with(&*before) && spec.views.iter().all(|view| !view.path.starts_with(&*before))
    });
    paths
}

/// The paths that the settings of the repositories there name, whether something is there or the jail could make it: git would run or
/// read it.
#[cfg(target_os = "linux")]
pub(crate) fn named_by_settings(spec: &Spec) -> Vec<PathBuf> {
    let views = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
    let named = views.flat_map(|view| {
        let git = view.path.join(".git");
        let own = spec.repositories.contains(&view.path);
        if own { named(&view.path, &spec.workspace) } else { named(&git, &view.path) }
    });
    let real = named
        .take(MOST_NAMED)
        .filter_map(|path| std::fs::canonicalize(&path).ok().or_else(|| missing(&path)));
    // Nothing takes the whole workspace away.
    let below = |path: &PathBuf| spec.views.iter().all(|view| !view.path.starts_with(path));
    real.filter(|path| below(path) && spec.mode_at(path) == Some(Mode::ReadWrite)).collect()
}

/// The real path of something that is not there, if it has one.
#[cfg(target_os = "linux")]
fn missing(path: &Path) -> Option<PathBuf> {
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let (real, above) =
        path.ancestors().find_map(|above| Some((std::fs::canonicalize(above).ok()?, above)))?;
    let rest = path.strip_prefix(above).ok()?;
    let plain = rest.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    plain.then(|| real.join(rest))
}

/// Other mechanism that protects names, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The notify supervisor does. Git replaces files in a working tree, and removes them first: nothing can be mounted on them.
    Supervisor,
    /// Nothing does.
    Nothing,
}

struct Found<'a> {
    spec: &'a Spec,
    beside: Beside,
    paths: BTreeSet<PathBuf>,
}

impl Found<'_> {
    fn tree(&mut self, top: &Path) {
        let git = top.join(".git");
        let kind = stat(&git).map(|found| FileType::from_raw_mode(found.st_mode));
        if kind.is_none() || self.beside == Beside::Nothing {
            for name in names(top, &self.spec.protected) {
                self.add(top.join(name));
            }
        }
        match kind {
            Some(FileType::Directory) => self.repository(&git, top),
            Some(FileType::RegularFile) => self.add(git),
            _ => {}
        }
    }

    /// The names of a repository, and what its settings name. Its own settings stay as they are: git changes them itself, and whether
    /// it may is looked at line by line.
    fn repository(&mut self, git: &Path, tree: &Path) {
        let names: Vec<_> = self.spec.protected.in_repository().collect();
        for name in names {
            self.add(git.join(name));
        }
        if self.beside == Beside::Nothing {
            let by_settings = named(git, tree).into_iter().take(MOST_NAMED);
            by_settings.filter_map(|path| std::fs::canonicalize(path).ok()).for_each(|path| self.add(path));
        }
    }

    /// Adds what is at a path, or what a link there leads to, if the jail could change it.
    fn add(&mut self, path: PathBuf) {
        let Some(found) = stat(&path) else { return };
        let path = match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile | FileType::Directory => path,
            // A link cannot be mounted on.
            FileType::Symlink => match std::fs::canonicalize(&path) {
                Ok(real) if real.is_file() || real.is_dir() => real,
                _ => return,
            },
            _ => return,
        };
        let has_view = self.spec.views.iter().any(|view| view.path.starts_with(&path));
        if !has_view && self.spec.mode_at(&path) == Some(Mode::ReadWrite) {
            self.paths.insert(path);
        }
    }
}

/// The protected names at the top of a tree, from one look at it. In a large one, only those that are written as in the table.
fn names(top: &Path, protected: &Protected) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(top) else { return Vec::new() };
    let entries: Vec<_> =
        entries.take(MOST_ENTRIES).filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    if entries.len() == MOST_ENTRIES {
        return protected.in_tree().map(|row| PathBuf::from(row.name)).collect();
    }
    let mut names = Vec::new();
    for entry in entries.iter().filter(|entry| *entry != ".git") {
        let judged = |act| protected.judge(Ground::Tree, Path::new(entry), act);
        match (judged(Act::File), judged(Act::Placed)) {
            (Verdict::Kept(_), _) => names.push(PathBuf::from(entry)),
            (_, Verdict::Kept(_)) => names.extend(below(entry, protected)),
            _ => {}
        }
    }
    names
}

/// The rest of the names that begin with a directory which is not protected itself.
fn below(entry: &OsStr, protected: &Protected) -> impl Iterator<Item = PathBuf> {
    protected.in_tree().filter_map(move |row| {
        let (first, rest) = row.name.split_once('/')?;
        first.as_bytes().eq_ignore_ascii_case(entry.as_bytes()).then(|| Path::new(entry).join(rest))
    })
}

/// Refuses settings of the repositories there that cannot be read: what they name would not be closed. A command could have taken
/// the permission away, to find that open in a later run.
pub(crate) fn check_settings(spec: &Spec) -> Result<(), Conflict> {
    let writable = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
    for view in writable {
        let own = spec.repositories.contains(&view.path);
        let git = if own { view.path.clone() } else { view.path.join(".git") };
        for (file, settings) in read_settings(&git) {
            // Settings that the jail cannot change have not changed.
            if let Err(why) = settings
                && spec.mode_at(&file) == Some(Mode::ReadWrite)
            {
                return Err(Conflict::Settings(file, why));
            }
        }
    }
    Ok(())
}

/// The paths that the settings of a repository name, as far as git would run or read what lies there.
fn named(git: &Path, tree: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (file, settings) in read_settings(git) {
        for setting in settings.unwrap_or_default() {
            let Some(value) = setting.value.as_deref() else { continue };
            if let Some(path) = included(&file, &setting) {
                paths.push(path);
            } else if setting.is("core.hookspath") || setting.is("core.attributesfile") {
                paths.push(tree.join(OsStr::from_bytes(value)));
            } else if setting.is_command() {
                let meant = |word: &PathBuf| is_path(word) || tree.join(word).is_file();
                paths.extend(words(value).filter(meant).map(|word| tree.join(word)));
            }
        }
    }
    paths
}

/// The files with settings of a repository, and those that they include.
fn read_settings(git: &Path) -> Vec<(PathBuf, Result<Vec<GitSetting>, Unreadable>)> {
    let (mut read, mut files) = (Vec::new(), vec![(git.join("config"), 0), (git.join("config.worktree"), 0)]);
    while let Some((file, depth)) = files.pop() {
        let found = settings(&file);
        for path in found.iter().flatten().filter_map(|setting| included(&file, setting)) {
            files.extend((depth == 0 && files.len() < MOST_INCLUDED).then_some((path, 1)));
        }
        read.push((file, found));
    }
    read
}

/// The file that a setting includes.
fn included(file: &Path, setting: &GitSetting) -> Option<PathBuf> {
    let includes = setting.is("include.path") || setting.is("includeif.*.path");
    let value = setting.value.as_deref().filter(|_| includes)?;
    Some(file.with_file_name(OsStr::from_bytes(value)))
}

/// The settings of a file; none if there is no file.
fn settings(file: &Path) -> Result<Vec<GitSetting>, Unreadable> {
    let errno = |error: &std::io::Error| Errno::from_io_error(error).unwrap_or(Errno::IO);
    // Git follows links there.
    let real = match std::fs::canonicalize(file).map_err(|error| errno(&error)) {
        Ok(real) => real,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Vec::new()),
        Err(errno) => return Err(Unreadable::Closed(errno.into())),
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(&real, flags, Bits::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(errno) => return Err(Unreadable::Closed(errno.into())),
    };
    let text = whole(opened).ok_or(Unreadable::NotSmall)?;
    git_settings(&text).map_err(Unreadable::NotSettings)
}

/// The words of a command, without regard to what quotes mean: each could be a path.
fn words(value: &[u8]) -> impl Iterator<Item = PathBuf> {
    let between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'!;&|()<>=`$".contains(byte);
    let words = value.split(between).filter(|word| !word.is_empty() && word.len() < 4096);
    words.take(MOST_NAMED).map(|word| std::ffi::OsString::from_vec(word.to_vec()).into())
}

/// Returns true if a word of a command can only be a path: a shell looks for others in `PATH`.
fn is_path(word: &Path) -> bool {
    word.as_os_str().as_bytes().contains(&b'/')
}

/// Maximum number of paths that settings may name; no real settings name more.
const MOST_NAMED: usize = 64;
const MOST_INCLUDED: usize = 16;
/// A directory with more is not looked through.
const MOST_ENTRIES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::View;
    use policy::Limits;
    use std::fs;

    /// Returns the kept paths of a tree of these files, where `->` makes a link.
    fn kept_of(files: &[(&str, &str)], views: &[(&str, Mode)]) -> String {
        found(files, views, |spec| kept(spec, Beside::Supervisor))
    }

    /// Returns the paths that the settings of the workspace's repository name.
    fn named_of(files: &[(&str, &str)]) -> String {
        let sorted = |spec: &Spec| {
            let mut named = named_by_settings(spec);
            named.sort();
            named.dedup();
            named
        };
        found(files, &[], sorted)
    }

    fn found(
        files: &[(&str, &str)],
        views: &[(&str, Mode)],
        look: impl FnOnce(&Spec) -> Vec<PathBuf>,
    ) -> String {
        let stage = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(stage.path()).unwrap();
        for (path, text) in files {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("->") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => fs::write(path, text).unwrap(),
            }
        }
        let mut spec = Spec::for_workspace(&top.join("ws"), Path::new("/home/me"), Limits::none());
        spec.views.extend(views.iter().map(|(path, mode)| View { path: top.join(path), mode: *mode }));
        if views.iter().any(|(path, _)| *path == "git") {
            spec.repositories.push(top.join("git"));
        }
        let shown = |path: PathBuf| path.strip_prefix(&top).unwrap().display().to_string();
        look(&spec).into_iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_at_the_top_are_kept() {
        let files = [
            ("ws/.ENVRC", ""),
            ("ws/.vscode/a", ""),
            ("ws/.cargo/config.toml", ""),
            ("ws/.cargo/x", ""),
            ("ws/.github/workflows/a.yml", ""),
            ("ws/.yarnrc.yml", ""),
            ("ws/src/.envrc", ""),
            ("ws/Makefile", ""),
        ];
        assert_eq!(
            kept_of(&files, &[]),
            "ws/.ENVRC ws/.cargo/config.toml ws/.github/workflows ws/.vscode ws/.yarnrc.yml"
        );
        let views = [("ws/.vscode", Mode::ReadWrite), ("ws/.github/workflows/a.yml", Mode::ReadWrite)];
        assert_eq!(kept_of(&files, &views), "ws/.ENVRC ws/.cargo/config.toml ws/.yarnrc.yml");
    }

    #[test]
    fn what_a_link_leads_to_is_kept_in_its_place() {
        let files = [
            ("ws/env", ""),
            ("ws/.envrc", "->env"),
            ("ws/.vscode", "->/etc"),
            ("ws/.idea", "->nowhere"),
            ("ws/.npmrc", "->../other"),
            ("other", ""),
        ];
        assert_eq!(kept_of(&files, &[]), "ws/env");
    }

    #[test]
    fn names_of_repositories_are_kept() {
        let files = [
            ("ws/.envrc", ""),
            ("ws/.git/hooks/a", ""),
            ("ws/.git/config", ""),
            ("ws/.git/info/attributes", ""),
            ("ws/.git/info/exclude", ""),
            ("ws/.git/modules/a/config", ""),
            ("ws/.git/HEAD", ""),
        ];
        assert_eq!(kept_of(&files, &[]), "ws/.git/hooks ws/.git/info/attributes");
        let kept_alone = found(&files, &[], |spec| kept(spec, Beside::Nothing));
        assert_eq!(kept_alone, "ws/.envrc ws/.git/hooks ws/.git/info/attributes");
        let files =
            [("ws/.git", "gitdir: ../git"), ("git/hooks/a", ""), ("git/config", ""), ("git/HEAD", "")];
        assert_eq!(kept_of(&files, &[("git", Mode::ReadWrite)]), "git/hooks ws/.git");
    }

    #[test]
    fn what_the_settings_name_is_kept() {
        let config = "[core]\nhooksPath = tools/hooks\nfsmonitor = ./tools/watch -v\neditor = vi\n\
            [filter \"x\"]\nclean = \"python tools/clean.py %f\"\n[alias]\na = log tools/no\nb = !sh tools/b\n\
            [include]\npath = ../tools/more\npath = /etc/passwd\n[merge \"m\"]\ndriver = src %A\n";
        let files = [
            ("ws/.git/config", config),
            ("ws/tools/hooks/x", ""),
            ("ws/tools/watch", ""),
            ("ws/tools/clean.py", ""),
            ("ws/tools/no", ""),
            ("ws/tools/b", ""),
            ("ws/tools/more", "[diff \"d\"]\ntextconv = tools/deep\n[include]\npath = again\n"),
            ("ws/tools/again", "[diff \"d\"]\ntextconv = tools/deeper\n"),
            ("ws/tools/deep", ""),
            ("ws/tools/deeper", ""),
            ("ws/src/main.rs", ""),
        ];
        let kept_alone = found(&files, &[], |spec| kept(spec, Beside::Nothing));
        assert_eq!(kept_alone, named_of(&files));
        assert_eq!(
            named_of(&files),
            "ws/tools/again ws/tools/b ws/tools/clean.py ws/tools/deep ws/tools/hooks ws/tools/more ws/tools/watch"
        );
        // Nothing takes the whole workspace away.
        let files = [("ws/.git/config", "[core]\nhooksPath = .\nattributesFile = ../ws\n"), ("ws/a", "")];
        assert_eq!(named_of(&files), "");
    }

    /// A command could take the permission away, so that what the settings name is open in a later run.
    #[test]
    fn settings_that_cannot_be_read_are_refused() {
        type Change<'a> = &'a dyn Fn(&Path);
        use std::os::unix::fs::PermissionsExt as _;
        let hooks = "[core]\nhooksPath = tools\n";
        let include = "[include]\npath = ../more\npath = ../missing\n";
        let chmod = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let rows: &[(&str, Change<'_>, Option<&str>)] = &[
            ("as they are", &|_| {}, None),
            ("none", &|ws| fs::remove_file(ws.join(".git/config")).unwrap(), None),
            ("no repository", &|ws| fs::remove_dir_all(ws.join(".git")).unwrap(), None),
            ("not listed", &|ws| chmod(&ws.join(".git"), 0o311), None),
            ("closed", &|ws| chmod(&ws.join(".git/config"), 0), Some("chmod u+r")),
            ("in a closed directory", &|ws| chmod(&ws.join(".git"), 0), Some("chmod u+r")),
            ("included and closed", &|ws| chmod(&ws.join("more"), 0), Some("chmod u+r")),
            ("no settings", &|ws| fs::write(ws.join(".git/config"), "[core").unwrap(), Some("git config")),
            (
                "too long",
                &|ws| fs::write(ws.join(".git/config"), "#".repeat(2 << 20)).unwrap(),
                Some("git config"),
            ),
            (
                "a directory",
                &|ws| fs::create_dir(ws.join(".git/config.worktree")).unwrap(),
                Some("git config"),
            ),
        ];
        for (what, change, expected) in rows {
            let stage = tempfile::tempdir().unwrap();
            let top = fs::canonicalize(stage.path()).unwrap();
            fs::create_dir_all(top.join("ws/.git")).unwrap();
            fs::write(top.join("ws/.git/config"), format!("{hooks}{include}")).unwrap();
            fs::write(top.join("ws/more"), hooks).unwrap();
            change(&top.join("ws"));
            let spec = Spec::for_workspace(&top.join("ws"), Path::new("/home/me"), Limits::none());
            let checked = check_settings(&spec);
            if top.join("ws/.git").exists() {
                chmod(&top.join("ws/.git"), 0o755);
            }
            // Root can read closed files.
            let root = rustix::process::geteuid().is_root();
            let expected = expected.filter(|hint| !root || !hint.starts_with("chmod"));
            let hint = checked.err().map(|conflict| conflict.hint());
            let as_expected = match (&hint, expected) {
                (None, None) => true,
                (Some(hint), Some(expected)) => hint.contains(expected),
                _ => false,
            };
            assert!(as_expected, "{what}: {hint:?}");
        }
    }
}
