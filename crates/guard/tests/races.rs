//! A second thread swaps what a path leads to as fast as it can, for a bounded time. The guard never acts on what it did not judge.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ringfence_guard::{Abort, Access, Config, Guard, Refusal};
use rustix::fs::{CWD, RenameFlags};
use stage::poorer::{KEEPING_RENAMES, OPENAT2, UNNAMED_FILES, run_again};
use stage::{Tree, guard};

/// Duration of each race.
const BOUND: Duration = Duration::from_millis(1200);

/// Swaps two names with each other until told to stop, and says how often.
fn swap(a: &Path, b: &Path, stop: &AtomicBool) -> usize {
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) {
        rustix::fs::renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
        swaps += 1;
    }
    swaps
}

/// Stops the swapping thread when dropped, also when an assertion fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs something again and again while two names are swapped, and says how often it succeeded and how often not.
fn race(a: &Path, b: &Path, mut act: impl FnMut() -> bool) -> (usize, usize) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let swapping = scope.spawn(|| swap(a, b, &stop));
        let stopping = Stop(&stop);
        let begin = Instant::now();
        let (mut done, mut refused) = (0, 0);
        // Both have to have been seen, or nothing was tried.
        while begin.elapsed() < BOUND || (done == 0 || refused == 0) && begin.elapsed() < BOUND * 10 {
            if act() { done += 1 } else { refused += 1 }
        }
        drop(stopping);
        let swaps = swapping.join().unwrap();
        assert!(swaps > 100 && done > 0 && refused > 0, "{swaps} swaps, {done} done, {refused} refused");
        (done, refused)
    })
}

fn read(guard: &Guard, path: &Path) -> Option<String> {
    let opened = guard.read(path, &Abort::new()).ok()?;
    let mut text = String::new();
    opened.file().ok()?.read_to_string(&mut text).unwrap();
    Some(text)
}

/// The tree, and a guard that lets nothing out of it.
fn jailed() -> (Tree, Guard) {
    let tree = Tree::plant();
    let guard = guard(&Config::default_in(&tree.ws), "write");
    (tree, guard)
}

fn assert_outside_untouched(tree: &Tree) {
    assert_eq!(fs::read(tree.root.join("out/secret.txt")).unwrap(), b"SECRET");
    let names: Vec<PathBuf> =
        fs::read_dir(tree.root.join("out")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(names, [tree.root.join("out/secret.txt")]);
}

#[test]
fn a_file_swapped_with_a_link_to_outside_is_never_read_through() {
    let (tree, guard) = jailed();
    let (a, link) = (tree.ws.join("a.txt"), tree.ws.join("link-file"));
    race(&a, &link, || read(&guard, Path::new("a.txt")).inspect(|text| assert_eq!(text, "a")).is_some());
}

#[test]
fn a_directory_swapped_with_a_link_to_outside_is_never_read_through() {
    let (tree, guard) = jailed();
    fs::write(tree.ws.join("dir/secret.txt"), "inside").unwrap();
    let (dir, link) = (tree.ws.join("dir"), tree.ws.join("link-dir"));
    race(&dir, &link, || {
        read(&guard, Path::new("dir/secret.txt")).inspect(|text| assert_eq!(text, "inside")).is_some()
    });
}

#[test]
fn a_link_whose_target_is_swapped_is_never_read_through() {
    let (tree, guard) = jailed();
    let (inside, outside) = (tree.ws.join("to-a"), tree.ws.join("to-secret"));
    symlink("a.txt", &inside).unwrap();
    symlink("../out/secret.txt", &outside).unwrap();
    symlink("to-a", tree.ws.join("through")).unwrap();
    race(&inside, &outside, || {
        read(&guard, Path::new("through")).inspect(|text| assert_eq!(text, "a")).is_some()
    });
}

#[test]
fn a_forbidden_file_swapped_with_another_is_never_read_under_its_name() {
    let (tree, guard) = jailed();
    symlink("a.txt", tree.ws.join("harmless")).unwrap();
    let (harmless, env) = (tree.ws.join("harmless"), tree.ws.join("link-to-env"));
    race(&harmless, &env, || {
        read(&guard, Path::new("harmless")).inspect(|text| assert_eq!(text, "a")).is_some()
    });
}

#[test]
fn a_write_never_lands_outside() {
    let (tree, guard) = jailed();
    let (dir, link) = (tree.ws.join("dir"), tree.ws.join("link-dir"));
    let paths = ["dir/secret.txt", "dir/new.txt", "dir/x/y.txt"];
    let mut turn = 0;
    race(&dir, &link, || {
        turn += 1;
        let path = Path::new(paths[turn % paths.len()]);
        let written = guard.write(path, &Abort::new()).map(|place| place.replace(b"ours"));
        matches!(written, Ok(Ok(())))
    });
    assert_outside_untouched(&tree);
}

#[test]
fn a_write_through_a_file_that_becomes_a_link_never_lands_outside() {
    let (tree, guard) = jailed();
    let (a, link) = (tree.ws.join("a.txt"), tree.ws.join("link-file"));
    race(&a, &link, || {
        let written = guard.write(Path::new("a.txt"), &Abort::new()).map(|place| place.replace(b"ours"));
        matches!(written, Ok(Ok(())))
    });
    assert_outside_untouched(&tree);
    let target = [&a, &link].into_iter().find(|path| fs::symlink_metadata(path).unwrap().is_symlink());
    // A rename may have put our file where the link was at that moment: the name was judged, and the link is gone then.
    assert!(target.is_none_or(|link| fs::read_link(link).unwrap() == tree.root.join("out/secret.txt")));
}

#[test]
fn removing_and_moving_never_reach_outside() {
    let (tree, guard) = jailed();
    let (dir, link) = (tree.ws.join("dir"), tree.ws.join("link-dir"));
    let mut turn = 0;
    race(&dir, &link, || {
        turn += 1;
        // Whichever of the two is the directory now has to have a file to lose.
        let real = if fs::symlink_metadata(&dir).is_ok_and(|found| found.is_dir()) { &dir } else { &link };
        if fs::symlink_metadata(real).is_ok_and(|found| found.is_dir()) {
            drop(fs::OpenOptions::new().create_new(true).write(true).open(tree.ws.join("b2.txt")));
            drop(fs::rename(tree.ws.join("b2.txt"), tree.ws.join("dir/victim.txt")));
        }
        let name = guard.remove(Path::new("dir/secret.txt"), &Abort::new());
        assert!(
            !matches!(name.map(ringfence_guard::Removable::remove), Ok(Ok(()))),
            "there is no such file inside"
        );
        guard.remove(Path::new("dir/victim.txt"), &Abort::new()).is_ok_and(|name| name.remove().is_ok())
    });
    assert_eq!(fs::read(tree.root.join("out/secret.txt")).unwrap(), b"SECRET");
}

#[test]
fn can_access_and_a_walk_see_only_what_is_inside() {
    let (tree, guard) = jailed();
    let (dir, link) = (tree.ws.join("dir"), tree.ws.join("link-dir"));
    race(&dir, &link, || {
        let directory = guard.list(Path::new("."), &Abort::new()).unwrap();
        let mut entered = false;
        for entry in directory.entries().unwrap() {
            let entry = entry.unwrap();
            assert!(directory.path().join(entry.name()).starts_with(&tree.ws));
            let Ok(inner) = directory.enter(&entry) else { continue };
            entered |= entry.name() == "dir";
            for entry in inner.entries().unwrap() {
                assert_ne!(entry.unwrap().name(), "secret.txt");
            }
        }
        entered
    });
    race(&dir, &link, || {
        let denied = guard.authorize(Access::Read(Path::new("dir/secret.txt")), &Abort::new());
        assert!(denied.is_err());
        matches!(denied, Err(Refusal::Denied(_)))
    });
}

#[test]
fn a_step_back_over_a_directory_that_moves_never_leads_out() {
    let (tree, guard) = jailed();
    // `deep/er/../../a.txt` leads out of the workspace if `deep/er` is moved up between the steps.
    fs::create_dir_all(tree.ws.join("deep/er")).unwrap();
    fs::create_dir_all(tree.root.join("out2/er")).unwrap();
    fs::write(tree.root.join("a.txt"), "SECRET").unwrap();
    let (inside, above) = (tree.ws.join("deep/er"), tree.ws.join("er"));
    fs::create_dir(&above).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let swapping = scope.spawn(|| swap(&inside, &above, &stop));
        let stopping = Stop(&stop);
        let begin = Instant::now();
        while begin.elapsed() < BOUND {
            for path in ["deep/er/../../a.txt", "er/../../a.txt", "deep/er/../../../a.txt"] {
                let text = read(&guard, Path::new(path));
                assert!(text.as_deref().is_none_or(|text| text == "a"), "{path}: {text:?}");
            }
        }
        drop(stopping);
        assert!(swapping.join().unwrap() > 100);
    });
}

#[test]
fn the_same_where_the_kernel_can_do_less() {
    run_again(&[OPENAT2, UNNAMED_FILES, KEEPING_RENAMES]);
}
