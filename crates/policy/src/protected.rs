//! Names in a workspace that make a tool outside run or trust something later.
//!
//! A name is judged by its text alone; where that is not enough because it depends on what lies beside it on disk, the verdict
//! says what to look at. Names are compared without regard to ASCII case: the disk may be shared with a system that has none.

mod link;
mod rule;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use crate::tables::names::{ENDS, EXACT, ROWS, STARTS, STORES};

pub use link::{Beside, ProtectedNames};
pub use rule::{Ruling, Surroundings};

/// A name with the reason why it is protected.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ProtectedName {
    /// One or more components; a component may begin or end with `*`. What lies below belongs to it.
    pub name: &'static str,
    /// The components.
    pub(crate) parts: &'static [&'static str],
    /// Requirement for a change.
    pub standing: Standing,
    /// Tier of the name.
    pub tier: Tier,
    /// True if it also counts in directories into which package managers unpack what others publish.
    pub in_stores: bool,
    /// Action of a tool outside.
    pub because: &'static str,
}

/// Requirement for changing a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// A setting that says so beforehand.
    Never,
    /// A person who agrees, or a setting.
    Ask,
}

/// Tier of a protected name: a tool acts on it, or it instructs an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// A program, which runs what it says or takes settings from it without asking.
    Acts,
    /// People and agents, who read it.
    Instructs,
}

/// Operation on a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A file is written or made.
    File,
    /// An empty directory is made.
    Directory,
    /// Something that was made elsewhere gets the name: by renaming, by a link of either kind. Also for a name that something
    /// loses.
    Placed,
}

/// In what a path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A directory with sources in it; a repository in it is called `.git`.
    Tree,
    /// The directory of a git repository itself.
    Repository,
}

/// Verdict on a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Free,
    /// It is protected.
    Kept(&'static ProtectedName),
    /// It is protected if the directory that its first `depth` components name is one of a git repository.
    KeptInRepository {
        /// Number of components.
        depth: usize,
        /// Why it is then.
        name: &'static ProtectedName,
    },
    /// It is protected if it makes its directory one of a git repository. One that is already may have it.
    KeptIfComplete(&'static ProtectedName),
    /// The pointer of a working tree to its repository: only what git itself would write there.
    Pointer(&'static ProtectedName),
    /// The pointer of a working tree's part of a repository to the rest: only what git itself would write there.
    Common(&'static ProtectedName),
    /// The settings of a repository: only settings that make nothing run.
    Settings(&'static ProtectedName),
}

/// The names that are protected.
///
/// There is no `Default`: all names are protected unless the caller leaves some out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// Names that are not.
    free: BTreeSet<&'static str>,
    /// True if names are protected that only instruct.
    instructing: bool,
}

impl Protected {
    /// Every name.
    #[must_use]
    pub const fn all() -> Self {
        Self { free: BTreeSet::new(), instructing: true }
    }

    /// Without those that only instruct.
    #[must_use]
    pub fn acting(self) -> Self {
        Self { instructing: false, ..self }
    }

    /// With those that only instruct.
    #[must_use]
    pub fn everything(self) -> Self {
        Self { instructing: true, ..self }
    }

    /// Leaves one out, by its name in the table. `false`: there is no such name.
    #[must_use]
    pub fn leave_out(&mut self, name: &str) -> bool {
        let row = ROWS.iter().find(|row| row.name == name.trim_end_matches('/'));
        self.free.extend(row.map(|row| row.name));
        row.is_some()
    }

    /// The names of the table, each with its reason.
    pub fn names() -> impl Iterator<Item = &'static ProtectedName> {
        ROWS.iter()
    }

    /// The names that are protected in a plain directory and that are one or two plain components: where to look for what
    /// exists already.
    pub fn in_tree(&self) -> impl Iterator<Item = &'static ProtectedName> + use<'_> {
        ROWS.iter().filter(|row| !is_of_git(row) && self.holds(row))
    }

    /// Returns the names that stay protected in the directory of a repository, by their paths in it. Settings are
    /// not among them: git changes them itself.
    pub fn in_repository(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        let held = ROWS.iter().filter(|row| self.holds(row));
        held.filter_map(|row| row.name.strip_prefix(".git/"))
            .filter(|name| !["config", "modules"].contains(name) && !UNFINISHED.contains(name))
    }

    /// The row of a path that belongs to what git has not finished: a rebase, a series of picks, patches to apply.
    ///
    /// A command in a jail may write it where [`judge`](Self::judge) says so, because git does; what would make git run a program is
    /// taken out when the command has ended. Where that does not happen, the path is as protected as any other.
    #[must_use]
    pub fn unfinished(&self, ground: Ground, path: &Path) -> Option<&'static ProtectedName> {
        let parts: Vec<_> = path.components().map(|part| part.as_os_str().as_bytes()).collect();
        let below = match ground {
            Ground::Repository => 0,
            Ground::Tree => parts.iter().position(|part| same(part, b".git"))? + 1,
        };
        unfinished(&parts[below..]).filter(|row| self.holds(row))
    }

    /// Judges a path below the top of its ground. The path is plain: no `.` or `..`, not absolute.
    #[must_use]
    pub fn judge(&self, ground: Ground, path: &Path, act: Act) -> Verdict {
        judge(ground, path, act, |row| self.holds(row))
    }

    /// Returns true if only the names of git count at a path and below it: in a repository, and where package managers
    /// unpack. Files made there were not held to the rest of the table.
    #[must_use]
    pub fn is_exempt(ground: Ground, path: &Path) -> bool {
        let lax = |part: &[u8]| same(part, b".git") || is(part, STORES);
        let mut parts = path.components();
        ground == Ground::Repository || parts.any(|part| lax(part.as_os_str().as_bytes()))
    }

    /// Returns true if a path lies among the repositories of submodules. Their tops cannot be seen, so a directory that is
    /// moved there could bring any of its names along.
    #[must_use]
    pub fn is_in_modules(ground: Ground, path: &Path) -> bool {
        let parts = parts(path);
        let top = match ground {
            Ground::Repository => Some(0),
            Ground::Tree => parts.iter().position(|part| same(part, b".git")).map(|at| at + 1),
        };
        top.is_some_and(|top| {
            parts.get(top).is_some_and(|part| is(part, &["modules"])) && parts.len() > top + 1
        })
    }

    /// Returns true if a row is not protected because it only instructs.
    fn only_tells(&self, row: &ProtectedName) -> bool {
        !self.instructing && row.tier == Tier::Instructs && !self.free.contains(row.name)
    }

    fn holds(&self, row: &ProtectedName) -> bool {
        !self.free.contains(row.name) && (self.instructing || row.tier == Tier::Acts)
    }
}

/// Judges a path by the rows that count. A name below another one is judged by itself, too, where that one does not count.
fn judge(ground: Ground, path: &Path, act: Act, counts: impl Fn(&ProtectedName) -> bool) -> Verdict {
    let parts = parts(path);
    let verdict = match ground {
        Ground::Repository => in_repository(&parts, act),
        Ground::Tree => in_tree(&parts, act, &counts),
    };
    if verdict.row().is_some_and(counts) { verdict } else { Verdict::Free }
}

impl Verdict {
    fn row(self) -> Option<&'static ProtectedName> {
        match self {
            Self::Free => None,
            Self::Kept(row)
            | Self::KeptInRepository { name: row, .. }
            | Self::KeptIfComplete(row)
            | Self::Pointer(row)
            | Self::Common(row)
            | Self::Settings(row) => Some(row),
        }
    }
}

/// The components of a plain path.
fn parts(path: &Path) -> Vec<&[u8]> {
    let normal = |part| if let Component::Normal(part) = part { Some(part.as_bytes()) } else { None };
    path.components().filter_map(normal).collect()
}

fn in_tree(parts: &[&[u8]], act: Act, counts: &impl Fn(&ProtectedName) -> bool) -> Verdict {
    if let Some(at) = parts.iter().position(|part| same(part, b".git")) {
        let below = &parts[at + 1..];
        let seen = at <= UNFINISHED_DEPTH && !parts[..at].iter().any(|part| is(part, STORES));
        if let Some(row) = unfinished(below).filter(|_| !seen) {
            return Verdict::Kept(row);
        }
        return match (below, act) {
            ([], Act::File) => kept(".git", Verdict::Pointer),
            // An empty one has nothing in it that git would run, and gets nothing.
            ([], Act::Directory) => Verdict::Free,
            ([], Act::Placed) => kept(".git", Verdict::Kept),
            (below, act) => in_repository(below, act),
        };
    }
    let store = parts.iter().position(|part| is(part, STORES));
    let outside = &parts[..store.unwrap_or(parts.len())];
    // Programs act on files. An empty directory is none, and git makes it before it checks out what lies in it.
    let named =
        (act != Act::Directory).then(|| (0..outside.len()).find_map(|at| from(&outside[at..], act, counts)));
    let named = named.flatten();
    named.map_or_else(|| bare(parts, act), Verdict::Kept)
}

fn is_of_git(row: &ProtectedName) -> bool {
    row.in_stores
}

/// The row whose name a path begins with; or, if something made elsewhere is put there, a row whose name begins with the path.
fn from(
    parts: &[&[u8]],
    act: Act,
    counts: &impl Fn(&ProtectedName) -> bool,
) -> Option<&'static ProtectedName> {
    let first = *parts.first()?;
    let fitting = |row: &&ProtectedName| {
        let whole = parts.len() >= row.parts.len();
        (whole || act == Act::Placed) && fits(row.parts, parts) && counts(row)
    };
    let ends = ENDS.iter().filter(|(end, _)| {
        first.len() >= end.len() && same(&first[first.len() - end.len()..], end.as_bytes())
    });
    let by_end = || ends.map(|(_, row)| &ROWS[*row]).find(fitting);
    if !BEGINS[usize::from(*first.first()?)] {
        return by_end();
    }
    let folded = |name: &str| name.bytes().cmp(first.iter().map(u8::to_ascii_lowercase));
    let exact = EXACT.binary_search_by(|(name, _)| folded(name)).ok().map_or([].as_slice(), |at| EXACT[at].1);
    let starts = STARTS.iter().filter(|(start, _)| begins(first, start)).map(|(_, row)| row);
    exact.iter().chain(starts).map(|row| &ROWS[*row]).find(fitting).or_else(by_end)
}

/// Which bytes a row begins with: nearly every name is told by its first one.
const BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut at = 0;
    while at < EXACT.len() {
        let byte = EXACT[at].0.as_bytes()[0];
        begins[byte as usize] = true;
        begins[byte.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    at = 0;
    while at < STARTS.len() {
        let byte = STARTS[at].0.as_bytes()[0];
        begins[byte as usize] = true;
        begins[byte.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    begins
};

/// Returns the components missing from a path to the name of a row; `None` if the path does not end with a beginning of it.
fn rest_of(row: &ProtectedName, parts: &[&[u8]]) -> Option<&'static [&'static str]> {
    let ends_with = |count: &usize| {
        let end = parts.len().checked_sub(*count).map(|start| &parts[start..]);
        end.is_some_and(|end| fits(&row.parts[..*count], end))
    };
    (1..row.parts.len()).find(ends_with).map(|count| &row.parts[count..])
}

/// Returns true if components fit names, as far as there are both.
fn fits(names: &[&str], parts: &[&[u8]]) -> bool {
    names.iter().zip(parts).all(|(name, part)| match (name.strip_suffix('*'), name.strip_prefix('*')) {
        (Some(start), _) => begins(part, start),
        (_, Some(end)) => part.len() >= end.len() && same(&part[part.len() - end.len()..], end.as_bytes()),
        _ => same(part, name.as_bytes()),
    })
}

fn begins(part: &[u8], start: &str) -> bool {
    part.len() >= start.len() && same(&part[..start.len()], start.as_bytes())
}

fn same(part: &[u8], name: &[u8]) -> bool {
    part.eq_ignore_ascii_case(name)
}

/// A repository without a working tree may lie anywhere, under any name.
fn bare(parts: &[&[u8]], act: Act) -> Verdict {
    let first = (0..parts.len()).find_map(|at| Some((at, of_bare(&parts[at..], act)?)));
    match (first, parts.last()) {
        (Some((depth, name)), _) => Verdict::KeptInRepository { depth, name },
        (None, Some(last)) if is(last, MAKES_REPOSITORY) => kept(".git", Verdict::KeptIfComplete),
        (None, _) => Verdict::Free,
    }
}

/// The names that make a directory one of a repository: see [`is_repository`].
const MAKES_REPOSITORY: &[&str] = &["HEAD", "objects", "refs", "commondir"];

/// The row of a name in a repository without a working tree, by its path below the top of the repository. A directory with
/// content that is moved there brings the names below it along.
fn of_bare(parts: &[&[u8]], act: Act) -> Option<&'static ProtectedName> {
    let above = |row: &&ProtectedName| act == Act::Placed && fits(&row.parts[1..], parts);
    let is_tree = matches!(parts, [top] | [top, _] if act == Act::Placed && is(top, &["worktrees"]));
    let tree = || ROWS.iter().find(|row| is_tree && row.name == ".git");
    of_repository(parts).or_else(|| git_rows().find(above)).or_else(tree)
}

fn is(part: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| same(part, name.as_bytes()))
}

/// A path below the directory of a repository.
fn in_repository(parts: &[&[u8]], act: Act) -> Verdict {
    match parts {
        [] => kept(".git", Verdict::Kept),
        // The directory of all working trees is none itself.
        [top, last] if act != Act::Placed && is(top, &["worktrees"]) && is(last, MAKES_REPOSITORY) => {
            kept(".git", Verdict::KeptIfComplete)
        }
        [top, _, rest @ ..] if is(top, &["worktrees"]) => in_worktree(rest, act),
        [top, rest @ ..] if is(top, &["modules"]) => in_module(rest, act),
        [top] if is(top, &["config"]) => kept(".git/config", Verdict::Settings),
        [top] if act == Act::Placed && is(top, &["worktrees", "info", "objects"]) => {
            kept(".git", Verdict::Kept)
        }
        [first, second] if act == Act::Placed && is(first, &["objects"]) && is(second, &["info"]) => {
            kept(".git/objects/info/alternates", Verdict::Kept)
        }
        // Templates that git puts into a new repository and never runs.
        [top] if act == Act::Directory && is(top, TEMPLATE_DIRECTORIES) => Verdict::Free,
        [top, name] if act == Act::File && is(top, &["hooks"]) && name.ends_with(b".sample") => Verdict::Free,
        // Entries at the top of every repository.
        [top] if is(top, &["HEAD", "objects", "refs"]) => Verdict::Free,
        parts => of_repository(parts).map_or_else(|| inner(parts), Verdict::Kept),
    }
}

/// Protected directories that git makes empty in a new repository: older versions make `branches`.
const TEMPLATE_DIRECTORIES: &[&str] = &["hooks", "branches", "remotes"];

/// Somewhere inside a repository, where a second one could be put together.
fn inner(parts: &[&[u8]]) -> Verdict {
    match parts.last() {
        Some(last) if parts.len() > 1 && is(last, MAKES_REPOSITORY) => kept(".git", Verdict::KeptIfComplete),
        _ => Verdict::Free,
    }
}

fn in_worktree(rest: &[&[u8]], act: Act) -> Verdict {
    match rest {
        // A directory with everything in it could be put there.
        [] if act == Act::Placed => kept(".git", Verdict::Kept),
        [name] if is(name, &["commondir"]) => kept(".git/commondir", Verdict::Common),
        [] => Verdict::Free,
        [name] if is(name, &["HEAD", "refs", "gitdir"]) => Verdict::Free,
        rest => of_repository(rest).map_or_else(|| inner(rest), Verdict::Kept),
    }
}

/// Repositories of submodules have names of several parts, so that where one begins cannot be seen.
fn in_module(rest: &[&[u8]], act: Act) -> Verdict {
    let inner_part =
        |part: &&[u8]| is(part, &["refs", "logs", "objects", "rebase-merge", "rebase-apply", "lfs"]);
    let end = rest.iter().position(inner_part).unwrap_or(rest.len());
    let alternates = of_repository(&rest[end..]);
    let named = (0..end).find_map(|at| of_repository(&rest[at..end]));
    match (named.or(alternates), rest) {
        (Some(_), [above @ .., last])
            if act == Act::Directory
                && is(last, TEMPLATE_DIRECTORIES)
                && (0..above.len()).all(|at| of_repository(&above[at..]).is_none()) =>
        {
            Verdict::Free
        }
        (Some(row), [.., _, last]) if row.name == ".git/config" && is(last, &["config"]) => {
            Verdict::Settings(row)
        }
        (Some(row), _) => Verdict::Kept(row),
        (None, [.., last]) if is(last, MAKES_REPOSITORY) => kept(".git/modules", Verdict::KeptIfComplete),
        (None, []) => kept(".git/modules", Verdict::Kept),
        (None, _) if act == Act::Placed && end == rest.len() && rest.len() == 1 => {
            kept(".git/modules", Verdict::Kept)
        }
        _ => Verdict::Free,
    }
}

/// Finds the entry of a repository that makes git run or read something, by the path below its top.
fn of_repository(parts: &[&[u8]]) -> Option<&'static ProtectedName> {
    let first = parts.first()?.first()?;
    if !b"bchior".contains(&first.to_ascii_lowercase()) {
        return None;
    }
    git_rows().find(|row| {
        let names = &row.parts[1..];
        parts.len() >= names.len() && fits(names, parts)
    })
}

/// Finds an unfinished operation of git, by the path below the top of a repository.
fn unfinished(parts: &[&[u8]]) -> Option<&'static ProtectedName> {
    let parts = match parts {
        [top, rest @ ..] if is(top, &["modules"]) => rest,
        [top, _, name, ..] if is(top, &["worktrees"]) => std::slice::from_ref(name),
        [name, ..] => std::slice::from_ref(name),
        [] => &[],
    };
    let name = parts.iter().find_map(|part| UNFINISHED.iter().find(|name| same(part, name.as_bytes())))?;
    ROWS.iter().find(|row| row.name.strip_prefix(".git/") == Some(name))
}

/// Directories of a repository in which git keeps what it has not finished.
pub const UNFINISHED: &[&str] = &["rebase-merge", "rebase-apply", "sequencer"];

/// A repository whose working tree lies further down in a tree than this is not looked at when a command has ended, and neither is
/// one in a directory of packages: nothing can be left unfinished there.
pub const UNFINISHED_DEPTH: usize = 2;

/// The rows of names below the top of a repository, without those that have rules of their own.
fn git_rows() -> impl Iterator<Item = &'static ProtectedName> {
    let rows = ROWS.iter().take_while(|row| is_of_git(row)).filter(|row| row.parts.len() > 1);
    rows.filter(|row| row.name != ".git/modules" && !UNFINISHED.contains(&row.parts[1]))
}

/// Returns true if git takes a directory for one of a repository, by who can say what it has.
pub fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

fn kept(name: &str, verdict: impl Fn(&'static ProtectedName) -> Verdict) -> Verdict {
    ROWS.iter().find(|row| row.name == name).map_or(Verdict::Free, verdict)
}

#[cfg(test)]
mod tests;
