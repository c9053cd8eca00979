//! Filters of a walk, apart from the policy.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ignore::overrides::Override;
use ignore::types::Types;
use ringfence::guard::{Entry, EntryKind};

use super::ignored::Ignored;
use super::join;

/// Filters of a walk. Each can only leave out more.
pub(crate) struct Filter {
    /// Globs of which one has to match, and globs of which none may.
    pub(crate) globs: Override,
    /// True if `.gitignore` and its like count.
    pub(crate) ignores: bool,
    /// Types of files that are wanted.
    pub(crate) types: Types,
    /// True if hidden names are taken.
    pub(crate) hidden: bool,
}

impl Filter {
    pub(super) fn takes(&self, ignored: &Ignored, directory: &[u8], entry: &Entry) -> bool {
        let visible = self.hidden || !entry.name().as_bytes().starts_with(b".");
        if self.globs.is_empty() && self.types.is_empty() && ignored.is_empty() {
            return visible;
        }
        let path = join(directory, entry.name());
        let path = Path::new(OsStr::from_bytes(&path));
        let is_directory = entry.kind() == EntryKind::Directory;
        let said = ignored.says(path, is_directory);
        let unwanted = self.globs.matched(path, is_directory).is_ignore()
            || self.types.matched(path, is_directory).is_ignore();
        // A rule that takes a name back shows it, even if it is hidden.
        !unwanted && !said.is_ignore() && (visible || said.is_whitelist())
    }
}
