//! Workspaces in which something is mounted, or that something is mounted over. Each test runs in a mount namespace of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]
#![cfg(target_os = "linux")]

mod stage;

use std::ffi::CString;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ringfence_guard::{Abort, Config, Guard, Refusal, Trouble};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use stage::apart::apart;
use stage::poorer::{KEEPING_RENAMES, OPENAT2, UNNAMED_FILES, run_again};
use stage::skip::skipped;
use stage::{Tree, guard};

fn text(guard: &Guard, path: &str) -> Result<String, Option<Trouble>> {
    let opened = guard.read(Path::new(path), &Abort::new()).map_err(|refusal| refusal.trouble())?;
    let mut text = String::new();
    opened.file().map_err(Some)?.read_to_string(&mut text).unwrap();
    Ok(text)
}

fn write(guard: &Guard, path: &str, content: &str) -> Result<(), Option<Trouble>> {
    let place = guard.write(Path::new(path), &Abort::new()).map_err(|refusal| refusal.trouble())?;
    place.replace(content.as_bytes()).map_err(Some)
}

fn move_it(guard: &Guard, from: &str, to: &str) -> Result<(), Trouble> {
    let to = guard.write(Path::new(to), &Abort::new()).unwrap();
    guard.remove(Path::new(from), &Abort::new()).unwrap().move_to(to)
}

fn remove(guard: &Guard, path: &str) -> Result<(), Trouble> {
    guard.remove(Path::new(path), &Abort::new()).unwrap().remove()
}

const fn system(errno: Errno) -> Trouble {
    Trouble::System(errno)
}

/// No name of ours was left behind.
fn assert_none_left(directory: &Path) {
    let left = left(directory);
    assert!(left.is_empty(), "{left:?}");
}

/// Names of ours, anywhere below a directory.
fn left(directory: &Path) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with(".ringfence-") {
            left.push(entry.path());
        }
        if entry.file_type().unwrap().is_dir() {
            left.extend(self::left(&entry.path()));
        }
    }
    left
}

fn content(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

fn jailed(tree: &Tree) -> Guard {
    guard(&Config { allow_absolute_paths: true, ..Config::default_in(&tree.ws) }, "write")
}

fn tmpfs(on: &Path, options: &str) {
    let options = CString::new(options).unwrap();
    mount("tmpfs", on, "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
}

#[test]
fn a_directory_that_is_mounted_in_the_workspace_belongs_to_it() {
    apart("a_directory_that_is_mounted_in_the_workspace_belongs_to_it", || {
        let tree = Tree::plant();
        let (mnt, far) = (tree.ws.join("mnt"), tree.root.join("out/far"));
        for path in [&mnt, &far] {
            fs::create_dir(path).unwrap();
        }
        fs::write(far.join("f.txt"), "f").unwrap();
        symlink("../secret.txt", far.join("up")).unwrap();
        let before = jailed(&tree);
        mount_bind(&far, &mnt).unwrap();
        for guard in [before, jailed(&tree)] {
            assert_eq!(text(&guard, "mnt/f.txt").unwrap(), "f");
            let opened = guard.read(Path::new("mnt/f.txt"), &Abort::new()).unwrap();
            assert!(opened.location().is_inside());
            assert_eq!(opened.location().path(), mnt.join("f.txt"));
            // A step back leads where the directory is mounted, not where it is from.
            assert_eq!(text(&guard, "mnt/../a.txt").unwrap(), "a");
            assert_eq!(text(&guard, "mnt/up"), Err(Some(Trouble::NotFound)));
            assert_eq!(text(&guard, "mnt/../../out/far/f.txt"), Err(None), "its other name is outside");
            write(&guard, "mnt/f.txt", "new").unwrap();
            write(&guard, "mnt/deep/er.txt", "deep").unwrap();
            assert_eq!(
                (content(far.join("f.txt")), content(far.join("deep/er.txt"))),
                ("new".into(), "deep".into())
            );
            // A file that cannot be moved in one step is not moved.
            assert_eq!(move_it(&guard, "a.txt", "mnt/a.txt"), Err(system(Errno::XDEV)));
            assert_eq!(move_it(&guard, "a.txt", "mnt/f.txt"), Err(system(Errno::XDEV)));
            assert_eq!(move_it(&guard, "mnt/f.txt", "b.txt"), Err(system(Errno::XDEV)));
            assert_eq!(
                (content(tree.ws.join("a.txt")), content(far.join("f.txt"))),
                ("a".into(), "new".into())
            );
            assert!(!far.join("a.txt").exists());
            assert_eq!(remove(&guard, "mnt"), Err(system(Errno::BUSY)));
            remove(&guard, "mnt/deep/er.txt").unwrap();
            let names: Vec<_> =
                guard.list(Path::new("mnt"), &Abort::new()).unwrap().entries().unwrap().collect();
            assert_eq!(names.len(), 3);
            fs::write(far.join("f.txt"), "f").unwrap();
        }
        assert_none_left(&tree.root);
    });
}

#[test]
fn a_file_that_is_mounted_over_another_is_not_replaced() {
    apart("a_file_that_is_mounted_over_another_is_not_replaced", || {
        let tree = Tree::plant();
        let far = tree.root.join("out/far.txt");
        fs::write(&far, "far").unwrap();
        mount_bind(&far, tree.ws.join("a.txt")).unwrap();
        let guard = jailed(&tree);
        assert_eq!(text(&guard, "a.txt").unwrap(), "far");
        assert_eq!(write(&guard, "a.txt", "new"), Err(Some(system(Errno::BUSY))));
        assert_eq!(write(&guard, "link-in", "new"), Err(Some(system(Errno::BUSY))));
        assert_eq!(move_it(&guard, "b.txt", "a.txt"), Err(system(Errno::BUSY)));
        let came = move_it(&guard, "a.txt", "new.txt");
        assert!(came == Err(system(Errno::BUSY)) || came == Err(system(Errno::XDEV)), "{came:?}");
        assert_eq!(remove(&guard, "a.txt"), Err(system(Errno::BUSY)));
        unmount(tree.ws.join("a.txt"), UnmountFlags::empty()).unwrap();
        assert_eq!(
            ["ws/a.txt", "ws/b.txt", "out/far.txt"].map(|name| content(tree.root.join(name))),
            ["a", "b", "far"]
        );
        assert_none_left(&tree.root);
    });
}

#[test]
fn nothing_is_written_where_nothing_may_be() {
    apart("nothing_is_written_where_nothing_may_be", || {
        let tree = Tree::plant();
        mount_bind(tree.ws.join("dir"), tree.ws.join("dir")).unwrap();
        mount_remount(tree.ws.join("dir"), MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
        let guard = jailed(&tree);
        assert_eq!(text(&guard, "dir/c.txt").unwrap(), "c");
        for path in ["dir/c.txt", "dir/new.txt", "dir/x/y.txt"] {
            assert_eq!(write(&guard, path, "new"), Err(Some(system(Errno::ROFS))), "{path}");
        }
        assert_eq!(remove(&guard, "dir/c.txt"), Err(system(Errno::ROFS)));
        // The workspace itself is not another file system here, so both ends are one.
        assert!(move_it(&guard, "a.txt", "dir/a.txt").is_err());
        assert_eq!(
            (content(tree.ws.join("a.txt")), content(tree.ws.join("dir/c.txt"))),
            ("a".into(), "c".into())
        );
        assert_eq!(fs::read_dir(tree.ws.join("dir")).unwrap().count(), 1);
        assert_none_left(&tree.root);
    });
}

#[test]
fn a_full_file_system_keeps_what_it_has() {
    apart("a_full_file_system_keeps_what_it_has", || {
        let tree = Tree::plant();
        let small = tree.ws.join("small");
        fs::create_dir(&small).unwrap();
        tmpfs(&small, "size=64k,nr_inodes=8");
        fs::write(small.join("old"), "old").unwrap();
        let guard = jailed(&tree);
        write(&guard, "small/old", "older").unwrap();
        let large = "x".repeat(1 << 20);
        for path in ["small/old", "small/new"] {
            assert_eq!(write(&guard, path, &large), Err(Some(system(Errno::NOSPC))), "{path}");
        }
        assert_eq!(content(small.join("old")), "older");
        assert!(!small.join("new").exists());
        // No room for another file at all, however small.
        let fill = |index: usize| fs::write(small.join(format!("fill{index}")), "");
        assert!((0..16).map(fill).any(|filled| filled.is_err()));
        assert_eq!(write(&guard, "small/old", "x"), Err(Some(system(Errno::NOSPC))));
        assert_eq!(content(small.join("old")), "older");
        assert_none_left(&tree.root);
    });
}

#[test]
fn layers_over_each_other_are_one_file_system() {
    let name = "layers_over_each_other_are_one_file_system";
    apart(name, || {
        let tree = Tree::plant();
        let (upper, lower) = (tree.root.join("upper"), tree.root.join("lower"));
        fs::create_dir(&upper).unwrap();
        fs::create_dir_all(lower.join("sub")).unwrap();
        // Upper and lower are different file systems: numbers of files change when they are copied up.
        tmpfs(&upper, "");
        for path in ["upper", "work"] {
            fs::create_dir(upper.join(path)).unwrap();
        }
        for path in ["one", "two", "three", "sub/four", "old"] {
            fs::write(lower.join(path), path).unwrap();
        }
        symlink("one", lower.join("link")).unwrap();
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.join("upper").display(),
            upper.join("work").display()
        );
        let options = CString::new(options).unwrap();
        let on = tree.ws.join("dir");
        if let Err(errno) = mount("overlay", &on, "overlay", MountFlags::empty(), options.as_c_str()) {
            return skipped(name, &format!("no overlay can be mounted: {errno}"));
        }
        let guard = jailed(&tree);
        assert_eq!(text(&guard, "dir/one").unwrap(), "one");
        write(&guard, "dir/one", "new").unwrap();
        write(&guard, "dir/link", "newer").unwrap();
        write(&guard, "dir/sub/four", "new").unwrap();
        write(&guard, "dir/made/here", "new").unwrap();
        move_it(&guard, "dir/two", "dir/moved").unwrap();
        move_it(&guard, "dir/three", "dir/old").unwrap();
        remove(&guard, "dir/sub/four").unwrap();
        let seen =
            ["one", "made/here", "moved", "old"].map(|path| text(&guard, &format!("dir/{path}")).unwrap());
        assert_eq!(seen, ["newer", "new", "two", "three"]);
        for path in ["one", "two", "three", "sub/four", "old"] {
            assert_eq!(content(lower.join(path)), path, "what is below stays");
        }
        assert_none_left(&tree.root);
    });
}

/// Checks a guard that was opened before another directory took the place of its workspace.
fn keeps_to_its_directory(tree: &Tree, guard: &Guard, other: &Path) {
    let ws = tree.ws.to_str().unwrap();
    symlink(tree.ws.join("b.txt"), other.join("link-abs-in")).unwrap();
    for path in ["a.txt", &format!("{ws}/a.txt"), "./a.txt", "dir/../a.txt", "link-in"] {
        let came = text(guard, path);
        assert!(matches!(came.as_deref(), Ok("a") | Err(None | Some(Trouble::Changed))), "{path}: {came:?}");
    }
    let ways = ["link-abs-in", "../ws/a.txt", &format!("{ws}/../ws/a.txt"), &format!("/.{ws}/a.txt")];
    for path in ways {
        assert!(text(guard, path).is_err(), "{path} leads to the other: {:?}", text(guard, path));
        assert!(write(guard, path, "lost").is_err(), "{path}");
        assert!(guard.remove(Path::new(path), &Abort::new()).is_err() || path == "link-abs-in", "{path}");
    }
    for path in ["../ws/new.txt", &format!("/.{ws}/new.txt")] {
        assert!(write(guard, path, "lost").is_err(), "{path}");
    }
    for path in ["b.txt", "new.txt", "x/new.txt"] {
        let came = write(guard, path, "ours");
        assert!(matches!(came, Ok(()) | Err(None | Some(Trouble::Changed))), "{path}: {came:?}");
    }
    if let Ok(listed) = guard.list(Path::new("."), &Abort::new()) {
        assert!(listed.entries().unwrap().all(|entry| entry.unwrap().name() != "other.txt"));
    }
    let mut names: Vec<_> = fs::read_dir(other).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt", "b.txt", "link-abs-in", "other.txt"], "nothing was made in the other");
    assert_eq!([content(other.join("a.txt")), content(other.join("b.txt"))], ["other", "other"]);
    assert_none_left(other);
}

fn other(tree: &Tree) -> PathBuf {
    let other = tree.root.join("out/other");
    fs::create_dir(&other).unwrap();
    for name in ["a.txt", "b.txt", "other.txt"] {
        fs::write(other.join(name), "other").unwrap();
    }
    other
}

#[test]
fn a_workspace_that_is_mounted_over_stays_the_one_that_was_opened() {
    apart("a_workspace_that_is_mounted_over_stays_the_one_that_was_opened", || {
        let tree = Tree::plant();
        let other = other(&tree);
        let guard = jailed(&tree);
        mount_bind(&other, &tree.ws).unwrap();
        assert_eq!(text(&guard, "a.txt").unwrap(), "a", "what has no step back in it is found");
        keeps_to_its_directory(&tree, &guard, &other);
        unmount(&tree.ws, UnmountFlags::empty()).unwrap();
        assert_eq!([content(tree.ws.join("b.txt")), content(tree.ws.join("x/new.txt"))], ["ours", "ours"]);
        assert_none_left(&tree.root);
    });
}

#[test]
fn a_workspace_that_was_moved_away_or_unmounted_stays_the_one_that_was_opened() {
    apart("a_workspace_that_was_moved_away_or_unmounted_stays_the_one_that_was_opened", || {
        let tree = Tree::plant();
        let other = other(&tree);
        let guard = jailed(&tree);
        fs::rename(&tree.ws, tree.root.join("away")).unwrap();
        fs::rename(&other, &tree.ws).unwrap();
        keeps_to_its_directory(&tree, &guard, &tree.ws);
        // A mount that is taken away while it is in use.
        let tree = Tree::plant();
        let other = self::other(&tree);
        fs::rename(&tree.ws, tree.root.join("away")).unwrap();
        fs::rename(&other, &tree.ws).unwrap();
        mount_bind(tree.root.join("away"), &tree.ws).unwrap();
        let guard = jailed(&tree);
        unmount(&tree.ws, UnmountFlags::DETACH).unwrap();
        keeps_to_its_directory(&tree, &guard, &tree.ws);
    });
}

#[test]
fn refusals_of_the_border_hold_across_mounts() {
    apart("refusals_of_the_border_hold_across_mounts", || {
        let tree = Tree::plant();
        // The outside once more, below a link that leads out.
        let again = tree.root.join("again");
        fs::create_dir(&again).unwrap();
        mount_bind(&tree.ws, &again).unwrap();
        let guard = jailed(&tree);
        // Another name of the workspace is another place, which was not judged.
        for path in ["../again/a.txt", "../again/.env", "../again/dir/../a.txt"] {
            let refusal = guard.read(Path::new(path), &Abort::new()).map(|_| ()).unwrap_err();
            assert!(matches!(refusal, Refusal::Denied(_)), "{path}: {refusal}");
        }
        // A forbidden file under another name, inside: what mounts can do is beyond names.
        fs::write(tree.ws.join("harmless"), "").unwrap();
        fs::create_dir(tree.ws.join("sub/.ssh")).unwrap();
        tmpfs(&tree.ws.join("sub/.ssh"), "");
        fs::write(tree.ws.join("sub/.ssh/.env"), "K=3").unwrap();
        assert!(text(&guard, "sub/.ssh/.env").is_err());
    });
}

#[test]
fn the_same_where_the_kernel_cannot_look_up_in_one_call() {
    run_again(&[OPENAT2]);
}

#[test]
fn the_same_on_a_poor_file_system() {
    run_again(&[UNNAMED_FILES, KEEPING_RENAMES]);
}
