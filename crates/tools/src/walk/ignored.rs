//! Rules of `.gitignore` and similar files.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ringfence::guard::{Directory, ListedFile};

/// The files that say what to ignore, the strongest first: one of them anywhere above counts more than another next to the file.
const FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];
/// All kinds of rules: the files, and `.git/info/exclude`.
const KINDS: usize = FILES.len() + 1;
/// Bytes that are read of such a file. What is longer is cut at a line.
const MAX_FILE: u64 = 1 << 20;
/// Lines that are read of such a file.
const MAX_LINES: usize = 10_000;

/// Ignore rules of a directory: its own and those above it.
#[derive(Default)]
pub(super) struct Ignored {
    rules: [Option<Gitignore>; KINDS],
    above: Option<Arc<Ignored>>,
}

/// Returns true if a file says what to ignore.
pub(super) fn is_one(name: &OsStr) -> bool {
    FILES.iter().any(|file| name == *file)
}

impl Ignored {
    /// The same with the rules that a directory has, if the policy lets the tool read them.
    pub(super) fn below(self: &Arc<Self>, directory: &Directory, path: &[u8]) -> Self {
        let mut rules: [Option<Gitignore>; KINDS] = Default::default();
        for (kind, name) in FILES.iter().enumerate() {
            rules[kind] = directory.file_called(OsStr::new(name)).ok().and_then(|file| read(file, path));
        }
        Self { rules, above: Some(Arc::clone(self)) }
    }

    /// The same with what the repository ignores that a directory lies in, if the policy lets the tool read it.
    pub(super) fn excluded_by_repository(mut self, directory: &Directory, path: &[u8]) -> Self {
        let exclude = || {
            let info =
                directory.directory_called(OsStr::new(".git"))?.directory_called(OsStr::new("info"))?;
            info.file_called(OsStr::new("exclude"))
        };
        self.rules[KINDS - 1] = exclude().ok().and_then(|file| read(file, path));
        self
    }

    /// Returns true if there are no rules at all.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.iter().all(Option::is_none) && self.above.as_ref().is_none_or(|above| above.is_empty())
    }

    /// Matches a path: the closest rule of the strongest kind that says something.
    pub(super) fn says(&self, path: &Path, is_directory: bool) -> Match<()> {
        for kind in 0..KINDS {
            let mut level = Some(self);
            while let Some(here) = level {
                match here.rules[kind].as_ref().map(|rules| rules.matched(path, is_directory)) {
                    None | Some(Match::None) => level = here.above.as_deref(),
                    Some(said) => return said.map(drop),
                }
            }
        }
        Match::None
    }
}

/// The rules in a file. A line that cannot be read says nothing.
fn read(file: ListedFile, directory: &[u8]) -> Option<Gitignore> {
    let mut text = Vec::new();
    file.file.take(MAX_FILE).read_to_end(&mut text).ok()?;
    if text.len() as u64 == MAX_FILE {
        text.truncate(text.iter().rposition(|byte| *byte == b'\n')?);
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let mut rules = GitignoreBuilder::new(OsStr::from_bytes(directory));
    let lines = text.split(|byte| *byte == b'\n').take(MAX_LINES);
    for line in lines.filter_map(|line| std::str::from_utf8(line).ok()) {
        // A line that is no pattern says nothing, as in git.
        drop(rules.add_line(None, line));
    }
    rules.build().ok().filter(|rules| !rules.is_empty())
}
