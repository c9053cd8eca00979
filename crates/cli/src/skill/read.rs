//! A place -> the tree of files in it, by handle and bounded.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use skill::{Content, Entry, Tree};

use super::directory::{Directory, Kind, Taken};
use super::gather::{Source, Spot};

/// The longest file that is looked at, in bytes.
pub(crate) const MAX_FILE: u64 = 16 << 20;

/// How many bytes of one tree are looked at.
const MAX_TREE: u64 = 256 << 20;

/// How many names one tree may have.
const MAX_ENTRIES: usize = 50_000;

/// How deep directories may nest.
pub(crate) const MAX_DEPTH: usize = 64;

/// Something that could not be looked at, so that nobody can say what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
}

impl Trouble {
    pub(crate) fn new(path: &Path, why: impl Into<String>) -> Self {
        Self { path: path.to_owned(), why: why.into() }
    }
}

/// Reads everything at a place.
pub(crate) fn read(spot: &Spot) -> (Tree, Vec<Trouble>) {
    let mut reading = Reading { shown: &spot.shown, entries: Vec::new(), troubles: Vec::new(), bytes: 0 };
    match &spot.source {
        Source::Directory(top, below) => match top.along(below) {
            Ok(directory) => reading.directory(&directory, Path::new(""), 0),
            Err(errno) => reading.trouble(Path::new(""), &errno.into()),
        },
        Source::File(top, path) => reading.one_file(top, path),
        Source::Content(name, content) => reading.push(name, content.clone()),
    }
    let Reading { mut entries, troubles, .. } = reading;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    (Tree { name: spot.name(), entries }, troubles)
}

/// A tree while it is read.
struct Reading<'a> {
    shown: &'a Path,
    entries: Vec<Entry>,
    troubles: Vec<Trouble>,
    bytes: u64,
}

impl Reading<'_> {
    fn directory(&mut self, directory: &Directory, below: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            self.refuse(below, "directories nest deeper than anybody looks");
            return;
        }
        let names = match directory.names() {
            Ok(names) => names,
            Err(errno) => return self.trouble(below, &errno.into()),
        };
        for name in names {
            if self.entries.len() >= MAX_ENTRIES || self.bytes > MAX_TREE {
                self.refuse(below, "there is more in this tree than anybody looks at");
                return;
            }
            let path = below.join(&name);
            if let Err(error) = self.entry(directory, &name, &path, depth) {
                self.trouble(&path, &error);
            }
        }
    }

    fn entry(&mut self, directory: &Directory, name: &OsStr, path: &Path, depth: usize) -> io::Result<()> {
        let content = match directory.kind(name)? {
            // What git keeps compressed is no text; everything else in its directory is looked at.
            Kind::Directory if path.ends_with(".git/objects") => return Ok(()),
            Kind::Directory => {
                self.directory(&directory.enter(name)?, path, depth + 1);
                return Ok(());
            }
            Kind::File => content(directory.file(name, MAX_FILE)?),
            Kind::Link => Content::Link { target: directory.target(name)? },
            Kind::Special => Content::Special,
        };
        self.push(path, content);
        Ok(())
    }

    fn one_file(&mut self, top: &Directory, path: &Path) {
        let holding = path.parent().map_or_else(|| top.along(Path::new("")), |parent| top.along(parent));
        let name = path.file_name().unwrap_or_default();
        let taken = holding.map_err(io::Error::from).and_then(|directory| directory.file(name, MAX_FILE));
        match taken {
            Ok(taken) => self.push(Path::new(name), content(taken)),
            Err(error) => self.trouble(Path::new(""), &error),
        }
    }

    fn push(&mut self, path: &Path, content: Content) {
        if let Content::File { bytes, .. } = &content {
            self.bytes += bytes.len() as u64;
        }
        self.entries.push(Entry { path: path.to_owned(), content });
    }

    fn trouble(&mut self, below: &Path, error: &io::Error) {
        self.refuse(below, error.to_string());
    }

    fn refuse(&mut self, below: &Path, why: impl Into<String>) {
        let path = if below.as_os_str().is_empty() { self.shown.to_owned() } else { self.shown.join(below) };
        self.troubles.push(Trouble::new(&path, why));
    }
}

/// What was read, as a tree has it.
pub(crate) fn content(taken: Taken) -> Content {
    match taken {
        Taken::Whole(bytes, executable) => Content::File { bytes, executable },
        Taken::TooLarge(length) => Content::TooLarge { length },
    }
}
