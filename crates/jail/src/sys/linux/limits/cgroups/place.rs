//! Directories in which groups can be made.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::Unavailable;
use crate::sys::linux::host::cgroup_support::Mount;
use crate::sys::linux::host::root_files::Root;

/// A resource that a group can bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Pids,
}

/// One of the kernel's two interfaces, which a hierarchy has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// One hierarchy for each controller.
    Separate,
    /// One for all.
    Unified,
}

/// A directory to make a group in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) version: Version,
    pub(super) controllers: Vec<Controller>,
}

/// The files of the memory controller.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryNames {
    pub(super) limit: &'static str,
    pub(super) swap: &'static str,
    pub(super) events: &'static str,
    pub(super) peak: &'static str,
}

impl Controller {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
        }
    }

    /// The file with our own bound in the unified hierarchy.
    const fn bound(self) -> &'static str {
        match self {
            Self::Memory => "memory.max",
            Self::Pids => "pids.max",
        }
    }
}

impl Version {
    /// The file that takes the process which writes to it. A single thread joins without waiting for the whole machine
    /// where there is a file for threads.
    pub(super) const fn entrance(self) -> &'static str {
        match self {
            Self::Separate => "tasks",
            Self::Unified => "cgroup.procs",
        }
    }

    pub(super) const fn memory_names(self) -> MemoryNames {
        match self {
            Self::Separate => MemoryNames {
                limit: "memory.limit_in_bytes",
                swap: "memory.memsw.limit_in_bytes",
                events: "memory.oom_control",
                peak: "memory.max_usage_in_bytes",
            },
            Self::Unified => MemoryNames {
                limit: "memory.max",
                swap: "memory.swap.max",
                events: "memory.events",
                peak: "memory.peak",
            },
        }
    }
}

/// Limits that groups are to enforce: memory in bytes and processes, as far as they are limited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) memory: Option<u64>,
    pub(crate) processes: Option<u64>,
}

/// Returns the directories where the groups of a jail with these limits can be made, and why the first that is missing
/// cannot. Nothing is made.
pub(super) fn places(root: Root<'_>, limits: Wanted) -> (Vec<Place>, Option<Unavailable>) {
    let membership = root.text("/proc/self/cgroup").unwrap_or_default();
    let wanted = [(Controller::Memory, limits.memory), (Controller::Pids, limits.processes)];
    let (mut found, mut missing) = (Vec::<Place>::new(), None);
    for (controller, limit) in wanted {
        let Some(limit) = limit else { continue };
        match place(root, &membership, controller, limit) {
            Ok(place) => match found.iter_mut().find(|other| other.directory == place.directory) {
                Some(other) => other.controllers.extend(place.controllers),
                None => found.push(place),
            },
            Err(unavailable) => missing = missing.or(Some(unavailable)),
        }
    }
    (found, missing)
}

fn place(root: Root<'_>, membership: &str, controller: Controller, limit: u64) -> Result<Place, Unavailable> {
    let (version, own) = own(root, membership, controller).ok_or(Unavailable::NotMounted(controller))?;
    let directory = match version {
        Version::Separate => own,
        Version::Unified => {
            beneath_or_beside(root, &own, controller, limit).ok_or(Unavailable::NotHandedDown(controller))?
        }
    };
    if let Err(errno) = accessat(CWD, root.at(&directory), Access::WRITE_OK, AtFlags::EACCESS) {
        return Err(Unavailable::Refused { directory, step: "making a cgroup", errno });
    }
    Ok(Place { directory, version, controllers: vec![controller] })
}

/// Our own group as far as a controller is concerned, and where it is seen.
fn own(root: Root<'_>, membership: &str, controller: Controller) -> Option<(Version, PathBuf)> {
    let (names, group) = line_of(membership, controller)?;
    let group = Path::new(group);
    let (version, usual) = match names {
        "" => (Version::Unified, PathBuf::from(TREE)),
        names => (Version::Separate, Path::new(TREE).join(names)),
    };
    let seen = || mounted(root, group, (version == Version::Separate).then_some(controller.word()));
    Some((version, seen_at(root, &usual, group, version).or_else(seen)?))
}

/// `4:memory:/a` names its controllers; `0::/a` is where all others are.
fn line_of(membership: &str, controller: Controller) -> Option<(&str, &str)> {
    let lines = membership.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let has = |names: &str| names.split(',').any(|name| name == controller.word());
    lines.clone().find(|(names, _)| has(names)).or_else(|| lines.clone().find(|(names, _)| names.is_empty()))
}

/// The usual place, if it is that: reading the table of mounts takes longer than making a group.
///
/// A directory that is another group than ours bounds the jail all the same.
fn seen_at(root: Root<'_>, usual: &Path, group: &Path, version: Version) -> Option<PathBuf> {
    let path = usual.join(group.strip_prefix("/").ok()?);
    let inside = path.components().all(|part| part.as_os_str() != "..");
    (inside && root.at(&path.join(version.entrance())).exists()).then_some(path)
}

fn mounted(root: Root<'_>, group: &Path, controller: Option<&str>) -> Option<PathBuf> {
    let table = root.text("/proc/self/mountinfo")?;
    let mounts = table.lines().filter_map(Mount::read);
    mounts.filter(|mount| mount.shows(controller)).find_map(|mount| mount.seen(group))
}

/// Controllers are handed down from a group without processes, so that is rarely ours; but the one above often is,
/// beneath which we may then make a sister of ours. That must not be a way out of a bound on us.
fn beneath_or_beside(root: Root<'_>, own: &Path, controller: Controller, limit: u64) -> Option<PathBuf> {
    if hands_down(root, own, controller) {
        return Some(own.to_owned());
    }
    let above = own.parent().filter(|above| hands_down(root, above, controller))?;
    let bound = text(root, &own.join(controller.bound()))?;
    is_wider(bound.trim(), limit).then(|| above.to_owned())
}

fn hands_down(root: Root<'_>, directory: &Path, controller: Controller) -> bool {
    let handed = text(root, &directory.join("cgroup.subtree_control"));
    handed.is_some_and(|names| names.split_whitespace().any(|name| name == controller.word()))
}

fn text(root: Root<'_>, path: &Path) -> Option<String> {
    root.text(path.to_str()?)
}

fn is_wider(bound: &str, limit: u64) -> bool {
    bound == "max" || bound.parse::<u64>().is_ok_and(|bound| bound >= limit)
}

const TREE: &str = "/sys/fs/cgroup";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn finds_the_line_of_a_controller() {
        let rows: &[(&str, Option<(&str, &str)>)] = &[
            ("", None),
            ("nonsense\n", None),
            ("0::/a\n", Some(("", "/a"))),
            ("4:memory:/a\n0::/b\n", Some(("memory", "/a"))),
            ("0::/b\n4:cpu,memory:/a:b\n", Some(("cpu,memory", "/a:b"))),
            ("4:memoryless:/a\n0::/b\n", Some(("", "/b"))),
            ("9:name=systemd:/a\n", None),
        ];
        for (membership, expected) in rows {
            assert_eq!(line_of(membership, Controller::Memory), *expected, "{membership:?}");
        }
    }

    /// A unified tree as files: which group takes which controllers and bounds.
    #[test]
    fn takes_what_is_handed_down() {
        let tree = tempfile::tempdir().unwrap();
        let own = tree.path().join("app.slice/shell.scope");
        fs::create_dir_all(&own).unwrap();
        let write = |path: &str, text: &str| fs::write(tree.path().join(path), text).unwrap();
        let find = |limit| beneath_or_beside(Root::of_this_machine(), &own, Controller::Memory, limit);
        assert_eq!(find(10), None, "nothing is handed down");
        write("app.slice/cgroup.subtree_control", "cpu pids\n");
        assert_eq!(find(10), None, "another controller");
        write("app.slice/cgroup.subtree_control", "memory pids\n");
        assert_eq!(find(10), None, "our own bound is not known");
        write("app.slice/shell.scope/memory.max", "9\n");
        assert_eq!(find(10), None, "a way out of our own bound");
        write("app.slice/shell.scope/memory.max", "max\n");
        assert_eq!(find(10), Some(tree.path().join("app.slice")));
        write("app.slice/shell.scope/cgroup.subtree_control", "memory\n");
        assert_eq!(find(10), Some(own.clone()), "ours is nearer");
    }

    #[test]
    fn never_leaves_our_own_part() {
        let tree = tempfile::tempdir().unwrap();
        for group in ["ours/inner", "theirs"] {
            fs::create_dir_all(tree.path().join(group)).unwrap();
            fs::write(tree.path().join(group).join("tasks"), "").unwrap();
        }
        let ours = tree.path().join("ours");
        let find = |group: &str| seen_at(Root::of_this_machine(), &ours, Path::new(group), Version::Separate);
        assert_eq!(find("/inner"), Some(ours.join("inner")));
        for group in ["/../theirs", "/no/such", "relative", ""] {
            assert_eq!(find(group), None, "{group}");
        }
    }
}
