//! The state of protected names and repositories before a command starts, as far as a short look shows it.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use policy::{Act, Ground, Protected, ProtectedName, Verdict, is_repository};
use rustix::fs::OFlags;

/// State before a command started.
#[derive(Default)]
pub(super) struct Before {
    /// Protected names at the top.
    names: HashMap<PathBuf, Name>,
    /// Tops whose names are all known.
    listed: Vec<PathBuf>,
    /// Directories of repositories without a working tree and of submodules, by their inodes.
    repositories: HashMap<PathBuf, u64>,
}

/// A protected name that was there.
struct Name {
    state: State,
    row: Option<&'static ProtectedName>,
    /// Its lines, if it is a small file.
    lines: Option<usize>,
}

/// Which object it is, and when it changed last.
type State = (u64, i64, i64);

fn state(found: &fs::Metadata) -> State {
    (found.ino(), found.ctime(), found.ctime_nsec())
}

/// Change of a protected name while a command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there before. Its lines, if it is a small file.
    Created(Option<usize>),
    /// It was there with other content. Its lines before and now, if it was and is a small file.
    Changed(Option<(usize, usize)>),
    /// It is gone.
    Removed,
    /// It was written; what was there before is not known.
    Written,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |count: usize| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        match *self {
            Self::Created(None) => f.write_str("created"),
            Self::Created(Some(now)) => write!(f, "created, {}", lines(now)),
            Self::Changed(None) => f.write_str("changed"),
            Self::Changed(Some((before, now))) if before == now => {
                write!(f, "changed, {} as before", lines(now))
            }
            Self::Changed(Some((before, now))) => {
                write!(f, "changed, {} before and {now} now", lines(before))
            }
            Self::Removed => f.write_str("removed"),
            Self::Written => f.write_str("written"),
        }
    }
}

impl Before {
    /// Looks at the tops of what a command may change.
    pub(super) fn look(tops: &[(PathBuf, Ground)]) -> Self {
        let mut before = Self::default();
        for (top, ground) in tops {
            let names = before.top(top, *ground);
            let mut look = Look { found: &mut before.repositories, left: MOST_DIRECTORIES };
            match ground {
                Ground::Repository => look.modules(&top.join("modules"), 0),
                Ground::Tree => {
                    look.modules(&top.join(".git/modules"), 0);
                    look.tree(top, &names);
                }
            }
        }
        before
    }

    /// Remembers the protected names right at a top, and returns its directories.
    fn top(&mut self, top: &Path, ground: Ground) -> Vec<PathBuf> {
        let entries: Vec<_> =
            fs::read_dir(top).into_iter().flatten().take(MOST_ENTRIES).filter_map(Result::ok).collect();
        if entries.len() < MOST_ENTRIES {
            self.listed.push(top.to_owned());
        }
        let mut directories = Vec::new();
        for entry in entries {
            let verdict = Protected::all().judge(ground, Path::new(&entry.file_name()), Act::File);
            let path = entry.path();
            if verdict != Verdict::Free {
                let row = if let Verdict::Kept(row) = verdict { Some(row) } else { None };
                let found = path.symlink_metadata().ok();
                let name = found.map(|found| Name { state: state(&found), row, lines: lines(&path) });
                self.names.extend(name.map(|name| (path, name)));
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(path);
            }
        }
        directories
    }

    /// Returns true if a name is still the object that it was, and unchanged.
    pub(super) fn is_unchanged(&self, path: &Path, found: &fs::Metadata) -> bool {
        self.names.get(path).is_some_and(|name| name.state == state(found))
    }

    /// Returns true if a directory was one of a repository, and is still the same directory.
    pub(super) fn was_repository(&self, path: &Path) -> bool {
        let known = self.repositories.get(path);
        known.is_some_and(|inode| path.symlink_metadata().is_ok_and(|found| found.ino() == *inode))
    }

    /// Returns the change of a name.
    pub(super) fn change(&self, path: &Path) -> Change {
        let listed = path.parent().is_some_and(|parent| self.listed.iter().any(|top| top == parent));
        match (self.names.get(path), path.symlink_metadata()) {
            (_, Err(_)) => Change::Removed,
            (Some(before), Ok(_)) => Change::Changed(before.lines.zip(lines(path))),
            (None, Ok(_)) if listed => Change::Created(lines(path)),
            (None, Ok(_)) => Change::Written,
        }
    }

    /// The names that are gone.
    pub(super) fn removed(&self) -> Vec<(PathBuf, &'static ProtectedName)> {
        let gone = |path: &Path| {
            path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        let named = self.names.iter().filter_map(|(path, name)| Some((path, name.row?)));
        let mut removed: Vec<_> =
            named.filter(|(path, _)| gone(path)).map(|(path, row)| (path.clone(), row)).collect();
        removed.sort_by(|a, b| a.0.cmp(&b.0));
        removed
    }
}

/// A look for repositories that do not say by their name that they are some.
struct Look<'a> {
    found: &'a mut HashMap<PathBuf, u64>,
    /// Directories that are still read.
    left: usize,
}

impl Look<'_> {
    /// Two levels below the top of a tree.
    fn tree(&mut self, top: &Path, directories: &[PathBuf]) {
        for directory in directories.iter().take(MOST_ENTRIES) {
            let below = directory.strip_prefix(top).unwrap_or(directory);
            if self.repository(directory) || Protected::is_exempt(Ground::Tree, below) {
                continue;
            }
            for inner in self.directories(directory) {
                self.repository(&inner);
            }
        }
    }

    /// Repositories of submodules have names of several parts.
    fn modules(&mut self, directory: &Path, depth: usize) {
        for inner in self.directories(directory) {
            if !self.repository(&inner) && depth < MOST_PARTS {
                self.modules(&inner, depth + 1);
            } else {
                self.modules(&inner.join("modules"), depth + 1);
            }
        }
    }

    /// Returns true if a directory is one of a repository; then it is remembered.
    fn repository(&mut self, path: &Path) -> bool {
        let is = is_repository(|name| path.join(name).symlink_metadata().is_ok());
        let found = if is { path.symlink_metadata().ok() } else { None };
        self.found.extend(found.map(|found| (path.to_owned(), found.ino())));
        is
    }

    fn directories(&mut self, path: &Path) -> Vec<PathBuf> {
        if self.left == 0 {
            return Vec::new();
        }
        let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
        self.left -= 1;
        let entries = entries.take(MOST_ENTRIES).filter_map(Result::ok);
        entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect()
    }
}

/// The lines of a small plain file. Nothing is followed or waited for.
fn lines(path: &Path) -> Option<usize> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty()).ok()?);
    let small = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let mut text = Vec::new();
    (small && file.take(LONGEST).read_to_end(&mut text).is_ok()).then(|| {
        let whole = text.split_inclusive(|byte| *byte == b'\n');
        whole.count()
    })
}

const MOST_ENTRIES: usize = 4096;
const MOST_DIRECTORIES: usize = 100;
const MOST_PARTS: usize = 8;
const LONGEST: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_names_at_the_top_are_known_with_their_lines() {
        let stage = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(stage.path()).unwrap();
        for (name, text) in [("CLAUDE.md", "a\nb\n"), ("AGENTS.md", "a"), ("GEMINI.md", "")] {
            fs::write(top.join(name), text).unwrap();
        }
        let before = Before::look(&[(top.clone(), Ground::Tree)]);
        fs::write(top.join("CLAUDE.md"), "a\nb\nc\n").unwrap();
        fs::write(top.join("AGENTS.md"), "b\n").unwrap();
        fs::remove_file(top.join("GEMINI.md")).unwrap();
        fs::write(top.join(".cursorrules"), "a\n").unwrap();
        fs::create_dir(top.join("deep")).unwrap();
        fs::write(top.join("deep/CLAUDE.md"), "a\n").unwrap();
        let rows = [
            ("CLAUDE.md", "changed, 2 lines before and 3 now"),
            ("AGENTS.md", "changed, 1 line as before"),
            ("GEMINI.md", "removed"),
            (".cursorrules", "created, 1 line"),
            ("deep/CLAUDE.md", "written"),
        ];
        for (name, expected) in rows {
            assert_eq!(before.change(&top.join(name)).to_string(), expected, "{name}");
        }
        let removed: Vec<_> = before.removed().into_iter().map(|(path, row)| (path, row.name)).collect();
        assert_eq!(removed, [(top.join("GEMINI.md"), "GEMINI.md")]);
    }
}
