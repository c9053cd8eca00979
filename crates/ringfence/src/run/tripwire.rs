//! The tripwire: finds protected names that changed while a command ran.
//!
//! It decides nothing. The jail keeps these names; this is how a person learns of it if it ever does not. What the jail itself has let
//! through, and says so, is no surprise.

mod before;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jail::{Mode, ProtectedWrite, RemovedInstruction, Repository, Spec, WriteResult, repository};
use policy::{Act, GitSetting, Ground, Protected, ProtectedName, Surroundings, Verdict, git_settings};
use rustix::fs::OFlags;

use self::before::Before;
pub use self::before::Change;

/// State of protected names before a command runs.
pub struct Tripwire {
    /// Directories in which the command may change something of the host.
    tops: Vec<(PathBuf, Ground)>,
    protected: Protected,
    /// A moment before it starts.
    start: (i64, i64),
    /// State before the command.
    before: Before,
    /// The settings of the repositories at the top.
    settings: Vec<(PathBuf, Option<Vec<GitSetting>>)>,
}

/// Protected names that changed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TripwireHits {
    /// Paths, each with the reason to look at it.
    pub hits: Vec<(PathBuf, String)>,
    /// True if the tree was too large to look at all of it.
    pub cut: bool,
}

impl Tripwire {
    /// Captures the state before the command starts.
    #[must_use]
    pub fn set(spec: &Spec) -> Self {
        let writable = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
        let ground = |path: &PathBuf| {
            if spec.repositories.contains(path) { Ground::Repository } else { Ground::Tree }
        };
        let tops: Vec<_> = writable.map(|view| (view.path.clone(), ground(&view.path))).collect();
        let config = |(top, ground): &(PathBuf, Ground)| match ground {
            Ground::Repository => top.join("config"),
            Ground::Tree => top.join(".git/config"),
        };
        let settings = tops.iter().map(config).map(|path| (path.clone(), settings(&path))).collect();
        let protected = spec.protected.clone();
        let before = Before::look(&tops);
        Self { tops, protected, start: lately(), before, settings }
    }

    /// Finds changed names. It takes a tenth of the time that the command took, and never long. What the jail says that it let through is left out.
    #[must_use]
    pub fn check(&self, ran: Duration, writes: &[ProtectedWrite]) -> TripwireHits {
        let time = if ran < SHORT { LEAST } else { (ran / 10).clamp(SHORT / 10, MOST) };
        let through = |write: &&ProtectedWrite| write.result != WriteResult::Withheld;
        let through = writes.iter().filter(through).map(|write| write.path.as_path()).collect();
        let (found, until) = (TripwireHits::default(), Instant::now() + time);
        let mut walk = Walk { wire: self, through, found, until, entries: 0 };
        walk.found.hits.extend(self.removed_settings());
        for (top, ground) in &self.tops {
            walk.top(top, *ground);
        }
        walk.found
    }

    /// Settings of the repositories at the top that are gone: git goes on without what they said.
    fn removed_settings(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let is_kept = |(top, ground): &(PathBuf, Ground), path: &Path| {
            let below = path.strip_prefix(top).unwrap_or(path);
            matches!(self.protected.judge(*ground, below, Act::File), Verdict::Settings(_))
        };
        let gone = |path: &Path| {
            path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        let known = self.tops.iter().zip(&self.settings).filter(|(_, (_, before))| before.is_some());
        let removed = known.filter(move |(top, (path, _))| is_kept(top, path) && gone(path));
        removed.map(|(_, (path, _))| (path.clone(), REMOVED.to_owned()))
    }

    /// Returns the change of a name that the command wrote.
    pub(crate) fn change(&self, path: &Path) -> Change {
        self.before.change(path)
    }

    /// Protected names at the top that are gone.
    pub(crate) fn removed(&self) -> Vec<(PathBuf, &'static ProtectedName)> {
        self.before.removed()
    }

    fn is_new(&self, path: &Path) -> bool {
        let changed = |found: fs::Metadata| {
            (found.ctime(), found.ctime_nsec()) >= self.start && !self.before.is_unchanged(path, &found)
        };
        path.symlink_metadata().is_ok_and(changed)
    }

    /// Returns true if settings differ: something else than what branches follow has changed, or, where they were not known, something
    /// in them runs.
    fn settings_differ(&self, path: &Path) -> bool {
        let now = settings(path);
        match self.settings.iter().find(|(known, before)| known == path && before.is_some()) {
            Some((_, before)) => !same_but_for_branches(before.as_deref(), now.as_deref()),
            None => now.is_none_or(|now| now.iter().any(runs)),
        }
    }
}

/// A moment that no later change is before: file systems take their times from a clock that moves in steps, or from a finer one.
fn lately() -> (i64, i64) {
    let now = rustix::time::clock_gettime(crate::sys::FILE_CLOCK);
    (now.tv_sec, now.tv_nsec)
}

/// Below this, a command is not made to wait.
const SHORT: Duration = Duration::from_millis(20);
const LEAST: Duration = Duration::from_micros(300);
const MOST: Duration = Duration::from_millis(300);
const MOST_ENTRIES: usize = 50_000;
/// One is enough to be alarmed.
const MOST_HITS: usize = 20;

const REMOVED: &str = "it was removed, and git goes on without the settings in it (hooks, signatures, remotes): restore it before you use git there";

struct Walk<'a> {
    wire: &'a Tripwire,
    /// Paths that the jail let through.
    through: Vec<&'a Path>,
    found: TripwireHits,
    until: Instant,
    entries: usize,
}

impl Walk<'_> {
    /// Looks at directories breadth-first: what lies further up comes first.
    fn top(&mut self, top: &Path, ground: Ground) {
        let mut left = VecDeque::from([PathBuf::new()]);
        while let Some(directory) = left.pop_front() {
            let Ok(entries) = fs::read_dir(top.join(&directory)) else { continue };
            for entry in entries.filter_map(Result::ok) {
                self.entries += 1;
                if self.is_over() {
                    self.found.cut = true;
                    return;
                }
                let below = directory.join(entry.file_name());
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                match self.hit(top, &below, ground) {
                    Some(why) => self.found.hits.push((top.join(&below), why)),
                    None if is_directory && !self.is_objects(top, &below, ground) => left.push_back(below),
                    None => {}
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.entries > MOST_ENTRIES
            || self.found.hits.len() >= MOST_HITS
            || self.entries.is_multiple_of(64) && Instant::now() > self.until
    }

    /// Returns the reason why a person should look at a path.
    fn hit(&self, top: &Path, below: &Path, ground: Ground) -> Option<String> {
        let verdict = self.wire.protected.judge(ground, below, Act::File);
        if verdict == Verdict::Free {
            return None;
        }
        let path = top.join(below);
        if !self.wire.is_new(&path) || self.through.iter().any(|through| through.starts_with(&path)) {
            return None;
        }
        let say = |row: &ProtectedName| Some(format!("`{}` is protected: {}", row.name, row.because));
        match verdict {
            // A directory that may be made is not what a tool would run; what lies in it is looked at by itself.
            Verdict::Kept(row) if !self.is_free_directory(&path, below, ground) => say(row),
            Verdict::Settings(row) if self.wire.settings_differ(&path) => say(row),
            Verdict::Pointer(row) if !path.is_dir() && !is_claimed(&path) => say(row),
            Verdict::Common(row) if text(&path).is_none_or(|text| text.trim_ascii_end() != b"../..") => {
                say(row)
            }
            Verdict::KeptInRepository { .. } | Verdict::KeptIfComplete(_) => {
                let disk = Afterwards { top, before: &self.wire.before };
                self.wire.protected.rule(ground, below, Act::File, &disk).name().and_then(say)
            }
            _ => None,
        }
    }

    fn is_free_directory(&self, path: &Path, below: &Path, ground: Ground) -> bool {
        let free = self.wire.protected.judge(ground, below, Act::Directory) == Verdict::Free;
        free && path.symlink_metadata().is_ok_and(|found| found.is_dir())
    }

    /// Git keeps contents there, very many of them, under names that are their hashes.
    fn is_objects(&self, top: &Path, below: &Path, ground: Ground) -> bool {
        let of_git = below.parent().is_some_and(|parent| parent.file_name() == Some(OsStr::new(".git")));
        let of_known =
            || below.parent().is_some_and(|parent| self.wire.before.was_repository(&top.join(parent)));
        let is = below.file_name() == Some(OsStr::new("objects"));
        is && (of_git || ground == Ground::Repository && below.components().count() == 1 || of_known())
    }
}

/// The disk below a directory, after the command has ended.
struct Afterwards<'a> {
    top: &'a Path,
    before: &'a Before,
}

impl Surroundings for Afterwards<'_> {
    fn has(&self, directory: &Path, name: &str) -> bool {
        self.top.join(directory).join(name).symlink_metadata().is_ok()
    }

    fn was_repository(&self, directory: &Path) -> bool {
        self.before.was_repository(&self.top.join(directory))
    }
}

/// Returns true if the repository that a pointer leads to knows its working tree.
fn is_claimed(pointer: &Path) -> bool {
    let found = pointer.parent().map(repository);
    match found {
        Some(Repository::Outside(_)) => true,
        Some(Repository::Inside(path)) => {
            path.ancestors().any(|path| path.file_name() == Some(OsStr::new(".git")))
        }
        _ => false,
    }
}

/// The text of a plain file that is not too long. Nothing is followed or waited for.
fn text(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty()).ok()?);
    let plain = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let mut text = Vec::new();
    (plain && file.take(LONGEST).read_to_end(&mut text).is_ok()).then_some(text)
}

const LONGEST: u64 = 1 << 20;

/// The settings of a file.
fn settings(path: &Path) -> Option<Vec<GitSetting>> {
    git_settings(&text(path)?).ok()
}

fn same_but_for_branches(before: Option<&[GitSetting]>, now: Option<&[GitSetting]>) -> bool {
    let rest = |settings: &[GitSetting]| {
        let mut rest: Vec<_> =
            settings.iter().filter(|setting| setting.section != "branch").cloned().collect();
        rest.sort_by(|a, b| (&a.section, &a.subsection, &a.key).cmp(&(&b.section, &b.subsection, &b.key)));
        rest
    };
    before.map(rest) == now.map(rest)
}

fn runs(setting: &GitSetting) -> bool {
    let names = ["core.hookspath", "core.attributesfile", "core.worktree"];
    setting.is_command()
        || setting.section.starts_with("include")
        || names.iter().any(|name| setting.is(name))
}

impl TripwireHits {
    /// Adds instructions that were removed from unfinished operations of git.
    pub(crate) fn with(mut self, removed: Vec<RemovedInstruction>) -> Self {
        self.hits.extend(removed.into_iter().map(|removed| (removed.path, removed.reason)));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::Limits;
    use rustix::time::ClockId;

    /// A workspace with a wire, what is done to it, and what is found.
    fn sprung(before: &[(&str, &str)], after: &[(&str, &str)]) -> String {
        sprung_beside(before, after, &[])
    }

    /// The same, with what the jail says that it let through.
    fn sprung_beside(
        before: &[(&str, &str)],
        after: &[(&str, &str)],
        writes: &[(&str, WriteResult)],
    ) -> String {
        let stage = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(stage.path()).unwrap();
        let put = |files: &[(&str, &str)]| {
            for (path, text) in files {
                let path = top.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        };
        put(before);
        let spec = Spec::for_workspace(&top, Path::new("/home/me"), Limits::none());
        tick();
        let wire = Tripwire::set(&spec);
        put(after);
        let write = |(path, result): &(&str, WriteResult)| ProtectedWrite {
            path: top.join(path),
            name: Protected::names().next().unwrap(),
            result: *result,
        };
        let writes: Vec<_> = writes.iter().map(write).collect();
        let found = wire.check(Duration::from_secs(60), &writes);
        let mut paths: Vec<_> = found
            .hits
            .iter()
            .map(|(path, _)| path.strip_prefix(&top).unwrap().display().to_string())
            .collect();
        paths.sort();
        paths.join(" ")
    }

    /// Waits until what was made before is older than what is made now.
    fn tick() {
        let clock = || rustix::time::clock_gettime(ClockId::Realtime);
        let before = clock();
        let now = (before.tv_sec, before.tv_nsec);
        // A step later.
        while lately() <= now {
            std::thread::yield_now();
        }
    }

    const CONFIG: &str = "[core]\n\tbare = false\n";

    #[test]
    fn changes_to_protected_names_are_found() {
        let before = [(".envrc", "a"), ("src/.vscode/x", "a"), (".git/config", CONFIG), (".git/hooks/a", "")];
        let follows = format!("{CONFIG}[branch \"x\"]\n\tremote = origin\n");
        let elsewhere = format!("{CONFIG}[remote \"origin\"]\n\turl = https://example.org/\n");
        let rows: &[(&[(&str, &str)], &str)] = &[
            (&[("src/main.rs", "x"), ("target/debug/run", "x")], ""),
            (&[(".envrc", "b")], ".envrc"),
            (&[("a/b/c/.envrc", "b")], "a/b/c/.envrc"),
            (&[("src/.vscode/x", "b")], "src/.vscode/x"),
            (&[(".git/hooks/a", "b")], ".git/hooks/a"),
            (&[(".git/config", &follows)], ""),
            (&[(".git/config", &elsewhere)], ".git/config"),
            (&[("new/.git/config", CONFIG)], ""),
            (&[("new/.git/config", "[core]\nfsmonitor = x\n")], "new/.git/config"),
            (&[("x/HEAD", ""), ("x/config", "")], ""),
            (
                &[("x/HEAD", ""), ("x/objects/a", ""), ("x/refs/a", ""), ("x/config", "")],
                "x/HEAD x/config x/objects x/refs",
            ),
            (&[("tree/.git", "gitdir: ../x\n")], "tree/.git"),
        ];
        for (after, expected) in rows {
            assert_eq!(sprung(&before, after), *expected, "{after:?}");
        }
    }

    #[test]
    fn settings_that_are_gone_are_found() {
        let rows: &[(&[&str], &str, bool)] = &[
            (&[".git/config"], "", true),
            (&[".git/config", ".git/HEAD", ".git"], "", true),
            (&[".git/HEAD"], "", false),
            (&[".git/config"], ".git/config", false),
        ];
        for (removed, free, expected) in rows {
            let stage = tempfile::tempdir().unwrap();
            let top = fs::canonicalize(stage.path()).unwrap();
            fs::create_dir(top.join(".git")).unwrap();
            fs::write(top.join(".git/config"), CONFIG).unwrap();
            fs::write(top.join(".git/HEAD"), "").unwrap();
            let mut spec = Spec::for_workspace(&top, Path::new("/home/me"), Limits::none());
            assert_eq!(spec.protected.leave_out(free), !free.is_empty());
            let wire = Tripwire::set(&spec);
            for path in *removed {
                let path = top.join(path);
                if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }.unwrap();
            }
            let found = wire.check(Duration::from_secs(60), &[]).hits;
            let hit =
                found.iter().any(|(path, why)| *path == top.join(".git/config") && why.contains("removed"));
            assert_eq!(hit, *expected, "{removed:?} {free}: {found:?}");
        }
    }

    #[test]
    fn what_was_there_before_is_not_found() {
        let before =
            [(".envrc", "a"), ("x/HEAD", ""), ("x/objects/a", ""), ("x/refs/a", ""), ("x/config", "")];
        assert_eq!(sprung(&before, &[("a", "b")]), "");
    }

    #[test]
    fn what_the_jail_let_through_is_not_found() {
        use WriteResult::{Allowed, Known, Withheld};
        let after = [(".claude/commands/x.md", "a"), (".envrc", "a"), ("b/.envrc", "a")];
        let rows: &[(&[(&str, WriteResult)], &str)] = &[
            (&[], ".claude/commands/x.md .envrc b/.envrc"),
            (&[(".claude/commands/x.md", Allowed), (".envrc", Known)], "b/.envrc"),
            (
                &[(".claude/commands/y.md", Allowed), (".envrc", Withheld)],
                ".claude/commands/x.md .envrc b/.envrc",
            ),
        ];
        for (writes, expected) in rows {
            assert_eq!(sprung_beside(&[], &after, writes), *expected, "{writes:?}");
        }
    }

    /// Git rewrites `HEAD` and adds to `objects` and `refs` in every repository that it works in.
    #[test]
    fn git_at_work_in_repositories_that_were_there_is_not_found() {
        let bare = |top: &str| ["HEAD", "objects/a", "refs/a", "config"].map(|name| format!("{top}/{name}"));
        let rows = ["x.git", "deep/x.git", ".git/modules/sub", ".git/modules/libs/sub"];
        for top in rows {
            let names = bare(top);
            let before: Vec<_> = names.iter().map(|name| (name.as_str(), "a")).collect();
            let work = [format!("{top}/HEAD"), format!("{top}/objects/b"), format!("{top}/refs/b")];
            let after: Vec<_> = work.iter().map(|name| (name.as_str(), "b")).collect();
            assert_eq!(sprung(&before, &after), "", "{top}");
            // Settings are not git's daily work, and neither is a repository that comes to be.
            let config = format!("{top}/config");
            assert_eq!(sprung(&before, &[(config.as_str(), "b")]), config, "{top}");
            let part: Vec<_> = before.iter().filter(|(name, _)| !name.ends_with("HEAD")).copied().collect();
            let head = format!("{top}/HEAD");
            assert_eq!(sprung(&part, &[(head.as_str(), "b")]), head, "{top}");
        }
    }
}
