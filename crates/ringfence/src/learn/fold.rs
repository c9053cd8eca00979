//! Paths that were used -> the fewest entries that cover them. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::executed::Executed;

/// So many files of one directory mean the directory.
const FILES: usize = 3;
/// So many directories in one directory mean that one.
const DIRECTORIES: usize = 4;

/// Bounds on the paths that may be an entry.
pub(crate) struct Borders {
    /// Paths of which neither they nor anything in them may be an entry, nor anything that they lie in; each with why.
    pub(crate) closed: BTreeMap<PathBuf, &'static str>,
    /// Directories that say too much, such as the home directory.
    pub(crate) wide: BTreeSet<PathBuf>,
    /// Directories that tools keep for themselves: one of them is an entry as a whole.
    pub(crate) stores: Vec<PathBuf>,
    /// For entries that are written: places from which programs of the host execute. They are closed as well.
    pub(crate) executed: Option<Executed>,
}

impl Borders {
    /// The same for entries that are written.
    pub(crate) fn for_writing(&self, executed: Executed) -> Self {
        let (closed, wide) = (self.closed.clone(), self.wide.clone());
        Self { closed, wide, stores: Vec::new(), executed: Some(executed) }
    }

    /// Why a path is closed.
    pub(crate) fn closed(&self, path: &Path) -> Option<&'static str> {
        let closed = path.ancestors().find_map(|above| self.closed.get(above).copied());
        closed.or_else(|| self.executed(path))
    }

    /// Why a path is closed to writing alone.
    pub(crate) fn executed(&self, path: &Path) -> Option<&'static str> {
        self.executed.as_ref()?.reason(path)
    }

    /// Something in a directory that is closed.
    pub(crate) fn closed_within(&self, directory: &Path) -> Option<&Path> {
        let next = self.closed.range(directory.to_owned()..).next().map(|(next, _)| next.as_path());
        let closed = next.filter(|next| next.starts_with(directory));
        closed.or_else(|| self.executed.as_ref()?.within(directory))
    }

    /// Returns true if a directory may be an entry.
    pub(crate) fn may_be_entry(&self, directory: &Path) -> bool {
        // The root, and what stands in it: whole parts of the machine.
        let narrow = directory.components().count() > 2 && !self.wide.contains(directory);
        narrow && self.closed(directory).is_none() && self.closed_within(directory).is_none()
    }

    fn store(&self, path: &Path) -> Option<&Path> {
        let mut holding = self.stores.iter().filter(|store| path.starts_with(store));
        holding.find(|store| self.may_be_entry(store)).map(PathBuf::as_path)
    }
}

/// The entries, and the directories that cannot be one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Files and directories, none inside another.
    pub(crate) entries: BTreeSet<PathBuf>,
    /// Paths that were used as a directory and cannot be an entry.
    pub(crate) left: BTreeSet<PathBuf>,
}

/// Finds entries for paths; each with whether it is a directory that is meant as a whole.
pub(crate) fn fold(used: &BTreeMap<PathBuf, bool>, borders: &Borders) -> Folded {
    let (mut files, mut directories, mut left) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (path, whole) in used {
        match borders.store(path) {
            _ if borders.closed(path).is_some() => left.insert(path.clone()),
            Some(store) => directories.insert(store.to_owned()),
            // A file may have become a directory by the time the entry counts.
            None if !whole && borders.closed_within(path).is_none() => files.insert(path.clone()),
            None if borders.may_be_entry(path) => directories.insert(path.clone()),
            None => left.insert(path.clone()),
        };
    }
    files = upwards(files, FILES, borders, &mut directories);
    loop {
        let mut above = BTreeSet::new();
        directories = upwards(directories, DIRECTORIES, borders, &mut above);
        if above.is_empty() {
            break;
        }
        directories.extend(above);
    }
    let mut entries: BTreeSet<_> = files.into_iter().chain(directories).collect();
    let all = entries.clone();
    entries.retain(|path| !path.ancestors().skip(1).any(|above| all.contains(above)));
    Folded { entries, left }
}

/// Replaces those that are many in one directory by that directory; the rest stays.
fn upwards(
    paths: BTreeSet<PathBuf>,
    many: usize,
    borders: &Borders,
    above: &mut BTreeSet<PathBuf>,
) -> BTreeSet<PathBuf> {
    let mut by_parent: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        let parent = path.parent().unwrap_or(Path::new("/")).to_owned();
        by_parent.entry(parent).or_default().push(path);
    }
    let mut rest = BTreeSet::new();
    for (parent, children) in by_parent {
        if children.len() >= many && borders.may_be_entry(&parent) {
            above.insert(parent);
        } else {
            rest.extend(children);
        }
    }
    rest
}

/// Returns true if a path is an entry or lies in one.
pub(crate) fn covers(entries: &BTreeSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|above| entries.contains(above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn borders(closed: &[&str], wide: &[&str], stores: &[&str]) -> Borders {
        Borders {
            closed: closed.iter().map(|path| (path.into(), "closed")).collect(),
            wide: wide.iter().map(PathBuf::from).collect(),
            stores: stores.iter().map(PathBuf::from).collect(),
            executed: None,
        }
    }

    /// A path that ends in `/` is meant as a whole directory.
    fn used(paths: &[&str]) -> BTreeMap<PathBuf, bool> {
        paths.iter().map(|path| (PathBuf::from(path.trim_end_matches('/')), path.ends_with('/'))).collect()
    }

    #[test]
    fn files_become_directories_where_they_are_many_and_nothing_closed_is_near() {
        let borders = borders(
            &["/home/me/.ssh", "/home/me/app/.env", "/home/me/many/e/.env"],
            &["/home/me", "/home"],
            &["/home/me/.cargo/registry", "/home/me/.rustup"],
        );
        let rows: [(&[&str], &[&str], &[&str]); 10] = [
            (&["/opt/a/x", "/opt/a/y"], &["/opt/a/x", "/opt/a/y"], &[]),
            (&["/opt/a/x", "/opt/a/y", "/opt/a/z"], &["/opt/a"], &[]),
            (&["/opt/x", "/opt/y", "/opt/z"], &["/opt/x", "/opt/y", "/opt/z"], &[]),
            (&["/home/me/a", "/home/me/b", "/home/me/c"], &["/home/me/a", "/home/me/b", "/home/me/c"], &[]),
            (
                &["/home/me/app/x", "/home/me/app/y", "/home/me/app/z"],
                &["/home/me/app/x", "/home/me/app/y", "/home/me/app/z"],
                &[],
            ),
            (
                &["/home/me/.cargo/registry/src/a/lib.rs", "/home/me/.rustup/x"],
                &["/home/me/.cargo/registry", "/home/me/.rustup"],
                &[],
            ),
            (&["/opt/d/a/", "/opt/d/b/", "/opt/d/c/"], &["/opt/d/a", "/opt/d/b", "/opt/d/c"], &[]),
            (&["/opt/d/a/", "/opt/d/b/", "/opt/d/c/", "/opt/d/e/", "/opt/d/a/x"], &["/opt/d"], &[]),
            (
                &["/home/me/many/a/", "/home/me/many/b/", "/home/me/many/c/", "/home/me/many/d/"],
                &["/home/me/many/a", "/home/me/many/b", "/home/me/many/c", "/home/me/many/d"],
                &[],
            ),
            (
                &["/home/me/", "/opt/", "/home/me/app/", "/home/me/.ssh/id"],
                &[],
                &["/home/me", "/home/me/.ssh/id", "/home/me/app", "/opt"],
            ),
        ];
        for (paths, entries, left) in rows {
            let folded = fold(&used(paths), &borders);
            let all = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
            assert_eq!(folded, Folded { entries: all(entries), left: all(left) }, "{paths:?}");
        }
    }

    fn path() -> impl Strategy<Value = PathBuf> {
        let part = prop::sample::select(vec!["a", "b", "c", "d", "e"]);
        prop::collection::vec(part, 1..6).prop_map(|parts| Path::new("/").join(parts.join("/")))
    }

    proptest! {
        #[test]
        fn nothing_closed_is_covered_and_everything_else_is(
            tried in prop::collection::btree_map(path(), any::<bool>(), 0..40),
            closed in prop::collection::btree_set(path(), 0..4),
            wide in prop::collection::btree_set(path(), 0..4),
            stores in prop::collection::vec(path(), 0..3),
        ) {
            let closed = closed.into_iter().map(|path| (path, "closed")).collect();
            let borders = Borders { closed, wide, stores, executed: None };
            let Folded { entries, left } = fold(&tried, &borders);
            for entry in &entries {
                prop_assert!(borders.closed(entry).is_none(), "{entry:?} lies in something closed");
                // A file that was used is itself; a directory is what it holds.
                let alone = tried.get(entry) == Some(&false);
                prop_assert!(alone || borders.may_be_entry(entry), "{entry:?}");
                prop_assert!(borders.closed_within(entry).is_none(), "{entry:?} holds something closed");
                prop_assert!(!entry.ancestors().skip(1).any(|above| entries.contains(above)), "{entry:?} twice");
            }
            for (path, whole) in &tried {
                let alone = !whole && borders.closed_within(path).is_none();
                let open = borders.closed(path).is_none() && (alone || borders.may_be_entry(path));
                prop_assert!(!open || covers(&entries, path), "{path:?} is not covered");
                prop_assert!(open || left.contains(path) || covers(&entries, path), "{path:?} is forgotten");
            }
        }
    }
}
