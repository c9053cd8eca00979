//! Reads the content of archives: zip, tar, tar.gz. Nothing is written anywhere.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use crate::tree::{Content, Entry as Name, Tree};

/// Maximum number of entries read of one archive.
pub const MAX_ENTRIES: usize = 2_000;

/// Maximum number of bytes of all entries of one archive.
pub const MAX_BYTES: u64 = 64 << 20;

/// Maximum number of bytes that one byte of an archive may expand to, once it is more than a megabyte.
pub const MAX_RATIO: u64 = 200;

/// Maximum depth of archives in archives.
const MAX_DEPTH: usize = 3;

/// One entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name as it is written there: it can be absolute and can lead upwards.
    pub name: String,
    /// Kind of the entry.
    pub kind: Kind,
}

/// Kind of an entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File {
        /// All of it.
        bytes: Vec<u8>,
        /// True if an execute permission is set.
        executable: bool,
    },
    /// A directory.
    Directory,
    /// A link, symbolic or not.
    Link {
        /// Target of the link, as written.
        target: String,
    },
    /// A file that needs a password.
    Encrypted,
    /// A file that is packed in a way that is not read here.
    Unread,
    /// A pipe, a device.
    Special,
}

/// Reason why an archive was not read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It is no archive, or damaged.
    #[error("the archive cannot be read: {0}")]
    Damaged(String),
    /// It has too many entries.
    #[error("the archive has more than {MAX_ENTRIES} entries")]
    TooMany,
    /// It becomes too large.
    #[error("the archive becomes larger than is read")]
    TooLarge,
    /// It is in an archive in an archive in an archive.
    #[error("the archive is nested too deeply")]
    TooDeep,
}

impl Entry {
    /// Returns true if its name leads out of the directory it is unpacked in.
    #[must_use]
    pub fn leads_out(&self) -> bool {
        let name = self.name.replace('\\', "/");
        let drive = name.as_bytes().get(1) == Some(&b':');
        name.starts_with('/') || drive || name.split('/').any(|part| part == "..")
    }
}

/// Returns true if a file is an archive of a kind that is read here: by its bytes, or damaged and by its name.
#[must_use]
pub fn is_archive(path: &Path, bytes: &[u8]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let named = ["zip", "tar", "tgz", "gz"].iter().any(|name| extension.eq_ignore_ascii_case(name));
    format_of(bytes).is_some() || named && crate::text::encoding::is_binary(bytes)
}

/// The entries of an archive, in its order. One that is not read to its end is an error as a whole.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry>, ArchiveError> {
    entries_within(bytes, MAX_BYTES)
}

/// The one skill in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The directory of the skill in the archive; empty at its top.
    pub below: PathBuf,
    /// Everything in that directory.
    pub tree: Tree,
}

/// Reason why there is not one skill in an archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackedError {
    /// It cannot be read, or not to its end.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// No file makes anything in it a skill.
    #[error("there is no SKILL.md in it")]
    None,
    /// It is ambiguous which one is meant.
    #[error("there are {} skills in it: {}", .0.len(), .0.join(", "))]
    Several(Vec<String>),
    /// Programs that unpack it put this somewhere else.
    #[error("{0} leads out of it")]
    LeadsOut(String),
    /// The content cannot be read.
    #[error("{0} in it needs a password, or is packed in a way that is not read here")]
    Unread(String),
    /// Programs disagree on which of them counts.
    #[error("{0} stands twice in it")]
    Twice(String),
}

/// Finds the one skill in an archive that is called `name` where it is at the top. What is unclear is refused, also beside the skill.
pub fn packed(name: &str, bytes: &[u8]) -> Result<Packed, PackedError> {
    let files = files(entries(bytes)?)?;
    let mains = files.keys().filter(|path| path.file_name().is_some_and(is_main));
    let mut tops: Vec<&Path> = Vec::new();
    for main in mains {
        let top = main.parent().unwrap_or(Path::new(""));
        match tops.iter().find(|other| top.starts_with(other)) {
            Some(same) if *same == top => return Err(PackedError::Twice(main.display().to_string())),
            Some(_) => {}
            None => {
                tops.retain(|other| !other.starts_with(top));
                tops.push(top);
            }
        }
    }
    let below = match tops.as_slice() {
        [] => return Err(PackedError::None),
        [one] => one.to_path_buf(),
        several => return Err(PackedError::Several(several.iter().map(|top| shown(top)).collect())),
    };
    let name = below.file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into_owned());
    let inside = files.into_iter().filter_map(|(path, content)| {
        let path = path.strip_prefix(&below).ok()?.to_owned();
        Some(Name { path, content })
    });
    let entries = inside.collect();
    Ok(Packed { below, tree: Tree { name, entries } })
}

fn is_main(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}

fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
}

/// Everything in an archive by its path, where each name means the same to every program that unpacks it.
fn files(entries: Vec<Entry>) -> Result<BTreeMap<PathBuf, Content>, PackedError> {
    let mut files = BTreeMap::new();
    for entry in entries {
        if entry.leads_out() {
            return Err(PackedError::LeadsOut(entry.name));
        }
        let content = match entry.kind {
            Kind::File { bytes, executable } => Content::File { bytes, executable },
            Kind::Link { target } => Content::Link { target: PathBuf::from(target) },
            Kind::Special => Content::Special,
            Kind::Directory => continue,
            Kind::Encrypted | Kind::Unread => return Err(PackedError::Unread(entry.name)),
        };
        let parts = entry.name.split(['/', '\\']).filter(|part| !matches!(*part, "" | "."));
        if files.insert(parts.collect(), content).is_some() {
            return Err(PackedError::Twice(entry.name));
        }
    }
    Ok(files)
}

/// A tree with what is in its archives.
pub(crate) struct Opened<'a> {
    /// The tree, with what is in its archives as files below them.
    pub(crate) tree: Cow<'a, Tree>,
    /// Result for each archive.
    pub(crate) archives: Vec<Archive>,
}

/// Result of reading an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Archive {
    /// The number of its entry in the tree.
    pub(crate) entry: usize,
    /// Its entries without their bytes, or why they were not read.
    pub(crate) inside: Result<Vec<Inside>, ArchiveError>,
}

/// An entry of an archive without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inside {
    pub(crate) name: String,
    pub(crate) leads_out: bool,
    pub(crate) encrypted: bool,
    pub(crate) unread: bool,
}

/// Opens the archives of a tree, and those in them.
pub(crate) fn opened(tree: &Tree) -> Opened<'_> {
    let mut opened = Opened { tree: Cow::Borrowed(tree), archives: Vec::new() };
    let (mut from, mut left) = (0, MAX_BYTES);
    for depth in 0..=MAX_DEPTH {
        let to = opened.tree.entries.len();
        for entry in from..to {
            opened.open(entry, depth, &mut left);
        }
        from = to;
    }
    opened
}

impl Opened<'_> {
    fn open(&mut self, entry: usize, depth: usize, left: &mut u64) {
        let Some(Name { path, content: Content::File { bytes, .. } }) = self.tree.entries.get(entry) else {
            return;
        };
        if !is_archive(path, bytes) {
            return;
        }
        let read = if depth == MAX_DEPTH { Err(ArchiveError::TooDeep) } else { entries_within(bytes, *left) };
        let path = path.clone();
        let inside = read.map(|entries| entries.into_iter().map(|one| self.add(&path, one, left)).collect());
        self.archives.push(Archive { entry, inside });
    }

    /// Puts an entry below its archive.
    fn add(&mut self, archive: &Path, one: Entry, left: &mut u64) -> Inside {
        let inside = Inside {
            leads_out: one.leads_out(),
            encrypted: one.kind == Kind::Encrypted,
            unread: one.kind == Kind::Unread,
            name: one.name,
        };
        let content = match one.kind {
            Kind::File { bytes, executable } => Content::File { bytes, executable },
            Kind::Link { target } => Content::Link { target: PathBuf::from(target) },
            Kind::Special => Content::Special,
            Kind::Directory | Kind::Encrypted | Kind::Unread => return inside,
        };
        if let Content::File { bytes, .. } = &content {
            *left = left.saturating_sub(bytes.len() as u64);
        }
        let path = archive.join(inside.name.trim_start_matches(['/', '\\']));
        self.tree.to_mut().entries.push(Name { path, content });
        inside
    }
}

enum Format {
    Zip,
    Tar,
    TarGz,
    Gz,
}

fn format_of(bytes: &[u8]) -> Option<Format> {
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Format::Zip),
        [0x1f, 0x8b, 8, ..] => {
            let mut head = Vec::new();
            let read = flate2::read::GzDecoder::new(bytes).take(512).read_to_end(&mut head);
            Some(if read.is_ok() && is_tar(&head) { Format::TarGz } else { Format::Gz })
        }
        _ => is_tar(bytes).then_some(Format::Tar),
    }
}

fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

/// Remaining budget for reading.
struct Left {
    bytes: u64,
    entries: usize,
}

impl Left {
    fn of(packed: usize, bytes: u64) -> Self {
        let ratio = (packed as u64).saturating_mul(MAX_RATIO).max(1 << 20);
        Self { bytes: bytes.min(MAX_BYTES).min(ratio), entries: MAX_ENTRIES }
    }

    fn entry(&mut self) -> Result<(), ArchiveError> {
        self.entries = self.entries.checked_sub(1).ok_or(ArchiveError::TooMany)?;
        Ok(())
    }

    fn read(&mut self, from: impl Read) -> Result<Vec<u8>, ArchiveError> {
        let mut bytes = Vec::new();
        from.take(self.bytes + 1).read_to_end(&mut bytes).map_err(damaged)?;
        self.bytes = self.bytes.checked_sub(bytes.len() as u64).ok_or(ArchiveError::TooLarge)?;
        Ok(bytes)
    }
}

fn damaged(error: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Damaged(error.to_string())
}

fn entries_within(bytes: &[u8], most: u64) -> Result<Vec<Entry>, ArchiveError> {
    let mut left = Left::of(bytes.len(), most);
    match format_of(bytes) {
        Some(Format::Zip) => zip(bytes, &mut left),
        Some(Format::Tar) => tar(bytes, &mut left),
        Some(Format::TarGz) => {
            // Bytes between the files count too: they have to be read to get past them.
            let most = left.bytes + (left.entries as u64 + 2) * 1_024;
            tar(flate2::read::GzDecoder::new(bytes).take(most), &mut left)
        }
        Some(Format::Gz) => {
            let bytes = left.read(flate2::read::MultiGzDecoder::new(bytes))?;
            Ok(vec![Entry { name: String::from("content"), kind: Kind::File { bytes, executable: false } }])
        }
        None => Err(ArchiveError::Damaged(String::from("it is no zip, tar or gzip"))),
    }
}

fn zip(bytes: &[u8], left: &mut Left) -> Result<Vec<Entry>, ArchiveError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let mut found = Vec::new();
    for number in 0..archive.len() {
        left.entry()?;
        let (name, mode, plain) = {
            let file = archive.by_index_raw(number).map_err(damaged)?;
            let name = String::from_utf8_lossy(file.name_raw()).into_owned();
            let kind = if file.is_dir() {
                Some(Kind::Directory)
            } else if file.encrypted() {
                Some(Kind::Encrypted)
            } else {
                None
            };
            (name, file.unix_mode().unwrap_or_default(), kind)
        };
        let kind = match plain {
            Some(kind) => kind,
            None => match archive.by_index(number) {
                Ok(file) => {
                    let link = file.is_symlink();
                    let bytes = left.read(file)?;
                    if link {
                        Kind::Link { target: String::from_utf8_lossy(&bytes).into_owned() }
                    } else {
                        Kind::File { bytes, executable: mode & 0o111 != 0 }
                    }
                }
                Err(_) => Kind::Unread,
            },
        };
        found.push(Entry { name, kind });
    }
    Ok(found)
}

fn tar(bytes: impl Read, left: &mut Left) -> Result<Vec<Entry>, ArchiveError> {
    let mut archive = tar::Archive::new(bytes);
    let mut found = Vec::new();
    for file in archive.entries().map_err(damaged)? {
        left.entry()?;
        let file = file.map_err(damaged)?;
        let name = String::from_utf8_lossy(&file.path_bytes()).into_owned();
        let target = file.link_name_bytes().map(|target| String::from_utf8_lossy(&target).into_owned());
        let executable = file.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let kind = match (file.header().entry_type(), target) {
            (kind, _) if kind.is_dir() => Kind::Directory,
            (kind, Some(target)) if kind.is_symlink() || kind.is_hard_link() => Kind::Link { target },
            (kind, _) if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() => {
                Kind::File { bytes: left.read(file)?, executable }
            }
            (kind, _) if kind.is_pax_global_extensions() => continue,
            _ => Kind::Special,
        };
        found.push(Entry { name, kind });
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
