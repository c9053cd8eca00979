//! Looking for forbidden names with and without a memory of the last look.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use policy::floor::Forbidden;
use policy::{Limits, PathPattern};
use ringfence_jail::{Mode, Spec};

struct Place {
    whole: tempfile::TempDir,
}

impl Place {
    fn new(files: &[&str]) -> Self {
        let place = Self { whole: tempfile::tempdir().unwrap() };
        for file in files {
            place.write(file);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), "").unwrap();
    }

    fn spec(&self, pattern: &str) -> Spec {
        let mut spec = Spec::for_workspace(&self.path("ws"), Path::new("/home/agent"), Limits::none());
        let pattern = PathPattern::parse(pattern).unwrap();
        spec.forbidden = Some(Arc::new(Forbidden::new(&[(pattern, None)]).unwrap()));
        spec
    }

    fn found(&self, mut spec: Spec, remembered: bool) -> Vec<String> {
        let cache = self.path("cache");
        spec.look(remembered.then_some(cache.as_path())).unwrap();
        let top = self.path("ws");
        let shown = |path: &Path| path.strip_prefix(&top).unwrap_or(path).display().to_string();
        spec.masks.iter().map(|mask| shown(&mask.path)).collect()
    }

    /// Both ways, which have to agree.
    fn looked(&self, pattern: &str) -> Vec<String> {
        let (plain, remembered) =
            (self.found(self.spec(pattern), false), self.found(self.spec(pattern), true));
        assert_eq!(plain, remembered);
        plain
    }

    fn memory(&self) -> PathBuf {
        let mut paths = fs::read_dir(self.path("cache")).unwrap().map(|entry| entry.unwrap().path());
        paths.find(|path| path.is_file()).unwrap()
    }
}

/// Longer than what counts as having changed just now.
fn grow_old() {
    std::thread::sleep(Duration::from_secs(4));
}

#[test]
fn what_changes_is_seen_although_the_last_look_is_remembered() {
    let place = Place::new(&["ws/.env", "ws/a/b/c/x", "ws/a/.env", "ws/d/y", "ws/closed/.env"]);
    grow_old();
    assert_eq!(place.looked("**/.env"), [".env", "a/.env", "closed/.env"]);
    assert_eq!(place.looked("**/.env"), [".env", "a/.env", "closed/.env"]);
    // A new name in an old directory, whose time of modification is set back.
    place.write("ws/a/b/c/.env");
    let old = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
    File::open(place.path("ws/a/b/c")).unwrap().set_times(old).unwrap();
    assert_eq!(place.looked("**/.env"), [".env", "a/.env", "a/b/c/.env", "closed/.env"]);
    fs::rename(place.path("ws/a"), place.path("ws/d/a")).unwrap();
    assert_eq!(place.looked("**/.env"), [".env", "closed/.env", "d/a/.env", "d/a/b/c/.env"]);
    fs::remove_file(place.path("ws/d/a/.env")).unwrap();
    fs::remove_file(place.path("ws/.env")).unwrap();
    assert_eq!(place.looked("**/.env"), ["closed/.env", "d/a/b/c/.env"]);
    // Another directory in the place of one, with the same names.
    fs::rename(place.path("ws/d"), place.path("ws/e")).unwrap();
    place.write("ws/d/a/b/c/.env");
    assert_eq!(place.looked("**/.env"), ["closed/.env", "d/a/b/c/.env", "e/a/b/c/.env"]);
    // Other rules, and other views.
    assert_eq!(place.looked("**/y"), ["e/y"]);
    let hidden = place.spec("**/.env").view(&place.path("ws/e"), Mode::Hidden);
    assert_eq!(place.found(hidden, true), ["closed/.env", "d/a/b/c/.env"]);
}

#[test]
fn the_last_look_is_used_and_half_of_one_is_not() {
    let place = Place::new(&["ws/a/.env", "ws/b/c/.env", "ws/d/e/f/g"]);
    grow_old();
    assert_eq!(place.looked("**/.env"), ["a/.env", "b/c/.env"]);
    let whole = fs::read(place.memory()).unwrap();
    for length in (0..whole.len()).step_by(3) {
        fs::write(place.memory(), &whole[..length]).unwrap();
        assert_eq!(place.found(place.spec("**/.env"), true), ["a/.env", "b/c/.env"], "{length}");
    }
    // Its contents count where nothing has changed: otherwise it would be of no use.
    let at = whole.windows(4).rposition(|bytes| bytes == b".env").unwrap();
    let mut other = whole;
    other[at..at + 4].copy_from_slice(b".xxx");
    fs::write(place.memory(), &other).unwrap();
    assert_eq!(place.found(place.spec("**/.env"), true), ["a/.env", "b/c/.xxx"]);
}
