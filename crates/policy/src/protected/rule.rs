//! The one predicate: whether a name is protected, given what lies around it on disk.
//!
//! The notify supervisor asks it before a name is made, the overlay when a change is reviewed. Both only say what the disk
//! has, so that they cannot disagree about the rest.

use std::path::{Path, PathBuf};

use super::{
    Act, Ground, MAKES_REPOSITORY, Protected, ProtectedName, ROWS, Verdict, is, is_repository, judge,
    of_bare, parts, rest_of, same,
};

/// Says what lies on disk. Directories are given by their paths below the top of the ground.
pub trait Surroundings {
    /// Returns true if a directory has a name in it. What cannot be looked at counts as there.
    fn has(&self, directory: &Path, name: &str) -> bool;

    /// Returns true if a directory certainly was one of a repository before the change that is judged, even if it is none
    /// any more. Such a one may be completed again.
    fn was_repository(&self, directory: &Path) -> bool;
}

/// Ruling on an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// It may.
    Free,
    /// It may, and is told: people and agents read it.
    Told(&'static ProtectedName),
    /// It may not.
    Refused(&'static ProtectedName),
    /// The pointer of a working tree to its repository: only what git itself would write there.
    Pointer(&'static ProtectedName),
    /// The pointer of a working tree's part of a repository to the rest: only what git itself would write there.
    Common(&'static ProtectedName),
    /// The settings of a repository: only settings that make nothing run.
    Settings(&'static ProtectedName),
}

impl Ruling {
    /// The protected name that is touched and may not be.
    #[must_use]
    pub const fn name(self) -> Option<&'static ProtectedName> {
        match self {
            Self::Free | Self::Told(_) => None,
            Self::Refused(name) | Self::Pointer(name) | Self::Common(name) | Self::Settings(name) => {
                Some(name)
            }
        }
    }
}

impl Protected {
    /// Judges a path below the top of its ground to the end. The path is plain: no `.` or `..`, not absolute.
    #[must_use]
    pub fn rule(&self, ground: Ground, path: &Path, act: Act, disk: &impl Surroundings) -> Ruling {
        let mut verdict = self.judge(ground, path, act);
        if let (Verdict::Kept(row), Act::Placed) = (verdict, act)
            && !row.in_stores
            && !matches!(self.judge(ground, path, Act::File), Verdict::Kept(_))
            && !self.brings(path, disk)
        {
            verdict = Verdict::Free;
        }
        match verdict {
            Verdict::Kept(name) => Ruling::Refused(name),
            Verdict::Pointer(name) => Ruling::Pointer(name),
            Verdict::Common(name) => Ruling::Common(name),
            Verdict::Settings(name) => Ruling::Settings(name),
            Verdict::Free | Verdict::KeptInRepository { .. } | Verdict::KeptIfComplete(_) => {
                let parts = parts(path);
                let inside = in_repository(&parts, ground, act).filter(|(_, name)| self.holds(name));
                let mut inside = inside.filter(|(depth, _)| is_one(&above(&parts, *depth), disk));
                let completing =
                    || (verdict != Verdict::Free).then(|| self.completing(&parts, disk)).flatten();
                if let Some(row) = self.common(&parts, act, disk) {
                    return Ruling::Common(row);
                }
                let itself = || (act == Act::Placed).then(|| self.moving(&parts, path, disk)).flatten();
                let name = inside.next().map(|(_, name)| name).or_else(completing).or_else(itself);
                let told = || judge(ground, path, act, |row| self.only_tells(row)).row();
                name.map_or_else(|| told().map_or(Ruling::Free, Ruling::Told), Ruling::Refused)
            }
        }
    }

    /// The row of the pointer that a new working tree of a repository of any name gets.
    fn common(&self, parts: &[&[u8]], act: Act, disk: &impl Surroundings) -> Option<&'static ProtectedName> {
        let [.., trees, _, last] = parts else { return None };
        let is_pointer = act == Act::File && is(trees, &["worktrees"]) && is(last, &["commondir"]);
        let row = ROWS.iter().find(|row| row.name == ".git/commondir" && self.holds(row))?;
        (is_pointer && is_one(&above(parts, parts.len() - 3), disk)).then_some(row)
    }

    /// Returns true if a directory has a protected name in it that begins with its own. One that cannot be read has.
    fn brings(&self, path: &Path, disk: &impl Surroundings) -> bool {
        let parts = parts(path);
        let rows = ROWS.iter().filter(|row| !row.in_stores && self.holds(row));
        let mut rests = rows.filter_map(|row| rest_of(row, &parts));
        rests.any(|rest| match rest {
            [name] if !name.contains('*') => disk.has(path, name),
            // Deeper entries are not searched.
            [first, _, ..] if !first.contains('*') => disk.has(path, first),
            _ => true,
        })
    }

    /// The row that keeps a repository of any name where it is.
    fn moving(
        &self,
        parts: &[&[u8]],
        path: &Path,
        disk: &impl Surroundings,
    ) -> Option<&'static ProtectedName> {
        let row = of_git().filter(|row| self.holds(row) && !parts.is_empty())?;
        disk.was_repository(path).then_some(row)
    }

    /// The outermost repository that a path lies in, by the number of its components below the top of the ground, and the row that
    /// protects it from symbolic links. Git makes none there, and writes through those that it finds.
    #[must_use]
    pub fn repository_around(
        &self,
        ground: Ground,
        path: &Path,
        disk: &impl Surroundings,
    ) -> Option<(usize, &'static ProtectedName)> {
        let row = of_git().filter(|row| self.holds(row))?;
        let parts = parts(path);
        let by_name = match ground {
            Ground::Repository => Some(0),
            Ground::Tree => parts.iter().position(|part| same(part, b".git")).map(|at| at + 1),
        };
        let by_name = by_name.filter(|depth| *depth < parts.len());
        let mut before = 0..by_name.unwrap_or(parts.len());
        let depth = before.find(|depth| is_one(&above(&parts, *depth), disk)).or(by_name)?;
        Some((depth, row))
    }

    /// The row that protects a name which makes its directory one of a repository.
    fn completing(&self, parts: &[&[u8]], disk: &impl Surroundings) -> Option<&'static ProtectedName> {
        let last = parts.last().filter(|last| is(last, MAKES_REPOSITORY))?;
        let directory = above(parts, parts.len() - 1);
        let has = |name: &str| same(last, name.as_bytes()) || disk.has(&directory, name);
        let completes = !disk.was_repository(&directory) && is_repository(has);
        of_git().filter(|row| completes && self.holds(row))
    }
}

/// Every directory above a name that would protect it if it were one of a repository: how many components it has, and the row.
/// An entry right in a directory called `.git` is judged by its text alone.
pub(super) fn in_repository<'a>(
    parts: &'a [&'a [u8]],
    ground: Ground,
    act: Act,
) -> impl Iterator<Item = (usize, &'static ProtectedName)> + 'a {
    let start = match ground {
        Ground::Repository => 1,
        Ground::Tree => parts.iter().position(|part| same(part, b".git")).map_or(0, |at| at + 2),
    };
    (start..parts.len()).filter_map(move |depth| Some((depth, of_bare(&parts[depth..], act)?)))
}

/// The row of a repository itself.
fn of_git() -> Option<&'static ProtectedName> {
    ROWS.iter().find(|row| row.name == ".git")
}

fn is_one(directory: &Path, disk: &impl Surroundings) -> bool {
    disk.was_repository(directory) || is_repository(|name| disk.has(directory, name))
}

/// The directory that the first components name.
fn above(parts: &[&[u8]], depth: usize) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    parts[..depth].iter().map(|part| std::ffi::OsStr::from_bytes(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names on a disk, each by its path.
    struct Disk(&'static [&'static str], &'static [&'static str]);

    impl Surroundings for Disk {
        fn has(&self, directory: &Path, name: &str) -> bool {
            self.0.iter().any(|path| Path::new(path) == directory.join(name))
        }

        fn was_repository(&self, directory: &Path) -> bool {
            self.1.iter().any(|path| Path::new(path) == directory)
        }
    }

    const WHOLE: Disk = Disk(&["b/HEAD", "b/objects", "b/refs"], &["b"]);
    const ALL_BUT_REFS: Disk = Disk(&["b/HEAD", "b/objects"], &[]);
    const BROKEN: Disk = Disk(&["b/config"], &["b"]);
    const BELOW_HOOKS: Disk = Disk(&["hooks/b/HEAD", "hooks/b/objects", "hooks/b/refs"], &[]);
    const PART_BELOW_HOOKS: Disk = Disk(&["hooks/HEAD", "hooks/objects"], &[]);
    const TOOLS: Disk = Disk(&["tools/x", "a/tools/bazel", ".github/workflows"], &[]);
    const IN_GIT: Disk = Disk(&[".git/x/HEAD", ".git/x/objects", ".git/x/refs"], &[]);

    #[test]
    fn names_that_instruct_are_told_or_refused() {
        let row = |path: &str, protected: &Protected| match protected.rule(
            Ground::Tree,
            Path::new(path),
            Act::File,
            &WHOLE,
        ) {
            Ruling::Told(row) => format!("told {}", row.name),
            Ruling::Refused(row) => format!("refused {}", row.name),
            _ => "free".to_owned(),
        };
        let acting = Protected::all().acting();
        let mut without = acting.clone();
        assert!(without.leave_out("CLAUDE.md"));
        assert_eq!(row("a/CLAUDE.md", &acting), "told CLAUDE.md");
        assert_eq!(row("a/CLAUDE.md", &Protected::all()), "refused CLAUDE.md");
        assert_eq!(row("a/CLAUDE.md", &without), "free");
        assert_eq!(row(".github/workflows/a.yml", &acting), "told .github/workflows");
        assert_eq!(row(".vscode/tasks.json", &acting), "refused .vscode");
        assert_eq!(row("b/config", &acting), "refused .git/config");
        // A name below one that only instructs, or that is left out.
        for protected in [&acting, &without] {
            for path in
                ["CLAUDE.md/.envrc", ".github/workflows/.vscode/tasks.json", "a/CLAUDE.md/b/.claude/x"]
            {
                assert!(row(path, protected).starts_with("refused"), "{path}");
            }
        }
    }

    #[test]
    fn names_depend_on_what_lies_around_them() {
        let rows: [(&Disk, &str, Act, bool); 43] = [
            (&TOOLS, "tools", Act::Placed, false),
            (&TOOLS, "a/tools", Act::Placed, true),
            (&TOOLS, "tools/bazel", Act::Placed, true),
            (&TOOLS, "tools/bazel/tools", Act::Placed, true),
            (&TOOLS, ".github", Act::Placed, true),
            (&TOOLS, ".hg", Act::Placed, true),
            (&TOOLS, ".cargo", Act::Placed, false),
            (&WHOLE, "b/config", Act::File, true),
            (&WHOLE, "b/HEAD", Act::File, false),
            (&WHOLE, "b/commondir", Act::File, true),
            (&WHOLE, "B/commondir", Act::File, false),
            (&WHOLE, "b/COMMONDIR", Act::File, true),
            (&WHOLE, "b/info", Act::Directory, false),
            (&WHOLE, "b/info", Act::Placed, true),
            (&WHOLE, "b/objects", Act::Placed, true),
            (&WHOLE, "b/objects/info", Act::Placed, true),
            (&WHOLE, "b/objects/ab", Act::Placed, false),
            (&WHOLE, "c/config", Act::File, false),
            (&ALL_BUT_REFS, "b/config", Act::File, false),
            (&ALL_BUT_REFS, "b/refs", Act::File, true),
            (&ALL_BUT_REFS, "b/commondir", Act::File, true),
            (&ALL_BUT_REFS, "b/index", Act::File, false),
            (&BROKEN, "b/config", Act::File, true),
            (&BROKEN, "b/commondir", Act::Placed, true),
            (&BROKEN, "b/hooks/update", Act::File, true),
            (&BROKEN, "b/refs", Act::Directory, false),
            (&WHOLE, "b/remotes/origin", Act::File, true),
            (&WHOLE, "b/branches/origin", Act::File, true),
            (&WHOLE, "c/branches/origin", Act::File, false),
            // A second repository below a name of the first.
            (&BELOW_HOOKS, "hooks/b/config", Act::File, true),
            (&BELOW_HOOKS, "hooks/c/config", Act::File, false),
            (&PART_BELOW_HOOKS, "hooks/refs", Act::Directory, true),
            (&IN_GIT, ".git/x/config", Act::File, true),
            (&IN_GIT, ".git/y/config", Act::File, false),
            (&IN_GIT, ".git/hooks/a.sample", Act::File, false),
            (&IN_GIT, ".git/x/y", Act::File, false),
            (&WHOLE, "b/worktrees", Act::Placed, true),
            (&WHOLE, "b/worktrees/x", Act::Placed, true),
            (&WHOLE, "b/worktrees/x", Act::Directory, false),
            (&WHOLE, "b/worktrees/x/y", Act::Placed, false),
            (&WHOLE, "c/worktrees/x", Act::Placed, false),
            (&WHOLE, "b", Act::Placed, true),
            (&BROKEN, "b", Act::Placed, true),
        ];
        for (disk, path, act, refused) in rows {
            let ruling = Protected::all().rule(Ground::Tree, Path::new(path), act, disk);
            assert_eq!(matches!(ruling, Ruling::Refused(_)), refused, "{path} {act:?}");
        }
    }

    #[test]
    fn the_outermost_repository_around_a_path_is_found() {
        let rows: [(&Disk, Ground, &str, Option<usize>); 12] = [
            (&WHOLE, Ground::Tree, "b/x", Some(1)),
            (&WHOLE, Ground::Tree, "b/x/.git/y", Some(1)),
            (&WHOLE, Ground::Tree, "b", None),
            (&WHOLE, Ground::Tree, "c/x", None),
            (&BROKEN, Ground::Tree, "b/refs/heads/x", Some(1)),
            (&IN_GIT, Ground::Tree, ".git/x/y", Some(1)),
            (&IN_GIT, Ground::Tree, "a/.GIT/index", Some(2)),
            (&IN_GIT, Ground::Tree, "node_modules/a/.git/index", Some(3)),
            (&IN_GIT, Ground::Tree, "a/.git", None),
            (&IN_GIT, Ground::Tree, "a", None),
            (&IN_GIT, Ground::Repository, "a", Some(0)),
            (&IN_GIT, Ground::Repository, "", None),
        ];
        for (disk, ground, path, expected) in rows {
            let found = Protected::all().repository_around(ground, Path::new(path), disk);
            assert_eq!(found.map(|(depth, _)| depth), expected, "{path}");
        }
        let mut without = Protected::all();
        assert!(without.leave_out(".git"));
        assert_eq!(without.repository_around(Ground::Tree, Path::new(".git/index"), &WHOLE), None);
    }
}
