//! What git has not finished when a command ends: lines that would make the host's git run a program are taken out.
//!
//! A rebase, a series of picks and `git am` keep what is left to do in files of the repository. A command in a jail has to be able to
//! write them, and could leave an `exec` line or the name of a merge strategy there, which the host's `git rebase --continue` would
//! run. So the state is read before the command starts and again when nothing of it lives any more; what runs something and was not
//! there before is commented out or removed. Directories are opened one by one, and links are never followed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use policy::{Ground, Protected, UNFINISHED, UNFINISHED_DEPTH, git_settings};
use rustix::fs::{AtFlags, Dir, FileType, Mode as Bits, OFlags};
use rustix::io::Errno;

use crate::spec::{Mode, Spec};

/// The unfinished states of the repositories that a jail may change, before its command starts.
#[derive(Debug)]
pub struct Unfinished {
    tops: Vec<(PathBuf, Ground)>,
    protected: Protected,
    before: BTreeMap<PathBuf, Vec<Vec<u8>>>,
    /// Directories that could not be looked into.
    unseen: Vec<PathBuf>,
}

/// Something that was taken out of an unfinished state, or could not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOut {
    /// The file.
    pub path: PathBuf,
    /// What it would have made git do, and what became of it.
    pub reason: String,
}

impl Unfinished {
    /// Reads the states.
    #[must_use]
    pub fn remember(spec: &Spec) -> Self {
        let writable = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
        let ground = |path: &PathBuf| {
            if spec.repositories.contains(path) { Ground::Repository } else { Ground::Tree }
        };
        let tops = writable.map(|view| (view.path.clone(), ground(&view.path))).collect();
        let unfinished =
            Self { tops, protected: spec.protected.clone(), before: BTreeMap::new(), unseen: Vec::new() };
        let mut before = BTreeMap::new();
        let unseen = unfinished.each(&mut |state, file, path| {
            if let Ok(Some((_, text))) = open(state, file.name) {
                before.insert(path.to_owned(), running(file, &text));
            }
        });
        Self { before, unseen, ..unfinished }
    }

    /// Takes out what was not there before. Only to be called when nothing in the jail lives any more.
    #[must_use]
    pub fn take_out(&self) -> Vec<TakenOut> {
        let mut taken = Vec::new();
        let unseen = self.each(&mut |state, file, path| {
            let known = self.before.get(path).map(Vec::as_slice).unwrap_or_default();
            taken.extend(look(state, file, known).map(|reason| TakenOut { path: path.to_owned(), reason }));
        });
        let new = unseen.into_iter().filter(|path| !self.unseen.contains(path));
        let reason =
            "it cannot be looked into any more: a rebase in it may run a program when it is continued";
        taken.extend(new.map(|path| TakenOut { path, reason: reason.to_owned() }));
        taken
    }

    /// Calls for every file of every state that is there. A state that is not a directory is called for as a file of the repository.
    /// Says what could not be looked into.
    fn each(&self, call: &mut dyn FnMut(&OwnedFd, &StateFile, &Path)) -> Vec<PathBuf> {
        let mut unseen = Vec::new();
        for (top, ground) in &self.tops {
            let Ok(directory) = directory(rustix::fs::CWD, top.as_os_str()) else { continue };
            let mut repositories = Repositories::default();
            match ground {
                Ground::Repository => repositories.with_linked(directory, top),
                Ground::Tree => repositories.tree(&directory, top, 0),
            }
            for (repository, path) in &repositories.found {
                self.states(repository, path, *ground, call);
            }
            unseen.append(&mut repositories.unseen);
        }
        unseen
    }

    fn states(
        &self,
        repository: &OwnedFd,
        path: &Path,
        ground: Ground,
        call: &mut dyn FnMut(&OwnedFd, &StateFile, &Path),
    ) {
        let row = |name: &str| match ground {
            Ground::Tree => self.protected.unfinished(ground, &Path::new(".git").join(name)),
            Ground::Repository => self.protected.unfinished(ground, Path::new(name)),
        };
        for name in UNFINISHED.iter().filter(|name| row(name).is_some()) {
            let path = path.join(name);
            match directory(repository, OsStr::new(name)) {
                Ok(state) => {
                    let files = FILES.iter().filter(|file| file.state == *name);
                    files.for_each(|file| call(&state, file, &path.join(file.name)));
                }
                Err(Errno::NOENT) => {}
                Err(_) => {
                    let runs = |_: &[u8]| Some("git keeps a directory there");
                    call(repository, &StateFile { state: "", name, mend: Mend::Remove, runs }, &path);
                }
            }
        }
    }
}

/// A file of a state.
struct StateFile {
    state: &'static str,
    name: &'static str,
    mend: Mend,
    /// Lines, or the whole text, that make git run a program.
    runs: fn(&[u8]) -> Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mend {
    /// Each line counts by itself, and is commented out.
    Lines,
    /// The file counts as a whole, and is removed.
    Remove,
}

const FILES: &[StateFile] = &[
    StateFile { state: "rebase-merge", name: "git-rebase-todo", mend: Mend::Lines, runs: line },
    StateFile { state: "rebase-merge", name: "strategy", mend: Mend::Remove, runs: strategy },
    StateFile { state: "rebase-merge", name: "gpg_sign_opt", mend: Mend::Remove, runs: signing },
    StateFile { state: "rebase-apply", name: "apply-opt", mend: Mend::Remove, runs: applying },
    StateFile { state: "rebase-apply", name: "strategy", mend: Mend::Remove, runs: strategy },
    StateFile { state: "rebase-apply", name: "gpg_sign_opt", mend: Mend::Remove, runs: signing },
    StateFile { state: "sequencer", name: "opts", mend: Mend::Remove, runs: options },
];

/// Commands of a todo list that start nothing, but for the user's own editor.
const HARMLESS: &[&str] = &[
    "pick",
    "p",
    "revert",
    "edit",
    "e",
    "reword",
    "r",
    "fixup",
    "f",
    "squash",
    "s",
    "label",
    "l",
    "reset",
    "t",
    "merge",
    "m",
    "update-ref",
    "u",
    "break",
    "b",
    "drop",
    "d",
    "noop",
];
/// Strategies that git brings along. Any other name is the name of a program, and may be a path.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

fn line(line: &[u8]) -> Option<&'static str> {
    let line = line.trim_ascii_start();
    let end = line.iter().position(|byte| byte.is_ascii_whitespace() || *byte == 0).unwrap_or(line.len());
    // What begins with a sign is a comment, or an error.
    let word = line[..end].first().is_some_and(u8::is_ascii_alphanumeric);
    let harmless = HARMLESS.iter().any(|known| known.as_bytes() == &line[..end]);
    (word && !harmless).then_some("git runs this line when the rebase is continued")
}

fn strategy(text: &[u8]) -> Option<&'static str> {
    let known = STRATEGIES.iter().any(|known| known.as_bytes() == text.trim_ascii());
    (!known && !text.trim_ascii().is_empty()).then_some("git runs the merge strategy that it names")
}

fn signing(text: &[u8]) -> Option<&'static str> {
    // Without a key it is the user's own choice of one.
    let own = matches!(text.trim_ascii(), b"" | b"-S");
    (!own).then_some("git signs with the key that it names")
}

fn applying(text: &[u8]) -> Option<&'static str> {
    const KNOWN: &[&[u8]] = &[
        b"-C",
        b"-p",
        b"--whitespace=",
        b"--ignore-space-change",
        b"--ignore-whitespace",
        b"--directory=",
        b"--exclude=",
        b"--include=",
        b"--reject",
    ];
    let words = text.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty());
    let harmless = |word: &[u8]| {
        let word = word.strip_prefix(b"'").unwrap_or(word);
        KNOWN.iter().any(|known| word.starts_with(known))
    };
    words.any(|word| !harmless(word)).then_some("git applies patches with options that no patch needs")
}

fn options(text: &[u8]) -> Option<&'static str> {
    let Ok(settings) = git_settings(text) else { return Some("nobody can tell which options it has") };
    settings.iter().find_map(|setting| {
        let value = setting.value.as_deref().unwrap_or_default();
        match (setting.is("options.strategy"), setting.is("options.gpg-sign")) {
            (true, _) => strategy(value),
            (_, true) => signing(value),
            _ => None,
        }
    })
}

/// What of a text makes git run a program.
fn running(file: &StateFile, text: &[u8]) -> Vec<Vec<u8>> {
    let parts: Vec<_> = match file.mend {
        Mend::Lines => text.split(|byte| *byte == b'\n').collect(),
        Mend::Remove => vec![text],
    };
    parts.into_iter().filter(|part| (file.runs)(part).is_some()).map(<[u8]>::to_vec).collect()
}

/// Looks at a file and takes out what runs something and is not known; says why.
fn look(state: &OwnedFd, file: &StateFile, known: &[Vec<u8>]) -> Option<String> {
    let (mut handle, text) = match open(state, file.name) {
        Ok(None) => return None,
        Ok(Some(found)) => found,
        // A link, a pipe, or too long: nothing that git would leave there.
        Err(_) => return Some(removed(state, file, "it is no plain file")),
    };
    let mut known = known.to_vec();
    let mut fresh = |part: &[u8]| {
        let why = (file.runs)(part)?;
        let at = known.iter().position(|known| known == part);
        at.map(|at| known.swap_remove(at)).is_none().then_some(why)
    };
    if file.mend == Mend::Remove {
        return fresh(&text).map(|why| removed(state, file, why));
    }
    let lines: Vec<_> = text.split(|byte| *byte == b'\n').map(|line| (line, fresh(line))).collect();
    let (first, why) = lines.iter().find_map(|(line, why)| Some((*line, (*why)?)))?;
    let first = String::from_utf8_lossy(first).into_owned();
    let new: Vec<_> = lines
        .iter()
        .map(|(line, why)| if why.is_some() { [COMMENT, line].concat() } else { line.to_vec() })
        .collect();
    let became = match rewrite(&mut handle, &new.join(&b'\n')) {
        Ok(()) => "it is commented out".to_owned(),
        Err(error) => format!("it could not be commented out ({error}): look before you continue"),
    };
    Some(format!("{why}: `{first}`; {became}"))
}

const COMMENT: &[u8] = b"# taken out by ringfence: ";

fn removed(state: &OwnedFd, file: &StateFile, why: &str) -> String {
    match rustix::fs::unlinkat(state, file.name, AtFlags::empty()) {
        Ok(()) => format!("{why}; it is removed"),
        Err(errno) => format!("{why}; it could not be removed ({errno}): look before you continue"),
    }
}

fn rewrite(file: &mut std::fs::File, text: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text)
}

/// A plain file and its text; nothing if there is none.
fn open(state: &OwnedFd, name: &str) -> io::Result<Option<(std::fs::File, Vec<u8>)>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = match rustix::fs::openat(state, name, flags, Bits::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    let found = rustix::fs::fstat(&handle)?;
    let plain = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let mut file = std::fs::File::from(handle);
    let mut text = Vec::new();
    if !plain || io::Read::by_ref(&mut file).take(LONGEST + 1).read_to_end(&mut text)? as u64 > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some((file, text)))
}

/// Nobody's todo list is longer.
const LONGEST: u64 = 16 << 20;

fn directory(at: impl std::os::fd::AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Bits::empty())
}

/// Repositories and the parts of them that have states of their own, each by its handle.
#[derive(Default)]
struct Repositories {
    found: Vec<(OwnedFd, PathBuf)>,
    unseen: Vec<PathBuf>,
}

impl Repositories {
    /// Those in a tree, as deep as a command may leave something unfinished.
    fn tree(&mut self, tree: &OwnedFd, path: &Path, depth: usize) {
        if let Some(repository) = self.inside(tree, path, OsStr::new(".git")) {
            self.with_linked(repository, &path.join(".git"));
        }
        if depth == UNFINISHED_DEPTH {
            return;
        }
        for name in directories(tree) {
            let exempt = Protected::is_exempt(Ground::Tree, Path::new(&name));
            if let Some(below) = (!exempt).then(|| self.inside(tree, path, &name)).flatten() {
                self.tree(&below, &path.join(&name), depth + 1);
            }
        }
    }

    /// A repository with its working trees and submodules.
    fn with_linked(&mut self, repository: OwnedFd, path: &Path) {
        if let Some(trees) = self.inside(&repository, path, OsStr::new("worktrees")) {
            let path = path.join("worktrees");
            for name in directories(&trees) {
                let tree = self.inside(&trees, &path, &name);
                self.found.extend(tree.map(|tree| (tree, path.join(name))));
            }
        }
        if let Some(modules) = self.inside(&repository, path, OsStr::new("modules")) {
            self.modules(modules, &path.join("modules"));
        }
        self.found.push((repository, path.to_owned()));
    }

    /// Repositories of submodules have names of several parts, so every directory could be one.
    fn modules(&mut self, module: OwnedFd, path: &Path) {
        let whole = rustix::fs::statat(&module, "HEAD", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        for name in directories(&module) {
            let inner = whole && ["objects", "refs", "logs", "lfs"].iter().any(|inner| name == *inner);
            if let Some(below) = (!inner).then(|| self.inside(&module, path, &name)).flatten() {
                self.modules(below, &path.join(&name));
            }
        }
        self.found.push((module, path.to_owned()));
    }

    /// A directory in a directory, if there is one.
    fn inside(&mut self, above: &OwnedFd, path: &Path, name: &OsStr) -> Option<OwnedFd> {
        let found = directory(above, name);
        if found.as_ref().is_err_and(|errno| ![Errno::NOENT, Errno::NOTDIR, Errno::LOOP].contains(errno)) {
            self.unseen.push(path.join(name));
        }
        found.ok()
    }
}

/// The directories in a directory.
fn directories(of: &OwnedFd) -> Vec<OsString> {
    let entries = Dir::read_from(of).into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter(|entry| [FileType::Directory, FileType::Unknown].contains(&entry.file_type()));
    let names = found.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    names.filter(|name| name != "." && name != "..").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_a_program_is_known() {
        let rows: &[(&str, &str, bool)] = &[
            ("git-rebase-todo", "exec make", true),
            ("git-rebase-todo", " \tx make", true),
            ("git-rebase-todo", "x", true),
            ("git-rebase-todo", "exec\rmake", true),
            ("git-rebase-todo", "launch make", true),
            ("git-rebase-todo", "pick 1234 exec make", false),
            ("git-rebase-todo", "# exec make", false),
            ("git-rebase-todo", "; exec make", false),
            ("git-rebase-todo", "", false),
            ("git-rebase-todo", "merge -C 1234 side # Merge", false),
            ("git-rebase-todo", "update-ref refs/heads/x", false),
            ("strategy", "ort\n", false),
            ("strategy", "x/../evil", true),
            ("strategy", "ORT", true),
            ("gpg_sign_opt", "-S\n", false),
            ("gpg_sign_opt", "-Skey", true),
            ("apply-opt", "", false),
            ("apply-opt", " '-p2' '--whitespace=fix'\n", false),
            ("apply-opt", " '--build-fake-ancestor=/x'", true),
            ("apply-opt", " '--bu=/x'", true),
            ("opts", "[options]\n\tedit = true\n\tstrategy = ort\n", false),
            ("opts", "[options]\n\tstrategy = evil\n", true),
            ("opts", "[OPTIONS]\n\tSTRATEGY = evil\n", true),
            ("opts", "[options]\n\tgpg-sign = key\n", true),
            ("opts", "[options", true),
        ];
        for (name, text, runs) in rows {
            let file = FILES.iter().find(|file| file.name == *name).unwrap();
            assert_eq!(!running(file, text.as_bytes()).is_empty(), *runs, "{name}: {text:?}");
        }
    }

    #[test]
    fn every_state_has_a_file_that_is_looked_at() {
        for name in UNFINISHED {
            assert!(FILES.iter().any(|file| file.state == *name), "{name}");
        }
    }
}
