//! Collects the skills and manifests at the paths given on the command line.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::guard::EntryKind;
use ringfence::skill_files::{MAX_DEPTH, MAX_FILE, SkillDirectory, kind_of, read_file};
use skill::Content;
use skill::archive::is_archive;

use super::read::Trouble;

/// The longest archive that is unpacked, in bytes.
const MAX_ARCHIVE: u64 = 64 << 20;

/// Maximum number of directories searched below one place.
const MAX_SEARCHED: usize = 200_000;

/// One skill, one manifest, one file, one archive: what is scanned as one.
#[derive(Debug)]
pub(crate) struct ScanTarget {
    /// Path as it was typed.
    pub(crate) shown: PathBuf,
    /// Real path; `None` for standard input.
    pub(crate) real: Option<PathBuf>,
    pub(crate) source: Source,
}

/// Source of its bytes.
#[derive(Debug)]
pub(crate) enum Source {
    /// Everything in a directory below one that is held.
    Directory(Arc<SkillDirectory>, PathBuf),
    /// A file below a directory that is held.
    File(Arc<SkillDirectory>, PathBuf),
    /// Read already, with the name of the file.
    Content(PathBuf, Content),
}

impl ScanTarget {
    /// Returns its own name, without the path around it.
    pub(crate) fn name(&self) -> String {
        let path = self.real.as_deref().unwrap_or(&self.shown);
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Returns true if it is a single file, whose place is that of the whole.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.source, Source::File(..) | Source::Content(..))
    }
}

/// Skills and manifests found at the paths that a person typed.
#[derive(Debug, Default)]
pub(crate) struct ScanTargets {
    pub(crate) spots: Vec<ScanTarget>,
    pub(crate) troubles: Vec<Trouble>,
    /// Skipped items, and the reason why that is in order.
    pub(crate) notes: Vec<Trouble>,
}

/// Looks at each place.
pub(crate) fn gather(places: &[PathBuf]) -> ScanTargets {
    let mut gathered = ScanTargets::default();
    for place in places {
        let found = if place.as_os_str() == "-" { gathered.standard_input() } else { gathered.typed(place) };
        if let Err(error) = found {
            gathered.troubles.push(Trouble::new(place, error.to_string()));
        }
    }
    // A place that was typed twice, or above another one, is looked at once.
    let mut seen = BTreeSet::new();
    gathered.spots.retain(|spot| seen.insert(spot.real.clone()));
    gathered
}

impl ScanTargets {
    fn standard_input(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        io::stdin().lock().take(MAX_ARCHIVE + 1).read_to_end(&mut bytes)?;
        let content = if bytes.len() as u64 > MAX_ARCHIVE {
            Content::TooLarge { length: bytes.len() as u64 }
        } else {
            Content::File { bytes, executable: false }
        };
        self.file(PathBuf::from("-"), None, content);
        Ok(())
    }

    fn typed(&mut self, place: &Path) -> io::Result<()> {
        let real = std::fs::canonicalize(place)?;
        match kind_of(place)? {
            EntryKind::Directory => {
                let top = Arc::new(SkillDirectory::open(place)?);
                self.directory(place, real, &top);
            }
            EntryKind::File => {
                let content = read_file(place, MAX_ARCHIVE)?;
                self.file(place.to_owned(), Some(real), content);
            }
            EntryKind::Link | EntryKind::Special => {
                return Err(io::Error::other(
                    "it is neither a file nor a directory; `-` reads standard input",
                ));
            }
        }
        Ok(())
    }

    /// A file by itself: an archive may be longer than a text.
    fn file(&mut self, shown: PathBuf, real: Option<PathBuf>, content: Content) {
        let (name, content) = match content {
            Content::File { bytes, .. } if bytes.len() as u64 > MAX_FILE && !is_archive(&shown, &bytes) => {
                (file_name(&shown, &[]), Content::TooLarge { length: bytes.len() as u64 })
            }
            Content::File { bytes, executable } => {
                (file_name(&shown, &bytes), Content::File { bytes, executable })
            }
            other => (file_name(&shown, &[]), other),
        };
        self.spots.push(ScanTarget { shown, real, source: Source::Content(name, content) });
    }

    /// Every skill and manifest below a directory; all of it as one where there is none.
    fn directory(&mut self, shown: &Path, real: PathBuf, top: &Arc<SkillDirectory>) {
        let mut search = Search { shown, real: &real, top, found: self, searched: 0 };
        let (before, troubles) = (search.found.spots.len(), search.found.troubles.len());
        search.directory(top, Path::new(""), 0);
        if self.spots.len() == before {
            // The scan of the whole directory reports them again.
            self.troubles.truncate(troubles);
            let source = Source::Directory(Arc::clone(top), PathBuf::new());
            self.notes.push(Trouble::new(shown, "no SKILL.md and no manifest below it: scanned as one"));
            self.spots.push(ScanTarget { shown: shown.to_owned(), real: Some(real), source });
        }
    }
}

/// A search below one place.
struct Search<'a> {
    shown: &'a Path,
    real: &'a Path,
    top: &'a Arc<SkillDirectory>,
    found: &'a mut ScanTargets,
    searched: usize,
}

impl Search<'_> {
    fn directory(&mut self, directory: &SkillDirectory, below: &Path, depth: usize) {
        self.searched += 1;
        if depth > MAX_DEPTH || self.searched > MAX_SEARCHED {
            return self.trouble(below, "there is more below this than anybody searches");
        }
        let names = match directory.names() {
            Ok(names) => names,
            Err(error) => return self.trouble(below, error.to_string()),
        };
        if names.iter().any(|name| is_skill(name)) {
            let source = Source::Directory(Arc::clone(self.top), below.to_owned());
            return self.spot(below, source);
        }
        for name in names {
            let path = below.join(&name);
            match directory.kind(&name) {
                // Outside of skills, what git keeps belongs to git.
                Ok(EntryKind::Directory) if name == ".git" => {}
                Ok(EntryKind::Directory) => match directory.enter(&name) {
                    Ok(inner) => self.directory(&inner, &path, depth + 1),
                    Err(error) => self.trouble(&path, error.to_string()),
                },
                Ok(EntryKind::File) if is_manifest(&name) => {
                    self.spot(&path, Source::File(Arc::clone(self.top), path.clone()));
                }
                Ok(EntryKind::Link) => {
                    let note = Trouble::new(&joined(self.shown, &path), "a link, which is not followed");
                    self.found.notes.push(note);
                }
                Ok(EntryKind::File | EntryKind::Special) => {}
                Err(error) => self.trouble(&path, error.to_string()),
            }
        }
    }

    fn spot(&mut self, below: &Path, source: Source) {
        let (shown, real) = (joined(self.shown, below), joined(self.real, below));
        self.found.spots.push(ScanTarget { shown, real: Some(real), source });
    }

    fn trouble(&mut self, below: &Path, why: impl Into<String>) {
        self.found.troubles.push(Trouble::new(&joined(self.shown, below), why));
    }
}

/// A path below another, without a slash at its end and without the dot for where one is.
pub(crate) fn joined(path: &Path, below: &Path) -> PathBuf {
    if path == Path::new(".") && !below.as_os_str().is_empty() {
        return below.to_owned();
    }
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

/// Returns true if a name makes its directory a skill. Agents on some systems ignore the case.
fn is_skill(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}

/// Returns true if a file outside of skills is a list of servers or tools.
fn is_manifest(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let Some(stem) = name.strip_suffix(".json") else { return false };
    let of_servers = |part: &str| part.starts_with("mcp");
    stem == "tools" || of_servers(stem) || stem.split('.').skip(1).any(of_servers)
}

/// Returns the name of a single file in its tree. Standard input has no name, so its first bytes determine the kind.
fn file_name(shown: &Path, bytes: &[u8]) -> PathBuf {
    if shown.as_os_str() != "-" {
        return PathBuf::from(shown.file_name().unwrap_or_default());
    }
    let first = bytes.trim_ascii_start().first();
    PathBuf::from(match first {
        Some(b'{' | b'[') => "stdin.json",
        Some(b'#') if bytes.starts_with(b"#!") => "stdin",
        _ if is_archive(Path::new(""), bytes) => "stdin",
        _ => "stdin.md",
    })
}
