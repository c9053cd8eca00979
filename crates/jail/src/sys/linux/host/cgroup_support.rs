//! Cgroups that are mounted, and whether jails can have some of their own.

use std::path::{Path, PathBuf};

use super::root_files::Root;
use crate::host::probe::{Cgroup, Hierarchy};
use crate::sys::linux::limits::cgroups::{self, Wanted};

pub(crate) fn cgroup(root: &Path) -> Cgroup {
    let root = Root(root);
    let mounts = root.text("/proc/self/mountinfo").unwrap_or_default();
    let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::read).collect();
    let missing = cgroups::unavailable(root, USUAL).map(|why| why.to_string());
    Cgroup { hierarchy: hierarchy(&mounts), missing }
}

/// The limits of the built-in policy.
const USUAL: Wanted = Wanted { memory: Some(3_000_000_000), processes: Some(1024) };

/// One line of the table of mounts, as far as it concerns us.
pub(crate) struct Mount<'a> {
    /// Part of the file system that is mounted.
    part: &'a str,
    place: &'a str,
    kind: &'a str,
    /// Those of the file system, among them the controllers of an old hierarchy.
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// `31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw`
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (mut kind, options) = (after.split(' '), after.rsplit(' ').next()?);
        Some(Self { part: fields.next()?, place: fields.next()?, kind: kind.next()?, options })
    }

    /// Returns true if it shows the hierarchy of a controller; the unified one has no name.
    pub(crate) fn shows(&self, controller: Option<&str>) -> bool {
        match controller {
            None => self.kind == "cgroup2",
            Some(name) => self.kind == "cgroup" && self.options.split(',').any(|option| option == name),
        }
    }

    /// Returns the path at which a cgroup is seen, if the part of the tree that is mounted contains it.
    pub(crate) fn seen(&self, cgroup: &Path) -> Option<PathBuf> {
        let path = Path::new(self.place).join(cgroup.strip_prefix(self.part).ok()?);
        path.components().all(|part| part.as_os_str() != "..").then_some(path)
    }
}

fn hierarchy(mounts: &[Mount<'_>]) -> Hierarchy {
    let mounted = |kind: &str| mounts.iter().any(|mount| mount.kind == kind);
    match (mounted("cgroup"), mounted("cgroup2")) {
        (false, false) => Hierarchy::None,
        (true, false) => Hierarchy::V1,
        (true, true) => Hierarchy::Hybrid,
        (false, true) => Hierarchy::V2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "31 23 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw";
    const PART: &str = "31 23 0:28 /ours /sys/fs/cgroup ro - cgroup2 cgroup rw";
    const UNIFIED: &str = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
    const MEMORY: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
    const PLAIN: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw";

    #[test]
    fn finds_a_group_where_it_is_mounted() {
        let rows: &[(&[&str], &str, Hierarchy, Option<&str>)] = &[
            (&[], "/", Hierarchy::None, None),
            (&[PLAIN, "not a line of the table"], "/", Hierarchy::None, None),
            (&[PLAIN, WHOLE], "/a/b", Hierarchy::V2, Some("/sys/fs/cgroup/a/b")),
            (&[WHOLE], "/", Hierarchy::V2, Some("/sys/fs/cgroup")),
            (&[MEMORY], "/a", Hierarchy::V1, None),
            (&[MEMORY, UNIFIED], "/b", Hierarchy::Hybrid, Some("/sys/fs/cgroup/unified/b")),
            // A part of the tree shows our place only if it contains it, by components.
            (&[PART], "/ours/x", Hierarchy::V2, Some("/sys/fs/cgroup/x")),
            (&[PART], "/ours-not/x", Hierarchy::V2, None),
            // Outside our own cgroup namespace.
            (&[WHOLE], "/../other", Hierarchy::V2, None),
        ];
        for (lines, group, kind, seen) in rows {
            let mounts: Vec<_> = lines.iter().filter_map(|line| Mount::read(line)).collect();
            assert_eq!(hierarchy(&mounts), *kind, "{lines:?}");
            let unified = mounts.iter().filter(|mount| mount.shows(None));
            let found = unified.map(|mount| mount.seen(Path::new(group))).find_map(|seen| seen);
            assert_eq!(found.as_deref(), seen.map(Path::new), "{lines:?} {group}");
        }
    }
}
