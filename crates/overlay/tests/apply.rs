//! Overlays made by hand: what no command in a jail can leave behind, and what happens between looking and applying.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ringfence_overlay::{ApplyReport, Change, Lock, Overlay, OverlayChoice, OverlayError, Store};
use tempfile::TempDir;

/// A workspace `ws`, a directory `aside`, and an overlay of the workspace.
struct Place {
    whole: TempDir,
    overlay: Overlay,
    lock: Lock,
    upper: PathBuf,
}

impl Place {
    fn new() -> Self {
        let whole = tempfile::tempdir().unwrap();
        let root = whole.path().canonicalize().unwrap();
        for name in ["ws/dir", "aside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("ws/file"), "old").unwrap();
        fs::write(root.join("ws/dir/inner"), "old").unwrap();
        fs::write(root.join("aside/inner"), "mine").unwrap();
        let workspace = root.join("ws");
        let store = Store::at(&root.join("state"));
        let begun = store.begin(&OverlayChoice::New, &workspace, "", &[(workspace.clone(), false)]);
        let (overlay, lock, kept) = begun.unwrap();
        let upper = kept[0].directory.join("upper");
        Self { whole, overlay, lock, upper }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    /// Puts something into the overlay, as if a command had.
    fn put(&self, name: &str, text: &str) {
        let path = self.upper.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Applies everything, with something happening after it was looked at.
    fn applied(self, between: impl FnOnce(&Path)) -> (ApplyReport, TempDir) {
        let changes = self.overlay.changes().unwrap();
        between(&self.whole.path().canonicalize().unwrap());
        let all: Vec<&Change> = changes.iter().collect();
        let applied = self
            .overlay
            .apply::<OverlayError>(self.lock, &all, &ringfence_overlay::Parts::new(), |_| Ok(()))
            .unwrap();
        (applied, self.whole)
    }
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn bits_that_let_a_file_run_as_somebody_else_are_left_behind() {
    let place = Place::new();
    for name in ["file", "new", "dir/new"] {
        place.put(name, "x");
        fs::set_permissions(place.upper.join(name), Permissions::from_mode(0o6755)).unwrap();
    }
    fs::create_dir(place.upper.join("made")).unwrap();
    fs::set_permissions(place.upper.join("made"), Permissions::from_mode(0o7755)).unwrap();
    let (applied, whole) = place.applied(|_| ());
    assert!(applied.whole && applied.left.is_empty(), "{applied:?}");
    for name in ["file", "new", "dir/new", "made"] {
        let mode = fs::metadata(whole.path().join("ws").join(name)).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o755, "{name}");
    }
}

/// An entry must still be the one that was looked at when it is its turn.
#[test]
fn what_was_swapped_since_is_left_alone() {
    type Between<'a> = &'a dyn Fn(&Path);
    let rows: &[(&str, &str, Between<'_>)] = &[
        ("file", "another file", &|root| fs::write(root.join("ws/file"), "newer").unwrap()),
        ("file", "nothing", &|root| fs::remove_file(root.join("ws/file")).unwrap()),
        ("file", "a link", &|root| {
            fs::remove_file(root.join("ws/file")).unwrap();
            symlink(root.join("aside/inner"), root.join("ws/file")).unwrap();
        }),
        ("new", "a file", &|root| fs::write(root.join("ws/new"), "newer").unwrap()),
        ("new", "a link", &|root| symlink(root.join("aside/inner"), root.join("ws/new")).unwrap()),
        ("dir/inner", "a link above", &|root| {
            fs::rename(root.join("ws/dir"), root.join("away")).unwrap();
            symlink(root.join("aside"), root.join("ws/dir")).unwrap();
        }),
        ("dir/other", "a link above", &|root| {
            fs::rename(root.join("ws/dir"), root.join("away")).unwrap();
            symlink(root.join("aside"), root.join("ws/dir")).unwrap();
        }),
    ];
    for (name, what, between) in rows {
        let place = Place::new();
        place.put(name, "theirs");
        let (applied, whole) = place.applied(|root| between(root));
        assert_eq!(
            (applied.count, applied.left.len(), applied.whole),
            (0, 1, false),
            "{name}, {what}: {applied:?}"
        );
        assert_eq!(text(whole.path().join("aside/inner")), "mine", "{name}, {what}");
        assert_eq!(fs::read_dir(whole.path().join("aside")).unwrap().count(), 1, "{name}, {what}");
        let there = fs::read_to_string(whole.path().join("ws").join(name)).unwrap_or_default();
        assert_ne!(there, "theirs", "{name}, {what}");
    }
}

/// Not recorded is not applied, and what was refused can be asked for again.
#[test]
fn what_is_not_recorded_is_not_applied() {
    let place = Place::new();
    for name in ["a", "b", "file"] {
        place.put(name, "theirs");
    }
    let changes = place.overlay.changes().unwrap();
    let all: Vec<&Change> = changes.iter().collect();
    let store = Store::at(&place.path("state"));
    let mut asked = 0;
    let refused =
        place.overlay.apply::<OverlayError>(place.lock, &all, &ringfence_overlay::Parts::new(), |change| {
            asked += 1;
            if change.path == Path::new("b") { Err(OverlayError::TooMany(0)) } else { Ok(()) }
        });
    assert!(refused.is_err());
    let here = place.whole.path();
    assert_eq!(
        (asked, text(here.join("ws/a")), text(here.join("ws/file"))),
        (2, "theirs".into(), "old".into())
    );
    let again = store.newest(&here.canonicalize().unwrap().join("ws")).unwrap().unwrap();
    let left: Vec<_> = again.changes().unwrap().into_iter().map(|change| change.path).collect();
    assert_eq!(left, ["b", "file"].map(PathBuf::from));
    let lock = again.hold().unwrap();
    assert!(matches!(again.hold(), Err(OverlayError::Busy(_))));
    let changes = again.changes().unwrap();
    let applied = again.apply::<OverlayError>(
        lock,
        &changes.iter().collect::<Vec<_>>(),
        &ringfence_overlay::Parts::new(),
        |_| Ok(()),
    );
    assert!(applied.unwrap().whole);
    assert_eq!(fs::read_dir(here.join("state/overlays")).unwrap().count(), 0);
}

/// An overlay that cannot be removed at once is not one any more.
#[test]
fn deep_and_closed_overlays_are_removed() {
    let place = Place::new();
    let mut deep = place.upper.clone();
    for _ in 0..120 {
        deep.push("directory-with-a-long-name");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("bottom"), "x").unwrap();
    fs::set_permissions(deep.parent().unwrap(), Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(place.upper.join("directory-with-a-long-name"), Permissions::from_mode(0o000))
        .unwrap();
    place.overlay.discard(place.lock).unwrap();
    assert_eq!(fs::read_dir(place.whole.path().join("state/overlays")).unwrap().count(), 0);
}
