//! Paths that installed toolchains bring into a jail: programs as they are, caches under a private layer, credentials never.
//!
//! Pure but for [`Files`], by which it is looked up what the host has. Nothing is shown that is not a row of the table, and
//! nothing of the host can be changed by any row. The directories around the rows are private: what a row does not name is not
//! there.
//!
//! **Invariant.** The agent has no say in what is shown: a path that leads through a link the agent could have made leads nowhere.

mod disk;
mod secret;
mod table;

pub use disk::Disk;
pub use table::{Dir, NAMES, Part, Show, TOOLCHAINS, Toolchain};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::host::environment::SYSTEM;
use crate::launch::Provider;
use crate::spec::{Mode, Spec, View, mode_at};

/// Which toolchains are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choose {
    /// Those that are there.
    Auto,
    /// These, as far as they are there.
    Only(Vec<String>),
}

impl Choose {
    /// None at all.
    pub const NONE: Self = Self::Only(Vec::new());

    fn wants(&self, name: &str) -> bool {
        match self {
            Self::Auto => true,
            Self::Only(names) => names.iter().any(|known| known == name),
        }
    }
}

/// Input of the search for toolchains.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Which toolchains are wanted.
    pub choose: &'a Choose,
    /// The home directory on the host, by its real path.
    pub outside: &'a Path,
    /// Path at which the private home directory appears.
    pub home: &'a Path,
    /// The directory the agent works in, by its real path.
    pub workspace: &'a Path,
    /// The caller's variables.
    pub environment: &'a [(OsString, OsString)],
    /// The views that the spec asks for. They are never changed by a toolchain.
    pub views: &'a [View],
    /// Paths that no toolchain shows, by any name that leads there.
    pub closed: &'a [PathBuf],
}

/// Files of the host, as far as they can be looked up.
pub trait Files {
    /// Returns the real path, and true if it is a directory. `None`: nowhere, or the way leads through a link that the agent could
    /// have made.
    fn real(&self, path: &Path) -> Option<(PathBuf, bool)>;

    /// The text of a small file.
    fn text(&self, path: &Path) -> Option<String>;

    /// The names in a directory.
    fn names(&self, directory: &Path) -> Vec<OsString>;
}

/// Additions of toolchains to a jail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Toolchains that were found.
    pub found: Vec<Found>,
    /// Views on top of those that were asked for.
    pub views: Vec<View>,
    /// Links in private space, to what tools would not find where they look.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Variables that tools find their directories by.
    pub variables: Vec<(OsString, OsString)>,
    /// The same where the home directory cannot be at its own path.
    elsewhere: Vec<(OsString, OsString)>,
}

/// One toolchain that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which.
    pub name: &'static str,
    /// The directories and files by which it was found.
    pub by: Vec<PathBuf>,
    /// Paths of it that are not shown although they exist, with the reason.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

/// A toolchain by its name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Toolchain> {
    TOOLCHAINS.iter().find(|toolchain| toolchain.name == name)
}

/// Finds what the wanted toolchains bring into a jail.
#[must_use]
pub fn shown(ask: &Ask<'_>, files: &dyn Files) -> Shown {
    let mut shown = Shown::default();
    for toolchain in TOOLCHAINS.iter().filter(|toolchain| ask.choose.wants(toolchain.name)) {
        let mut found = Found { name: toolchain.name, by: Vec::new(), left_out: Vec::new() };
        for dir in toolchain.dirs {
            Search { ask, files, shown: &mut shown, found: &mut found }.dir(dir);
        }
        if !found.by.is_empty() || !found.left_out.is_empty() {
            shown.found.push(found);
        }
    }
    shown
}

/// Directory of a toolchain: the path at which tools look for it, and its real path.
struct Place {
    outside: PathBuf,
    inside: PathBuf,
    /// True if a variable names it.
    named: bool,
    /// The path itself, where the table has it from the root.
    fixed: Option<&'static str>,
}

struct Search<'a> {
    ask: &'a Ask<'a>,
    files: &'a dyn Files,
    shown: &'a mut Shown,
    found: &'a mut Found,
}

impl Search<'_> {
    fn dir(&mut self, dir: &Dir) {
        let Some(place) = self.place(dir) else { return };
        let before = self.shown.views.len();
        let hidden = |part: &&Part| matches!(part.show, Show::Checked | Show::Never);
        let parts = dir.parts.iter().filter(|part| !hidden(part));
        let any = parts.filter(|part| self.part(part, &place)).count() > 0;
        let here = self.shown.views[before..].iter().any(|view| view.path.starts_with(&place.outside));
        if any && place.named && here {
            self.private(&place.outside);
        }
        dir.parts.iter().filter(hidden).for_each(|part| self.hide(part, &place));
        if any {
            self.found.by.push(place.outside.clone());
            self.variable(dir, &place);
        }
    }

    /// A directory that does not exist costs one look.
    fn place(&self, dir: &Dir) -> Option<Place> {
        if let Some(value) = self.value(dir.variable) {
            let (real, _) = plain(Path::new(value)).and_then(|path| self.files.real(path))?;
            return Some(Place { inside: real.clone(), outside: real, named: true, fixed: None });
        }
        let outside = self.below_home(dir.path)?;
        self.files.real(&outside)?;
        let fixed = dir.path.starts_with('/').then_some(dir.path);
        Some(Place { outside, inside: self.ask.home.join(dir.path), named: false, fixed })
    }

    /// Tools look in other places where the caller has its caches and settings elsewhere.
    fn below_home(&self, path: &str) -> Option<PathBuf> {
        let moved = [(".cache/", "XDG_CACHE_HOME"), (".local/share/", "XDG_DATA_HOME")];
        let moved =
            moved.into_iter().chain([(".config/", "XDG_CONFIG_HOME")]).find_map(|(start, variable)| {
                let base = plain(Path::new(self.value(variable)?))?;
                Some(base.join(path.strip_prefix(start)?))
            });
        (!path.is_empty()).then(|| moved.unwrap_or_else(|| self.ask.outside.join(path)))
    }

    /// The caller's value. Npm takes its names in capitals and without.
    fn value(&self, name: &str) -> Option<&OsStr> {
        let npm = name.starts_with("NPM_CONFIG_");
        let is = |known: &OsStr| known == name || npm && known.eq_ignore_ascii_case(name);
        let found = self.ask.environment.iter().find(|(known, _)| !name.is_empty() && is(known));
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// Returns true if a part exists and can be used inside.
    fn part(&mut self, part: &Part, place: &Place) -> bool {
        let Some((real, directory)) = self.files.real(&joined(&place.outside, part.path)) else {
            return false;
        };
        let (mode, refused) = match part.show {
            Show::Installed | Show::Checked | Show::Never => (Mode::ReadOnly, None),
            Show::Cache => (Mode::Layered, (!directory).then_some("it is not a directory")),
            Show::Settings => (Mode::ReadOnly, self.telling(&real, directory)),
        };
        if let Some(why) = refused.or_else(|| self.refused(&real, place.fixed)) {
            self.found.left_out.push((real, why));
            return false;
        }
        if !self.is_seen(&real, mode) {
            self.shown.views.push(View { path: real.clone(), mode });
        }
        if part.show == Show::Settings {
            self.authorities(&real);
        }
        let inside = joined(&place.inside, part.path);
        if inside != real && !self.shown.links.iter().any(|(link, _)| *link == inside) {
            self.shown.links.push((inside, real));
        }
        true
    }

    /// Certificates that shown settings name: a tool that is told to trust them does not start without.
    fn authorities(&mut self, settings: &Path) {
        let Some(text) = self.files.text(settings) else { return };
        for named in secret::authorities(&text).filter_map(|named| plain(Path::new(named))) {
            let Some((real, false)) = self.files.real(named) else { continue };
            if TRUSTED.iter().any(|shown| real.starts_with(shown)) || self.is_seen(&real, Mode::ReadOnly) {
                continue;
            }
            let fixed = real.to_str();
            let certificates = self.files.text(&real).is_some_and(|text| secret::is_certificates(&text));
            let why = (!certificates).then_some("it holds more than certificates, or none");
            match why.or_else(|| self.refused(&real, fixed)) {
                Some(why) => self.found.left_out.push((real, why)),
                None => self.shown.views.push(View { path: real, mode: Mode::ReadOnly }),
            }
        }
    }

    /// Why settings are better not shown.
    fn telling(&self, path: &Path, directory: bool) -> Option<&'static str> {
        if directory {
            return Some("it is not a file");
        }
        match self.files.text(path) {
            None => Some("it cannot be read as a text"),
            Some(text) => secret::in_text(&text).then_some("it looks as if it held a secret"),
        }
    }

    /// Returns the reason why a path is no part of a toolchain, by any name that leads there.
    fn refused(&self, real: &Path, fixed: Option<&str>) -> Option<&'static str> {
        let ask = self.ask;
        let around = |path: &Path| path.starts_with(real);
        let closed = |path: &Path| around(path) || real.starts_with(path);
        let mut secrets = policy::credential_files().filter(|file| file.closed);
        let below = real.strip_prefix(ask.outside).ok();
        let private = secrets.any(|file| match (Path::new(file.path()), below) {
            (path, _) if path.is_absolute() => closed(path),
            (path, Some(below)) => below.starts_with(path) || path.starts_with(below),
            (_, None) => false,
        });
        if around(ask.outside) || around(ask.home) {
            Some("it holds the home directory")
        } else if around(ask.workspace) {
            Some("it holds the workspace")
        } else if private || ask.closed.iter().any(|path| closed(path)) {
            Some("it is or holds something that is never shown")
        } else if fixed.is_some_and(|path| real.starts_with(path)) {
            None
        } else if SYSTEMS.iter().any(|path| real.starts_with(path)) {
            Some("it belongs to the system")
        } else if real.components().count() <= 2 && !by_system(real) {
            Some("it is a directory of the whole machine")
        } else {
            None
        }
    }

    /// Returns true if it is seen already, as it was asked for or as the system has it. What was asked for is not changed.
    fn is_seen(&self, real: &Path, mode: Mode) -> bool {
        let asked = mode_at(self.ask.views, real).is_some() || real.starts_with(self.ask.workspace);
        let system = mode == Mode::ReadOnly && by_system(real);
        asked || system || mode_at(&self.shown.views, real) == Some(mode)
    }

    /// Makes the surroundings of the parts of a directory private; in the home directory they are already.
    fn private(&mut self, dir: &Path) {
        let below_home = dir.starts_with(self.ask.home) && self.ask.home == self.ask.outside;
        let known = self.shown.views.iter().any(|view| view.path == dir);
        if !below_home
            && !known
            && self.refused(dir, None).is_none()
            && mode_at(self.ask.views, dir).is_none()
        {
            self.shown.views.push(View { path: dir.to_owned(), mode: Mode::Private });
        }
    }

    /// Credentials inside something that is shown, and settings that look as if they held one.
    fn hide(&mut self, part: &Part, place: &Place) {
        for path in self.matching(&place.outside, part.path) {
            let Some((real, directory)) = self.files.real(&path) else { continue };
            let shown = matches!(mode_at(&self.shown.views, &real), Some(Mode::ReadOnly | Mode::Layered));
            if part.show == Show::Checked {
                let why = (!directory).then(|| self.telling(&real, directory)).flatten();
                let Some(why) = why.filter(|_| shown || by_system(&real)) else { continue };
                self.found.left_out.push((real.clone(), why));
            } else if !shown {
                continue;
            }
            self.shown.views.push(View { path: real, mode: Mode::Hidden });
        }
    }

    /// The paths of a pattern.
    fn matching(&self, dir: &Path, pattern: &str) -> Vec<PathBuf> {
        let mut paths = vec![dir.to_owned()];
        for name in pattern.split('/').filter(|name| !name.is_empty()) {
            let named = |path: PathBuf| match name {
                "*" => self.files.names(&path).iter().map(|name| path.join(name)).collect(),
                name => vec![path.join(name)],
            };
            paths = paths.into_iter().flat_map(named).collect();
        }
        paths
    }

    fn variable(&mut self, dir: &Dir, place: &Place) {
        if dir.variable.is_empty() {
            return;
        }
        let value = |path: &Path| (OsString::from(dir.variable), path.as_os_str().to_owned());
        if place.named {
            self.shown.variables.push(value(&place.inside));
        }
        self.shown.elsewhere.push(value(&place.outside));
    }
}

/// Directories in which a machine has entries of its own.
const SYSTEMS: &[&str] = &["/proc", "/sys", "/dev", "/etc", "/boot", "/run", "/var/run"];

/// Directories in which a machine keeps the certificates that it trusts: every jail sees them.
const TRUSTED: &[&str] = &["/etc/ssl", "/etc/pki", "/etc/ca-certificates"];

fn by_system(path: &Path) -> bool {
    SYSTEM.iter().any(|shown| path.starts_with(shown))
}

/// An absolute path without `.` and `..`.
fn plain(path: &Path) -> Option<&Path> {
    let text = path.as_os_str().as_encoded_bytes();
    let odd = text.contains(&0) || text.split(|byte| *byte == b'/').any(|part| matches!(part, b"." | b".."));
    (path.is_absolute() && !odd).then_some(path)
}

fn joined(dir: &Path, part: &str) -> PathBuf {
    if part.is_empty() { dir.to_owned() } else { dir.join(part) }
}

impl Shown {
    /// Directories whose programs can be found by name: what is installed, and not what the agent can add to.
    pub fn programs(&self) -> impl Iterator<Item = &Path> {
        let installed = self.views.iter().filter(|view| view.mode == Mode::ReadOnly);
        installed.map(|view| view.path.as_path())
    }

    /// Makes the caller's search path lead to the programs, where links lead there now.
    pub fn lead(&self, environment: &mut [(OsString, OsString)], files: &dyn Files) {
        for (_, value) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            *value = self.search(value, files);
        }
    }

    /// A search path with its entries where they really are, as far as that is what makes them visible.
    fn search(&self, path: &OsStr, files: &dyn Files) -> OsString {
        let visible = |entry: &Path| by_system(entry) || self.programs().any(|dir| entry.starts_with(dir));
        let entries = std::env::split_paths(path).map(|entry| {
            let real = (!visible(&entry)).then(|| files.real(&entry)).flatten();
            real.map(|(real, _)| real).filter(|real| visible(real)).unwrap_or(entry)
        });
        // An entry with a colon in it was two entries before.
        std::env::join_paths(entries).unwrap_or_else(|_| path.to_owned())
    }

    /// A spec with what the toolchains bring into it, as far as a provider can show it.
    #[must_use]
    pub(crate) fn put_into(&self, spec: &Spec, provider: Provider) -> Spec {
        let mut spec = spec.clone();
        spec.toolchains = Self::default();
        let alone = provider == Provider::Landlock;
        // Landlock only adds: what has something to be hidden in it is not shown at all.
        let holds = |view: &View| {
            let mut hidden = self.views.iter().filter(|view| view.mode == Mode::Hidden);
            hidden.any(|hidden| hidden.path.starts_with(&view.path))
        };
        let views = self.views.iter().filter_map(|view| match view.mode {
            _ if alone && holds(view) => None,
            Mode::Private | Mode::Hidden if alone => None,
            Mode::Layered if provider != Provider::Native => {
                Some(View { mode: Mode::ReadOnly, ..view.clone() })
            }
            _ => Some(view.clone()),
        });
        spec.views.extend(views);
        if !alone {
            spec.links.extend(self.links.iter().cloned());
        }
        let variables = if alone { &self.elsewhere } else { &self.variables };
        for (name, value) in variables {
            if spec.environment.iter().all(|(known, _)| known != name) {
                spec.environment.push((name.clone(), value.clone()));
            }
        }
        spec
    }
}

#[cfg(test)]
mod tests;
