//! A file as the policy sees it: where it really is, and every other name it was reached by.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::Shown;

/// A resolved place in the file system, with every name it may be judged by.
///
/// A denial looks at every name; a permission looks only at the real ones. Names are bytes, because file names are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    real: Names,
    aliases: Vec<Names>,
    absolute_spelling: bool,
    shared: bool,
    folds_case: bool,
    around: Around,
}

/// Surroundings of a location, as far as they were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Anything,
    Repository,
}

/// One path, below the workspace (if it is) and from the root of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Names {
    absolute: Vec<u8>,
    /// Offset of the name below the workspace.
    below: Option<usize>,
}

/// The two names of a path: below the workspace, if it lies there, and from the root.
pub(crate) type Pair<'a> = (Option<&'a [u8]>, &'a [u8]);

/// Why a path cannot be a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// Only the caller knows what a relative path is relative to.
    #[error("the path is not absolute")]
    Relative,
    /// `.` and `..` mean something only to code that resolves links.
    #[error("the path is not resolved: it contains `.` or `..`")]
    Unresolved,
    /// The kernel would stop reading here.
    #[error("the path contains a NUL byte")]
    Nul,
}

impl Location {
    /// A place by its real, absolute path; `workspace` is the real path of the workspace.
    pub fn new(workspace: &Path, real: &Path) -> Result<Self, LocationError> {
        let real = Names::new(workspace, real)?;
        Ok(Self {
            real,
            aliases: Vec::new(),
            absolute_spelling: false,
            shared: false,
            folds_case: false,
            around: Around::Anything,
        })
    }

    /// Adds a name by which the same object was reached. It can only lead to a denial.
    pub fn also(mut self, workspace: &Path, path: &Path) -> Result<Self, LocationError> {
        let alias = Names::new(workspace, path)?;
        if alias != self.real && !self.aliases.contains(&alias) {
            self.aliases.push(alias);
        }
        Ok(self)
    }

    /// Notes that the request spelled the path from the root.
    #[must_use]
    pub fn spelled_absolute(mut self) -> Self {
        self.absolute_spelling = true;
        self
    }

    /// Returns true if the request spelled the path from the root.
    #[must_use]
    pub fn is_spelled_absolute(&self) -> bool {
        self.absolute_spelling
    }

    /// Notes that the file has other names that were not looked at: hard links, which may lie anywhere.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Returns true if the file has other names that were not looked at.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Notes that names that differ in case alone are one name here.
    #[must_use]
    pub fn folding_case(mut self) -> Self {
        self.folds_case = true;
        self
    }

    /// Returns true if names that differ in case alone are one name here.
    #[must_use]
    pub fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// Notes that it is, or would make, a part of a git repository: see [`crate::Beside`].
    #[must_use]
    pub fn in_repository(mut self) -> Self {
        self.around = Around::Repository;
        self
    }

    /// Returns true if it is, or would make, a part of a git repository, as far as its surroundings were looked at.
    #[must_use]
    pub fn is_in_repository(&self) -> bool {
        self.around == Around::Repository
    }

    /// Returns true if the real object lies in the workspace.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        self.real.below.is_some()
    }

    /// The real, absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.real.absolute))
    }

    /// The names of the real object: below the workspace, if it is, and from the root.
    pub fn real_names(&self) -> impl Iterator<Item = &[u8]> {
        self.real.iter()
    }

    /// The other names it was reached by.
    pub fn aliases(&self) -> impl Iterator<Item = &[u8]> {
        self.aliases.iter().flat_map(Names::iter)
    }

    pub(crate) fn real_pair(&self) -> Pair<'_> {
        self.real.pair()
    }

    pub(crate) fn alias_pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        self.aliases.iter().map(Names::pair)
    }

    /// Every name: the real ones first.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.real_names().chain(self.aliases())
    }

    /// Returns true if the location is `directory` or lies below it, component by component.
    #[must_use]
    pub fn is_at_or_below(&self, directory: &Path) -> bool {
        self.path().starts_with(directory)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown::bytes(self.real.relative().unwrap_or(&self.real.absolute)).fmt(f)
    }
}

/// The places of the entries of one directory, by the one name that the directory gives each.
///
/// For those who look at many: each is made in place of the one before.
#[derive(Debug, Clone)]
pub struct Siblings {
    place: Location,
    /// Length of the directory's name, with a slash at its end.
    directory: usize,
    /// True if the directory is the workspace or lies in it.
    inside: bool,
}

impl Siblings {
    /// Those of a directory. What is known of how names are compared in it holds for them, too.
    #[must_use]
    pub fn of(directory: &Location) -> Self {
        let Names { mut absolute, below } = directory.real.clone();
        let itself = below == Some(absolute.len());
        // Only the root ends in a slash.
        if absolute.last() != Some(&b'/') {
            absolute.push(b'/');
        }
        let (length, inside) = (absolute.len(), below.is_some());
        let real = Names { absolute, below: if itself { Some(length) } else { below } };
        let (aliases, folds_case) = (Vec::new(), directory.folds_case);
        let place = Location {
            real,
            aliases,
            absolute_spelling: false,
            shared: false,
            folds_case,
            around: Around::Anything,
        };
        Self { place, directory: length, inside }
    }

    /// The place of the entry with this name.
    pub fn named(&mut self, workspace: &Path, name: &OsStr) -> Result<&Location, LocationError> {
        let name = name.as_bytes();
        if matches!(name, b"" | b"." | b"..") {
            return Err(LocationError::Unresolved);
        }
        // All bytes are looked at, which is faster than stopping at the first.
        let has =
            |unfit: u8| name.iter().map(|byte| u8::from(*byte == unfit)).fold(0, |found, is| found | is) > 0;
        if has(0) {
            return Err(LocationError::Nul);
        }
        if has(b'/') {
            return Err(LocationError::Unresolved);
        }
        let Names { absolute, below } = &mut self.place.real;
        absolute.truncate(self.directory);
        absolute.extend_from_slice(name);
        // An entry of a directory around the workspace may be the workspace.
        if !self.inside {
            *below = self::below(absolute, workspace.as_os_str().as_bytes());
        }
        Ok(&self.place)
    }
}

impl Names {
    fn new(workspace: &Path, path: &Path) -> Result<Self, LocationError> {
        let absolute = resolved(path)?;
        let below = below(&absolute, workspace.as_os_str().as_bytes());
        Ok(Self { absolute, below })
    }

    fn relative(&self) -> Option<&[u8]> {
        let below = self.absolute.get(self.below?..)?;
        Some(if below.is_empty() { b"." } else { below })
    }

    fn pair(&self) -> Pair<'_> {
        (self.relative(), &self.absolute)
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.relative().into_iter().chain([self.absolute.as_slice()])
    }
}

/// Returns the offset of the name below a directory, component by component.
fn below(path: &[u8], directory: &[u8]) -> Option<usize> {
    let trimmed = directory.strip_suffix(b"/").unwrap_or(directory);
    let rest = path.strip_prefix(trimmed)?;
    match rest {
        [] => Some(path.len()),
        [b'/', ..] => Some(trimmed.len() + 1),
        _ => None,
    }
}

/// Takes `.` and `..` out of an absolute path by its spelling alone, as if nothing on the way were a link.
#[must_use]
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// The path without doubled or final slashes; refused if anything in it still has to be resolved.
fn resolved(path: &Path) -> Result<Vec<u8>, LocationError> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.contains(&0) {
        return Err(LocationError::Nul);
    }
    if !path.is_absolute() {
        return Err(LocationError::Relative);
    }
    let mut plain = true;
    // `Path::components` hides `.`, so the bytes are asked.
    for part in bytes[1..].split(|&b| b == b'/') {
        match part {
            b"." | b".." => return Err(LocationError::Unresolved),
            b"" => plain &= bytes.len() == 1,
            _ => {}
        }
    }
    if plain {
        return Ok(bytes.to_vec());
    }
    let names = path.components().filter(|c| matches!(c, Component::Normal(_))).map(Component::as_os_str);
    let names: Vec<_> = names.map(OsStr::as_bytes).collect();
    Ok([b"/", &*names.join(&b'/')].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Result<Vec<String>, LocationError> {
        let location = Location::new(Path::new("/ws"), Path::new(path))?;
        Ok(location.names().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    #[test]
    fn names_below_and_beside_the_workspace() {
        let rows: &[(&str, Result<&[&str], LocationError>)] = &[
            ("/ws/a/b", Ok(&["a/b", "/ws/a/b"])),
            ("/ws//a/b/", Ok(&["a/b", "/ws/a/b"])),
            ("/ws", Ok(&[".", "/ws"])),
            ("/ws-evil/a", Ok(&["/ws-evil/a"])),
            ("/", Ok(&["/"])),
            ("/etc/shadow", Ok(&["/etc/shadow"])),
            ("a", Err(LocationError::Relative)),
            ("", Err(LocationError::Relative)),
            ("/ws/../etc", Err(LocationError::Unresolved)),
            ("/ws/./a", Err(LocationError::Unresolved)),
            ("/ws/a\0b", Err(LocationError::Nul)),
        ];
        for (path, expected) in rows {
            let expected = expected.map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(names(path), expected, "{path:?}");
        }
    }

    #[test]
    fn an_entry_is_the_place_of_its_path() {
        let rows: &[(&str, &str, &str)] = &[
            ("/ws", "/ws", "a"),
            ("/ws", "/ws/a", "b"),
            ("/ws", "/ws/a/b", "c d"),
            ("/ws", "/", "ws"),
            ("/ws", "/", "wsx"),
            ("/ws", "/wsx", "a"),
            ("/a/ws", "/a", "ws"),
            ("/a/ws", "/a", "x"),
            ("/", "/", "a"),
            ("/", "/a", "b"),
        ];
        for (workspace, directory, name) in rows {
            let workspace = Path::new(workspace);
            let directory = Path::new(directory);
            let mut siblings = Siblings::of(&Location::new(workspace, directory).unwrap());
            // One after the other: nothing is left of the one before.
            for name in ["ws", name, "a-longer-name", name] {
                let expected = Location::new(workspace, &directory.join(name));
                let place = siblings.named(workspace, OsStr::new(name)).cloned();
                assert_eq!(place, expected, "{directory:?} {name}");
            }
        }
        let workspace = Path::new("/ws");
        let mut siblings = Siblings::of(&Location::new(workspace, Path::new("/ws/a")).unwrap());
        for name in ["", ".", "..", "a/b", "/", "a/"] {
            let place = siblings.named(workspace, OsStr::new(name)).cloned();
            assert_eq!(place, Err(LocationError::Unresolved), "{name}");
        }
        assert_eq!(siblings.named(workspace, OsStr::new("a\0")).cloned(), Err(LocationError::Nul));
    }

    #[test]
    fn names_may_be_any_bytes() {
        let path = Path::new(OsStr::from_bytes(b"/ws/\xff\n"));
        let location = Location::new(Path::new("/ws"), path).unwrap();
        assert_eq!(location.real_names().next(), Some(&b"\xff\n"[..]));
        assert_eq!(location.to_string(), r"\xff\n");
    }
}
