//! Reading small files beneath a root, so that recorded machines read like this one.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Directory that holds a machine's files: `/`, or a recording.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a>(pub(crate) &'a Path);

impl Root<'static> {
    /// This machine.
    pub(crate) fn of_this_machine() -> Self {
        Self(Path::new("/"))
    }
}

impl Root<'_> {
    /// The place of an absolute path.
    pub(crate) fn at(self, path: &Path) -> PathBuf {
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(crate) fn exists(self, path: &str) -> bool {
        self.at(Path::new(path)).exists()
    }

    /// The text of a file, if it can be read; never more than a bound, no matter what the file claims.
    pub(crate) fn text(self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.at(Path::new(path))).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first word of a file.
    pub(crate) fn word(self, path: &str) -> Option<String> {
        self.text(path)?.split_whitespace().next().map(str::to_owned)
    }

    /// A setting that is a number.
    pub(crate) fn number(self, path: &str) -> Option<u64> {
        self.word(path)?.parse().ok()
    }
}

/// A table of mounts on a busy machine fits; a mistake does not fill the memory.
const MOST: u64 = 4 << 20;
