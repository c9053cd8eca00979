//! Reads the files of a skill into a [`skill::Tree`]: by handle, bounded, and without following a link.
//!
//! ```no_run
//! use std::path::Path;
//! use ringfence::skill::{Scanner, all_rules};
//! use ringfence::skill_files::{SkillDirectory, read_tree};
//!
//! let files = read_tree("pdf", &SkillDirectory::open(Path::new("skills/pdf"))?);
//! let report = Scanner::new(&all_rules()).scan(&files.tree);
//! for unread in &files.unread {
//!     eprintln!("{}: {}", unread.path.display(), unread.why);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A skill is not clean if a part of it could not be read: look at [`SkillFiles::unread`] before the verdict.

mod directory;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use guard::EntryKind;
use skill::{Content, Entry, Tree};

pub use directory::{SkillDirectory, kind_of, read_file};

/// The longest file that is read, in bytes.
pub const MAX_FILE: u64 = 16 << 20;

/// The deepest nesting of directories that is read.
pub const MAX_DEPTH: usize = 64;

/// The most bytes of one tree that are read.
const MAX_TREE: u64 = 256 << 20;

/// The most entries that one tree may have.
const MAX_ENTRIES: usize = 50_000;

/// The files of a skill, and those that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFiles {
    /// The files, sorted by path.
    pub tree: Tree,
    /// The parts that could not be read. Nothing is known about them.
    pub unread: Vec<UnreadFile>,
}

/// A part of a skill that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadFile {
    /// The path below the directory of the skill; empty for the directory itself.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// Reads everything below a directory. A link becomes an entry with its target, and `.git/objects` is left out.
#[must_use]
pub fn read_tree(name: &str, directory: &SkillDirectory) -> SkillFiles {
    let mut reading = Reading::default();
    reading.directory(directory, Path::new(""), 0);
    let Reading { mut entries, unread, .. } = reading;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    SkillFiles { tree: Tree { name: name.to_owned(), entries }, unread }
}

/// A tree while it is read.
#[derive(Default)]
struct Reading {
    entries: Vec<Entry>,
    unread: Vec<UnreadFile>,
    bytes: u64,
}

impl Reading {
    fn directory(&mut self, directory: &SkillDirectory, below: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            self.refuse(below, "directories nest deeper than anybody looks");
            return;
        }
        let names = match directory.names() {
            Ok(names) => names,
            Err(error) => return self.refuse(below, error.to_string()),
        };
        for name in names {
            if self.entries.len() >= MAX_ENTRIES || self.bytes > MAX_TREE {
                self.refuse(below, "there is more in this tree than anybody looks at");
                return;
            }
            let path = below.join(&name);
            if let Err(error) = self.entry(directory, &name, &path, depth) {
                self.refuse(&path, error.to_string());
            }
        }
    }

    fn entry(
        &mut self,
        directory: &SkillDirectory,
        name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> io::Result<()> {
        let content = match directory.kind(name)? {
            // Objects of git are compressed, not text; the rest of its directory is read.
            EntryKind::Directory if path.ends_with(".git/objects") => return Ok(()),
            EntryKind::Directory => {
                self.directory(&directory.enter(name)?, path, depth + 1);
                return Ok(());
            }
            EntryKind::File => directory.read_file(name, MAX_FILE)?,
            EntryKind::Link => Content::Link { target: directory.link_target(name)? },
            EntryKind::Special => Content::Special,
        };
        if let Content::File { bytes, .. } = &content {
            self.bytes += bytes.len() as u64;
        }
        self.entries.push(Entry { path: path.to_owned(), content });
        Ok(())
    }

    fn refuse(&mut self, below: &Path, why: impl Into<String>) {
        self.unread.push(UnreadFile { path: below.to_owned(), why: why.into() });
    }
}
