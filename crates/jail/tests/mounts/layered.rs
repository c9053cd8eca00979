//! Changes in a layered view are visible inside only.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ringfence_jail::plan::Conflict;
use ringfence_jail::{End, JailError, Kept, Layer, Mode, Spec, hold};

use crate::place::{NATIVE, Place, command, run, said, works};
use crate::skip::skipped;

/// Everything in a directory as a person would compare it: kind, mode, owner, links, content.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = match meta.file_type() {
            kind if kind.is_dir() => {
                todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                String::new()
            }
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().display().to_string(),
            _ => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
        };
        let about =
            format!("{:o} {} {} {} {content}", meta.mode(), meta.uid(), meta.nlink(), meta.mtime_nsec());
        found.insert(path.strip_prefix(root).unwrap().to_owned(), about);
    }
    found
}

/// A directory with something of every kind in it.
fn full(place: &Place, name: &str) -> PathBuf {
    let root = place.directory(name);
    place.file(&format!("{name}/changed"), "before\n");
    place.file(&format!("{name}/removed"), "gone\n");
    place.file(&format!("{name}/deep/er/file"), "deep\n");
    place.file(&format!("{name}/twin"), "twin\n");
    fs::hard_link(root.join("twin"), root.join("other")).unwrap();
    std::os::unix::fs::symlink("changed", root.join("link")).unwrap();
    fs::set_permissions(root.join("changed"), fs::Permissions::from_mode(0o640)).unwrap();
    root
}

/// A place for changes, as the caller makes it.
fn kept(place: &Place, name: &str) -> PathBuf {
    let directory = place.directory(name);
    for part in [Kept::UPPER, Kept::WORK] {
        fs::create_dir(directory.join(part)).unwrap();
    }
    directory
}

/// The kernel leaves a directory there that is closed even to its owner.
fn open_up(changes: &Path) {
    let work = changes.join(Kept::WORK).join("work");
    fs::set_permissions(work, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Changes of every kind, and how they look from inside.
const CHANGES: &str = "
    echo after >>changed; chmod 755 changed; rm removed; echo new >added
    ln -sf elsewhere link; ln added second; echo x >>twin
    mkdir dir; echo y >dir/y; rm -r deep; mkdir deep; echo z >deep/z
    mv dir moved; mv added renamed
    [ $(stat -c %a changed) = 755 ]; [ $(cat changed | wc -l) = 2 ]
    [ ! -e removed ]; [ $(readlink link) = elsewhere ]; [ $(stat -c %h renamed) = 2 ]
    [ \"$(ls deep)\" = z ]; [ \"$(ls moved)\" = y ]; [ -O changed ]; [ -O deep/z ]
    ls";

const AFTER: &[u8] = b"changed\ndeep\nlink\nmoved\nother\nrenamed\nsecond\ntwin\n";

#[test]
fn changes_stay_inside() {
    if !works("layers") {
        return;
    }
    let place = Place::new();
    let root = full(&place, "cache");
    let before = tree(&root);
    let spec = place.spec(&[(&root, Mode::Layered)]);
    let script = format!("cd {}; {CHANGES}", root.display());
    // Twice: of the first nothing is left to be seen by the second.
    for _ in 0..2 {
        assert_eq!(said(&spec, &script), AFTER);
        assert_eq!(tree(&root), before);
    }
    let held = hold(NATIVE, &spec, &command(&["true"], &place.work())).unwrap();
    let files = held.enforcement().reached(Layer::Files).clone();
    assert!(!files.by.contains("layers"), "{files:?}");
}

/// The same for the workspace itself, with the changes in a directory of the host.
#[test]
fn changes_are_kept_where_the_spec_says() {
    if !works("layers that are kept") {
        return;
    }
    let place = Place::new();
    let root = full(&place, "work");
    let changes = kept(&place, "kept");
    let before = tree(&root);
    let spec = place.spec(&[]).keep(&root, &changes);
    assert_eq!(said(&spec, CHANGES), AFTER);
    assert_eq!(tree(&root), before);
    let upper = changes.join(Kept::UPPER);
    assert_eq!(fs::read_to_string(upper.join("changed")).unwrap(), "before\nafter\n");
    let gone = fs::symlink_metadata(upper.join("removed")).unwrap();
    assert_eq!((gone.mode() & 0o170_000, gone.rdev()), (0o020_000, 0));
    assert_eq!(fs::metadata(upper.join("renamed")).unwrap().uid(), fs::metadata(&root).unwrap().uid());
    // The next one goes on from there.
    assert_eq!(said(&spec, "ls; echo again >>changed"), AFTER);
    assert_eq!(fs::read_to_string(upper.join("changed")).unwrap(), "before\nafter\nagain\n");
    assert_eq!(tree(&root), before);
    open_up(&changes);
}

/// A directory of the lower one that is moved has to be copied: programs know that from other file systems.
#[test]
fn directories_from_below_are_moved_by_copying() {
    if !works("moving directories in layers") {
        return;
    }
    let place = Place::new();
    let root = full(&place, "cache");
    let before = tree(&root);
    let spec = place.spec(&[(&root, Mode::Layered)]);
    let script = format!(
        "cd {}; mv deep elsewhere; cat elsewhere/er/file; ls -d deep 2>/dev/null || echo gone",
        root.display()
    );
    assert_eq!(said(&spec, &script), b"deep\ngone\n");
    assert_eq!(tree(&root), before);
}

/// Paths that other views show or hide in it stay as they say.
#[test]
fn views_in_a_layer_hold() {
    if !works("views in layers") {
        return;
    }
    let place = Place::new();
    let root = full(&place, "work");
    let changes = kept(&place, "kept");
    let spec = place.spec(&[(&root.join("twin"), Mode::ReadOnly), (&root.join("deep"), Mode::Hidden)]);
    let spec = spec.keep(&root, &changes);
    let script = "! echo x 2>/dev/null >>twin; ls deep; ! rm -rf deep 2>/dev/null; ! mv twin away 2>/dev/null; ls /.layer 2>/dev/null || ls -A /proc/1 >/dev/null; ls -A / | grep layer || echo none";
    assert_eq!(said(&spec, script), b"none\n");
    assert!(root.join("deep/er/file").exists());
    open_up(&changes);
}

#[test]
fn two_at_once_do_not_see_each_other() {
    if !works("two layers at once") {
        return;
    }
    let place = Place::new();
    let root = full(&place, "cache");
    let before = tree(&root);
    let spec = place.spec(&[(&root, Mode::Layered)]);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (spec, root) = (&spec, &root);
            scope.spawn(move || {
                let script =
                    format!("cd {}; echo {number} >mine; rm changed; sleep 0.2; cat mine", root.display());
                assert_eq!(said(spec, &script), format!("{number}\n").as_bytes());
            });
        }
    });
    assert_eq!(tree(&root), before);
}

/// With the processes killed in the middle: of a private layer nothing is left, and of a kept one what was written.
#[test]
fn nothing_is_left_of_a_private_layer() {
    if !works("the end of layers") {
        return;
    }
    let place = Place::new();
    let (cache, root) = (full(&place, "cache"), full(&place, "work"));
    let changes = kept(&place, "kept");
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = (tree(&cache), tree(&root), mounts());
    let spec = place.spec(&[(&cache, Mode::Layered)]).keep(&root, &changes);
    let script =
        format!("rm -r {0}/deep; echo x >{0}/x; echo written >x; mkdir done; sleep 1000", cache.display());
    let running = hold(NATIVE, &spec, &command(&["sh", "-c", &script], &root)).unwrap().release().unwrap();
    let upper = changes.join(Kept::UPPER);
    let written = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        upper.join("done").exists()
    });
    assert!(written);
    drop(running);
    assert_eq!((tree(&cache), tree(&root), mounts()), before);
    assert_eq!(fs::read_to_string(upper.join("x")).unwrap(), "written\n");
    open_up(&changes);
}

/// The private space has one size, and what goes to a layer counts.
#[test]
fn layers_count_as_private_space() {
    if !works("the size of layers") {
        return;
    }
    let place = Place::new();
    let root = full(&place, "cache");
    let mut spec = place.spec(&[(&root, Mode::Layered)]);
    spec.limits.tmp = Some(4 << 20);
    let script = format!(
        "head -c 3000000 /dev/zero >{0}/big; ! head -c 3000000 /dev/zero 2>&- >/tmp/big",
        root.display()
    );
    let outcome = run(&spec, &command(&["sh", "-ec", &script], &place.work())).unwrap();
    assert_ne!(outcome.end, End::Exited(1), "{outcome:?}");
}

#[test]
fn places_for_changes_that_are_none_are_refused() {
    let place = Place::new();
    let (work, changes) = (place.work(), kept(&place, "kept"));
    let inside = kept(&place, "work/kept");
    let around = place.path("");
    let around = around.parent().unwrap().join(around.file_name().unwrap());
    let file = place.file("file", "");
    let other = place.directory("other");
    let rows: &[(&str, Spec)] = &[
        ("it is seen inside", place.spec(&[]).keep(&work, &inside)),
        ("it has a view in it", place.spec(&[]).keep(&work, &around)),
        ("it is not a directory", place.spec(&[]).keep(&work, &place.path("missing"))),
        ("it is not a directory", place.spec(&[]).keep(&work, &file)),
        ("it is not a layered view", place.spec(&[]).keep(&work, &changes).view(&work, Mode::ReadWrite)),
        ("one of the two is asked for twice", place.spec(&[]).keep(&work, &changes).keep(&other, &changes)),
    ];
    for (wanted, spec) in rows {
        match hold(NATIVE, spec, &command(&["true"], &work)) {
            Err(JailError::Conflict(Conflict::Kept { why, .. })) => assert_eq!(why, *wanted),
            Err(JailError::Unavailable { .. }) => return,
            Err(other) => panic!("{wanted}: {other:?}"),
            Ok(_) => panic!("{wanted}: held"),
        }
    }
}

/// A directory with something else mounted in it cannot be below a layer: what is covered there would be seen.
///
/// The mount is made in a mount namespace of its own, by root: the test starts itself again there.
#[test]
fn what_cannot_be_layered_can_only_be_read() {
    const AGAIN: &str = "what_cannot_be_layered_can_only_be_read";
    if !works("directories that cannot be layered") {
        return;
    }
    if let Some(place) = std::env::var_os(AGAIN) {
        return only_read(Path::new(&place));
    }
    let place = Place::new();
    let root = full(&place, "cache");
    let script = "mount -t tmpfs none \"$0/deep\" || exit 77; exec \"$1\" --exact layered::$2 --nocapture";
    let mut again = std::process::Command::new("unshare");
    again.args(["--mount", "sh", "-c", script]).arg(&root).arg(std::env::current_exe().unwrap()).arg(AGAIN);
    let ended = again.env(AGAIN, &root).output().unwrap();
    if ended.status.code() == Some(77) || !ended.status.success() && !is_root() {
        return skipped("a directory that cannot be layered", "only root mounts something to try it");
    }
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn only_read(root: &Path) {
    let place = Place::new();
    let spec = place.spec(&[(root, Mode::Layered)]);
    let script = format!(
        "cd {}; ! echo x 2>/dev/null >changed; ! rm removed 2>/dev/null; cat changed",
        root.display()
    );
    assert_eq!(said(&spec, &script), b"before\n");
    let held = hold(NATIVE, &spec, &command(&["true"], &place.work())).unwrap();
    let files = held.enforcement().reached(Layer::Files).clone();
    assert!(files.by.contains("layers can only be read: the kernel cannot put a layer over"), "{files:?}");
    // Changes that were to be kept would be lost: that is no jail.
    let spec = place.spec(&[]).keep(root, &kept(&place, "kept"));
    assert!(hold(NATIVE, &spec, &command(&["true"], &place.work())).is_err());
}
