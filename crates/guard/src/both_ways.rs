//! A path is resolved by one call of the kernel or step by step: both ways lead to the same object, and to the one that the kernel
//! itself would open.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::resolve::{Last, Object, Workspace, Written};
use crate::trouble::Trouble;

/// Something in a tree.
#[derive(Debug, Clone)]
enum Thing {
    File,
    Directory,
    /// A directory that ordinary users cannot search.
    Closed,
    /// A link, with `ROOT` for the place of the tree in its target.
    Link(String),
}

/// A tree on disk: a workspace, and a directory beside it.
struct Tree {
    dir: TempDir,
    closed: Vec<PathBuf>,
}

impl Tree {
    /// Makes what can be made: a thing below a file, or a second one of a name, is left out.
    fn plant(things: &[(PathBuf, Thing)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for directory in ["ws", "out/a"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("out/b"), "").unwrap();
        let mut closed = Vec::new();
        for (path, thing) in things {
            let path = root.join(path);
            if fs::symlink_metadata(&path).is_ok() {
                continue;
            }
            let made = match thing {
                Thing::File => fs::write(&path, ""),
                Thing::Directory | Thing::Closed => fs::create_dir(&path),
                Thing::Link(target) => symlink(target.replace("ROOT", root.to_str().unwrap()), &path),
            };
            if made.is_ok() && matches!(thing, Thing::Closed) {
                closed.push(path);
            }
        }
        for path in closed.iter().rev() {
            fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }
        Self { dir, closed }
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for path in &self.closed {
            fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        }
    }
}

/// Result of a lookup, in a form that can be compared.
#[derive(Debug, PartialEq, Eq)]
enum Led {
    To(PathBuf, u64),
    Nowhere(PathBuf),
    Astray(Trouble),
}

fn led(result: Result<(PathBuf, Object), Trouble>) -> Led {
    match result {
        Ok((path, Object::Here(here))) => Led::To(path, here.stat.st_ino),
        Ok((path, Object::Missing(_))) => Led::Nowhere(path),
        Err(trouble) => Led::Astray(trouble),
    }
}

/// To be led there, and nothing more.
const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Looks the path up in the kernel directly.
fn kernel(from: &Path, path: &Path, last: Last) -> Result<u64, Errno> {
    let from = rustix::fs::openat(CWD, from, PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    let flags = if last == Last::Keep { PATH | OFlags::NOFOLLOW } else { PATH };
    let found = rustix::fs::openat(from, path, flags, Mode::empty())?;
    Ok(rustix::fs::fstat(found).unwrap().st_ino)
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Names between slashes, with everything that may stand there.
fn words(first: &'static [&'static str]) -> impl Strategy<Value = String> {
    let word = select([NAMES.as_slice(), &["a", "b", ".", "..", ""]].concat());
    let (first, end) = (select(first), select(&["", "", "", "/", "/.", "/..", "//", "/./"]));
    (first, vec(word, 1..5), end).prop_map(|(first, words, end)| format!("{first}{}{end}", words.join("/")))
}

fn target() -> impl Strategy<Value = String> {
    let words =
        words(&["", "", "", "../", "../out/", "../ws/", "ROOT/ws/", "ROOT/out/", "ROOT//ws/./", "ROOT/"]);
    words.prop_filter("something is named", |path| !path.is_empty())
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        2 => Just(Thing::File),
        4 => Just(Thing::Directory),
        1 => Just(Thing::Closed),
        6 => target().prop_map(Thing::Link),
    ]
}

fn place() -> impl Strategy<Value = PathBuf> {
    let base = select(&["ws", "ws", "ws", "out"]);
    (base, vec(select(&NAMES), 1..4)).prop_map(|(base, names)| Path::new(base).join(names.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_lead_to_the_same(things in vec((place(), thing()), 0..24), paths in vec(target(), 40)) {
        let tree = Tree::plant(&things);
        let root = tree.root();
        let workspace = Workspace::open(&root.join("ws")).unwrap();
        for path in &paths {
            let path = path.replace("ROOT", root.to_str().unwrap());
            let path = Path::new(&path);
            for last in [Last::Follow, Last::Keep] {
                let written = Written { path, absolute: path.is_absolute() };
                let found = workspace.find(written, last);
                let found = led(found.map(|found| (found.location.path().to_owned(), found.object)));
                let steps = led(workspace.step_by_step(path, last).map(|found| (found.real, found.object)));
                prop_assert_eq!(&found, &steps, "{:?} {:?}", path, last);
                let fits = match (&found, kernel(&root.join("ws"), path, last)) {
                    (Led::To(_, inode), Ok(same)) => *inode == same,
                    (Led::Nowhere(_), Err(errno)) => errno == Errno::NOENT,
                    (Led::Astray(trouble), Err(errno)) => *trouble == Trouble::from(errno),
                    _ => false,
                };
                prop_assert!(fits, "{:?} {:?}: {:?}", path, last, found);
                // The name is the one that the standard library finds.
                if let (Led::To(real, _), Last::Follow) = (&found, last) {
                    prop_assert_eq!(real, &fs::canonicalize(root.join("ws").join(path)).unwrap());
                }
            }
        }
    }
}
