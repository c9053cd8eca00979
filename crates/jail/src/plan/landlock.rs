//! A spec in the terms of Landlock alone, for machines without namespaces.
//!
//! Landlock is a list of rights on files of the host. Beneath a path it only ever adds rights, so a plan that would have to take
//! one away again is refused; and there is one tree of files, so a plan that needs a file at another path is refused, too.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use policy::Shown;

use super::conflict::{self, Conflict};
use super::host::{Entry, Host};
use super::system::{CANARIES, SECRET, SYSTEM, Show};
use super::tree::{Access, beneath};
use crate::spec::{Mode, Spec, View};

/// A spec in the terms of Landlock alone.
#[derive(Debug, Clone)]
pub struct LandlockPlan {
    /// Paths that may be used, with the access to each.
    pub rules: Vec<PathRule>,
    /// Paths of the host that must not be readable; tried before the command starts.
    pub unreadable: Vec<PathBuf>,
}

/// A path of the host that may be used, with everything beneath it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRule {
    /// The path.
    pub path: PathBuf,
    /// Access that is granted.
    pub access: Access,
    /// Which object it was when it was judged: device and inode. Without one it is the system's, and may be missing.
    pub id: Option<(u64, u64)>,
}

/// Turns a spec into the terms of Landlock, or says why it means nothing or cannot be expressed.
pub fn landlock_plan(spec: &Spec, host: &Host) -> Result<LandlockPlan, Conflict> {
    conflict::check(spec, host)?;
    spec.views.iter().try_for_each(|view| expressible(view, spec))?;
    if let Some(content) = spec.contents.first() {
        let why = "without namespaces a file cannot be another one inside";
        return Err(Conflict::NotEnforceable(content.path.clone(), why));
    }
    let rules: Vec<_> = system(host).chain(views(spec, host)).collect();
    keeps_secrets(&rules, host)?;
    let open = |path: &Path| rules.iter().any(|rule| beneath(path, &rule.path));
    let canaries = CANARIES.iter().map(Path::new);
    let unreadable = canaries.filter(|path| host.has(path) && !open(path)).map(Path::to_owned).collect();
    Ok(LandlockPlan { rules, unreadable })
}

/// The environment where home and temporary files are not at their usual places.
#[must_use]
pub fn relocated_environment(
    environment: &[(OsString, OsString)],
    home: &Path,
    tmp: &Path,
) -> Vec<(OsString, OsString)> {
    let new = |name: &OsStr| match name.to_str()? {
        "HOME" => Some(home),
        "TMPDIR" | "TMP" | "TEMP" | "TEMPDIR" => Some(tmp),
        _ => None,
    };
    let kept =
        environment.iter().filter(|(name, _)| name != "HOME" && name != "TMPDIR").map(|(name, value)| {
            (name.clone(), new(name).map_or_else(|| value.clone(), |path| path.as_os_str().to_owned()))
        });
    let own =
        [("HOME", home), ("TMPDIR", tmp)].map(|(name, path)| (name.into(), path.as_os_str().to_owned()));
    kept.chain(own).collect()
}

fn expressible(view: &View, spec: &Spec) -> Result<(), Conflict> {
    let above = |mode: Mode| {
        let mut others = spec.views.iter().filter(|other| other.path != view.path && other.mode == mode);
        others.any(|other| beneath(&view.path, &other.path))
    };
    let shown = || above(Mode::ReadOnly) || above(Mode::ReadWrite) || super::system::shows(&view.path);
    let why = match view.mode {
        Mode::Private => "without namespaces a directory cannot be another one inside",
        Mode::Layered => "without namespaces there are no layers",
        Mode::Hidden if shown() => "Landlock cannot hide a part of what it shows",
        Mode::ReadOnly if above(Mode::ReadWrite) => "Landlock cannot protect a part of what may be changed",
        _ => return Ok(()),
    };
    Err(Conflict::NotEnforceable(view.path.clone(), why))
}

/// Keys that the other providers cover up have to lie outside of every rule.
fn keeps_secrets(rules: &[PathRule], host: &Host) -> Result<(), Conflict> {
    let mut secrets = SECRET.iter().map(Path::new).filter(|path| host.has(path));
    match secrets.find(|path| rules.iter().any(|rule| beneath(path, &rule.path))) {
        Some(path) => {
            Err(Conflict::NotEnforceable(path.to_owned(), "Landlock cannot hide a part of what it shows"))
        }
        None => Ok(()),
    }
}

fn system(host: &Host) -> impl Iterator<Item = PathRule> {
    let rows = SYSTEM.iter().filter(|row| !DIVIDED.contains(&row.path)).filter_map(|row| {
        let access = match (row.show, host.entry(Path::new(row.path))?) {
            (Show::AsIs, Entry::Directory(..) | Entry::File(..)) => Access::Read,
            (Show::Device, Entry::Other(_)) => Access::Device,
            // The target of a link has a row of its own, or is not shown.
            _ => return None,
        };
        Some(rule(row.path, access))
    });
    let texts =
        host.texts.iter().map(|(path, _)| PathRule { path: path.clone(), access: Access::Read, id: None });
    rows.chain(texts).chain(INSTEAD.iter().map(|(path, _)| rule(path, Access::Read)))
}

fn rule(path: &str, access: Access) -> PathRule {
    PathRule { path: PathBuf::from(path), access, id: None }
}

fn views(spec: &Spec, host: &Host) -> impl Iterator<Item = PathRule> {
    spec.views.iter().filter_map(|view| {
        let access = match view.mode {
            Mode::ReadOnly => Access::Read,
            Mode::ReadWrite => Access::Write,
            Mode::Hidden | Mode::Private | Mode::Layered => return None,
        };
        let id = host.entry(&view.path).and_then(Entry::identity);
        Some(PathRule { path: view.path.clone(), access, id })
    })
}

/// Rows of the system that have something secret beneath them.
const DIVIDED: &[&str] = &["/etc/ssl"];

/// Paths of the host that are shown instead of the jail's own entries, each with the reason.
///
/// Of `/proc` nothing that belongs to a process: one rule would have to cover all of them, and the command lines of the
/// host's processes have secrets in them. What a program opens of itself under `/proc/self/fd` works without.
const INSTEAD: &[(&str, &str)] = &[
    ("/etc/ssl/certs", "trusted certificates; keys lie beside them"),
    ("/etc/ssl/openssl.cnf", "settings of TLS"),
    ("/etc/ssl/cert.pem", "trusted certificates on other systems"),
    ("/etc/passwd", "names of users; there is no other list"),
    ("/etc/group", "names of groups; there is no other list"),
    ("/proc/cpuinfo", "how many processors, and which"),
    ("/proc/filesystems", "what file systems the kernel knows"),
    ("/proc/loadavg", "build tools decide by it how much to start"),
    ("/proc/meminfo", "how much memory there is"),
    ("/proc/stat", "how many processors; when the machine started"),
    ("/proc/sys", "settings of the kernel, for reading"),
    ("/proc/uptime", "how long the machine runs"),
    ("/proc/version", "which kernel this is"),
];

impl fmt::Display for LandlockPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.iter().try_for_each(|rule| writeln!(f, "{} {}", rule.access, Shown::path(&rule.path)))?;
        self.unreadable.iter().try_for_each(|path| writeln!(f, "unreadable {}", Shown::path(path)))
    }
}

#[cfg(test)]
mod tests;
