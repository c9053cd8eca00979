//! Places from which programs of the host execute something: never proposed to be written.
//!
//! A command that may write there chooses what the host runs next, outside the jail. A user can still write such a view into the
//! policy by hand.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use jail::toolchain::{Show, TOOLCHAINS};

use super::table::{
    EXECUTED, EXECUTED_AT_HOME, EXECUTED_BY_ROOT, EXECUTED_BY_VARIABLE, EXECUTED_WHOLE, Row, STORES,
};

/// The places of one machine and one user.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// Places that count with everything in them.
    places: BTreeMap<PathBuf, &'static str>,
    /// Places that count with everything in them but for `own`.
    wholes: BTreeMap<PathBuf, &'static str>,
    /// The caller's home directory and the workspace.
    own: Vec<PathBuf>,
}

/// Finds the places.
pub(crate) struct Finder<'a> {
    /// The real home directory.
    pub(crate) home: &'a Path,
    /// The real workspace.
    pub(crate) workspace: &'a Path,
    /// Files of Ringfence, there or not.
    pub(crate) own: &'a [PathBuf],
    /// True if the caller is root.
    pub(crate) root: bool,
    /// Variables of the caller.
    pub(crate) variables: &'a [(OsString, OsString)],
}

impl Executed {
    /// Why a path counts.
    pub(crate) fn reason(&self, path: &Path) -> Option<&'static str> {
        let place = path.ancestors().find_map(|above| self.places.get(above));
        let whole = || {
            let (whole, because) = path.ancestors().find_map(|above| self.wholes.get_key_value(above))?;
            let excepted = |own: &PathBuf| own.starts_with(whole) && path.starts_with(own);
            (!self.own.iter().any(excepted)).then_some(because)
        };
        place.or_else(whole).copied().or_else(|| self.hidden(path))
    }

    /// A place that counts and lies in a directory.
    pub(crate) fn within(&self, directory: &Path) -> Option<&Path> {
        [&self.places, &self.wholes].into_iter().find_map(|places| {
            let (path, _) = places.range(directory.to_owned()..).next()?;
            path.starts_with(directory).then_some(path.as_path())
        })
    }

    /// Hidden names of the home directory, where programs keep settings, plugins and packages.
    fn hidden(&self, path: &Path) -> Option<&'static str> {
        let below = path.strip_prefix(self.own.first()?).ok()?;
        is_hidden(below.components().next()?.as_os_str()).then_some(HIDDEN)
    }
}

const HIDDEN: &str = "programs of the host take settings and code from hidden names of the home directory";
const LINKED: &str = "a link in a place from which programs of the host execute leads to it";
const OWN: &str = "it belongs to Ringfence";
const TOOLCHAIN: &str = "a toolchain of the host runs or loads it";
/// More entries of one directory are not looked at.
const MOST_ENTRIES: usize = 8192;
/// Links are looked for so deep in hidden names, and among so many entries.
const DEPTH: usize = 3;
const MOST_HIDDEN: usize = 20_000;

impl Finder<'_> {
    /// Finds the places, with what links among them lead to.
    pub(crate) fn find(&self) -> Executed {
        let at_home = |rows: &'static [Row]| rows.iter().map(|row| (self.home.join(row.name), row.because));
        let absolute = |row: &'static Row| (PathBuf::from(row.name), row.because);
        let own = self.own.iter().map(|path| (path.clone(), OWN));
        // The first of several reasons is kept.
        let rows = EXECUTED.iter().map(absolute).chain(at_home(EXECUTED_AT_HOME)).chain(at_home(STORES));
        let rows: Vec<_> = rows.chain(self.toolchains()).chain(own).chain(self.by_variables()).collect();
        let mut places = BTreeMap::new();
        for (path, because) in &rows {
            let both = real(path).into_iter().chain([path.clone()]);
            both.for_each(|path| self.insert(&mut places, path, because));
        }
        let links = rows.iter().flat_map(|(path, _)| links(path)).chain(self.linked_from_hidden());
        links.for_each(|real| self.insert(&mut places, real, LINKED));
        let by_root = EXECUTED_BY_ROOT.iter().filter(|_| self.root);
        let wholes = EXECUTED_WHOLE.iter().chain(by_root).map(absolute).collect();
        Executed { places, wholes, own: vec![self.home.to_owned(), self.workspace.to_owned()] }
    }

    /// Of a place that holds the home directory or the workspace, only its files count: the rest would be everything.
    fn insert(&self, places: &mut BTreeMap<PathBuf, &'static str>, path: PathBuf, because: &'static str) {
        if !self.home.starts_with(&path) && !self.workspace.starts_with(&path) {
            places.entry(path).or_insert(because);
        } else if because != PREFIX {
            let files = entries(&path).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
            places.extend(files.map(|entry| (entry.path(), because)));
        }
    }

    /// Returns the targets of links in hidden names of the home directory: start-up files are often kept elsewhere and linked.
    fn linked_from_hidden(&self) -> Vec<PathBuf> {
        let (mut queue, mut found, mut seen) = (VecDeque::from([(self.home.to_owned(), 0)]), Vec::new(), 0);
        while let Some((directory, depth)) = queue.pop_front() {
            for entry in entries(&directory).filter(|entry| depth > 0 || is_hidden(&entry.file_name())) {
                seen += 1;
                let kind = entry.file_type().ok();
                if kind.is_some_and(|kind| kind.is_symlink()) {
                    found.extend(std::fs::canonicalize(entry.path()));
                } else if depth < DEPTH && seen < MOST_HIDDEN && kind.is_some_and(|kind| kind.is_dir()) {
                    queue.push_back((entry.path(), depth + 1));
                }
            }
        }
        found
    }

    /// Returns the paths of toolchains in the home directory, or where a variable says: programs, and packages that they load.
    fn toolchains(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        TOOLCHAINS.iter().flat_map(|toolchain| toolchain.dirs).flat_map(|dir| {
            let named = |(name, _): &&(OsString, OsString)| !dir.variable.is_empty() && name == dir.variable;
            let named = self.variables.iter().find(named).map(|(_, value)| PathBuf::from(value));
            let usual = (!dir.path.is_empty()).then(|| self.home.join(dir.path));
            let places: Vec<_> = named.filter(|path| path.is_absolute()).into_iter().chain(usual).collect();
            let run = dir.parts.iter().filter(|part| matches!(part.show, Show::Installed | Show::Cache));
            run.flat_map(move |part| {
                let paths: Vec<_> = places.iter().map(|place| place.join(part.path)).collect();
                paths.into_iter().map(|path| (path.components().collect(), TOOLCHAIN))
            })
        })
    }

    /// Returns the paths that variables of the caller name; of a directory for programs, what it was installed with as well.
    fn by_variables(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        EXECUTED_BY_VARIABLE.iter().flat_map(|row| {
            let mut set = self.variables.iter().filter(move |(name, _)| name == row.name);
            let value = set.next().map(|(_, value)| value.as_os_str()).unwrap_or_default();
            let paths: Vec<_> = std::env::split_paths(value).filter(|path| path.is_absolute()).collect();
            let prefixes = paths.clone().into_iter().filter(|path| row.name == "PATH" && is_bin(path));
            let prefixes =
                prefixes.filter_map(|path| Some(path.parent()?.to_owned())).map(|path| (path, PREFIX));
            paths.into_iter().map(|path| (path, row.because)).chain(prefixes)
        })
    }
}

const PREFIX: &str = "programs on the search path were installed with it";

fn is_bin(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "bin" || name == "sbin")
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") && name != ".cache"
}

fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().filter(|real| real != path)
}

/// Returns the targets of links in a directory.
fn links(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let links = entries(directory).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.filter_map(|entry| std::fs::canonicalize(entry.path()).ok())
}

fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(directory).into_iter().flatten().take(MOST_ENTRIES).filter_map(Result::ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const HOME: &str = "/nonexistent/home/me";
    const WORKSPACE: &str = "/nonexistent/ws";

    fn executed(root: bool, variables: &[(&str, &str)]) -> Executed {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        let own = ["/nonexistent/policy.toml".into()];
        let (home, workspace) = (Path::new(HOME), Path::new(WORKSPACE));
        Finder { home, workspace, own: &own, root, variables: &variables }.find()
    }

    /// Places that count, by path and caller: `r` for root, `u` for an ordinary user.
    #[test]
    fn places_that_count() {
        let variables = [
            ("PATH", "/nonexistent/tool/bin:relative:/nonexistent/plain:/nonexistent/ws/bin:/usr/bin"),
            ("PYTHONPATH", "/nonexistent/lib"),
            ("ZDOTDIR", "/nonexistent/zsh"),
        ];
        let rows = [
            ("/etc/cron.d/x", "ru"),
            ("/etc/anything", "ru"),
            ("/usr/share/x", "ru"),
            ("/usr/games/x", "ru"),
            ("/var/lib/x", "ru"),
            ("/var/other", "r"),
            ("/opt/x", "r"),
            ("/srv/x", "r"),
            ("/mnt/data", ""),
            ("/home/other/x", "ru"),
            ("/root/x", "ru"),
            ("/nonexistent/home/me/data", ""),
            ("/nonexistent/home/me/bin/x", "ru"),
            ("/nonexistent/home/me/.config/x", "ru"),
            ("/nonexistent/home/me/.anything", "ru"),
            ("/nonexistent/home/me/.cache/x", ""),
            ("/nonexistent/home/me/.cache/pip/x", "ru"),
            ("/nonexistent/home/me/go/pkg/mod/x", "ru"),
            ("/nonexistent/home/me/data/.config", ""),
            ("/nonexistent/tool/bin/x", "ru"),
            ("/nonexistent/tool/lib/x", "ru"),
            ("/nonexistent/tools", ""),
            ("/nonexistent/plain", "ru"),
            ("/nonexistent/ws/bin/x", "ru"),
            ("/nonexistent/ws/src", ""),
            ("/nonexistent/lib/x", "ru"),
            ("/nonexistent/zsh", "ru"),
            ("/nonexistent/policy.toml", "ru"),
        ];
        let (root, user) = (executed(true, &variables), executed(false, &variables));
        for (path, who) in rows {
            for (executed, letter) in [(&root, 'r'), (&user, 'u')] {
                let path = Path::new(path);
                assert_eq!(executed.reason(path).is_some(), who.contains(letter), "{path:?} {letter}");
            }
        }
        for (directory, holds) in [
            ("/nonexistent", true),
            ("/var/spool", true),
            ("/nonexistent/home/me/go", true),
            ("/nonexistent/home/me/go/src", false),
            ("/mnt", false),
        ] {
            assert_eq!(user.within(Path::new(directory)).is_some(), holds, "{directory}");
        }
    }

    /// Nothing of a toolchain is proposed to be written, also where a variable has moved it.
    #[test]
    fn toolchains_count() {
        let found = executed(false, &[("GOROOT", "/nonexistent/elsewhere/go"), ("GOCACHE", "relative")]);
        let parts = TOOLCHAINS.iter().flat_map(|toolchain| toolchain.dirs);
        let parts = parts.flat_map(|dir| dir.parts.iter().map(move |part| (dir, part)));
        for (dir, part) in parts.filter(|(dir, part)| !dir.path.is_empty() && part.show != Show::Never) {
            let path = Path::new(HOME).join(dir.path).join(part.path).join("x");
            assert!(found.reason(&path).is_some(), "{path:?}");
        }
        assert!(found.reason(Path::new("/nonexistent/elsewhere/go/bin/x")).is_some());
        assert!(found.reason(Path::new("/nonexistent/elsewhere/x")).is_none());
    }

    /// A home directory or a workspace in a place that counts as a whole is the caller's own all the same.
    #[test]
    fn what_is_the_callers_own_does_not_count() {
        let found = |home: &str, workspace: &str| {
            let (home, workspace) = (Path::new(home), Path::new(workspace));
            Finder { home, workspace, own: &[], root: true, variables: &[] }.find()
        };
        let found = found("/root", "/srv/app");
        for (path, counts) in [
            ("/root/data", false),
            ("/root/.bashrc", true),
            ("/srv/app/src", false),
            ("/srv/other", true),
            ("/srv", true),
            ("/home/me", true),
        ] {
            assert_eq!(found.reason(Path::new(path)).is_some(), counts, "{path}");
        }
    }

    #[test]
    fn what_links_lead_to_counts() {
        let stage = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(stage.path()).unwrap();
        for name in [
            "home/dot",
            "home/.config/nvim",
            "home/.vim",
            "home/tools/deep",
            "home/programs",
            "ws",
            "home/free",
        ] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        for (name, target) in [
            ("home/.bashrc", "home/dot/bashrc"),
            ("home/.config/nvim/init.lua", "home/dot/init.lua"),
            ("home/programs/tool", "home/tools/deep/tool"),
            ("home/linked", "home/free/x"),
            ("home/bin", "home/programs"),
        ] {
            let target = top.join(target);
            if !target.exists() {
                fs::write(&target, "").unwrap();
            }
            symlink(target, top.join(name)).unwrap();
        }
        let home = top.join("home");
        let found =
            Finder { home: &home, workspace: &top.join("ws"), own: &[], root: false, variables: &[] }.find();
        for (path, counts) in [
            ("dot/bashrc", true),
            ("dot/init.lua", true),
            ("dot/other", false),
            ("programs/new", true),
            ("tools/deep/tool", true),
            ("tools/deep/other", false),
            ("free/x", false),
        ] {
            assert_eq!(found.reason(&home.join(path)).is_some(), counts, "{path}");
        }
        assert!(found.within(&home.join("tools")).is_some() && found.within(&home.join("free")).is_none());
    }
}
