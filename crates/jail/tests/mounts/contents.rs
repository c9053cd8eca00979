//! Files with given bytes: they cover what the host has, and nothing inside changes them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ringfence_jail::Mode::{ReadOnly, ReadWrite};
use ringfence_jail::plan::Conflict;
use ringfence_jail::{Choice, JailError, Provider, Spec, hold};

use crate::place::{Place, command, run, said, works};

/// Longer than one write of a page, and the same at no two places of a page.
fn long() -> Vec<u8> {
    (0..60_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// A file of the system, a copied one, a link and a file of a view, and private space with and without a directory.
fn paths(place: &Place) -> Vec<PathBuf> {
    let system = ["/etc/ssl/openssl.cnf", "/usr/bin/env", "/usr/bin/awk"];
    let mut paths: Vec<PathBuf> =
        system.into_iter().map(PathBuf::from).filter(|path| path.symlink_metadata().is_ok()).collect();
    paths.extend(["/etc/resolv.conf", "/etc/new", "/home/agent/deep/file", "/tmp/file"].map(PathBuf::from));
    paths.extend(["shown/link", "shown/dangling", "shown/file"].map(|name| place.path(name)));
    paths
}

fn with_contents(place: &Place, bytes: &[u8]) -> (Spec, Vec<PathBuf>) {
    let file = place.file("shown/file", "host");
    symlink(&file, place.path("shown/link")).unwrap();
    symlink("nowhere", place.path("shown/dangling")).unwrap();
    let spec = place.spec(&[(&place.path("shown"), ReadOnly)]);
    let paths = paths(place);
    (paths.iter().fold(spec, |spec, path| spec.content(path, bytes)), paths)
}

#[test]
fn are_plain_files_with_their_bytes() {
    if !works("files with given bytes") {
        return;
    }
    let (place, bytes) = (Place::new(), long());
    let (spec, paths) = with_contents(&place, &bytes);
    fs::write(place.path("work/expected"), &bytes).unwrap();
    for path in &paths {
        let path = path.to_str().unwrap();
        assert_eq!(said(&spec, &format!("cmp {path} expected && echo same")), b"same\n", "{path}");
        assert_eq!(said(&spec, &format!("stat -c '%F %a' {path}")), b"regular file 444\n", "{path}");
    }
    assert_eq!(fs::read(place.path("shown/file")).unwrap(), b"host");
    assert_eq!(said(&spec, "ls -A / | grep content || true"), b"", "a name is left");
    assert!(!Path::new("/etc/new").exists(), "it was made on the host");
    let notes = hold(Choice::Only(Provider::Native), &spec, &command(&["true"], &place.work())).unwrap();
    let files = notes.enforcement().reached(ringfence_jail::Layer::Files).by.clone();
    assert!(!files.contains("twice"), "the tree was built again: {files}");
}

#[test]
fn cannot_be_changed() {
    if !works("files with given bytes that stay") {
        return;
    }
    let place = Place::new();
    let (spec, paths) = with_contents(&place, b"ours\n");
    let attacks = [
        "echo theirs >$P",
        "rm -f $P",
        "mv $P /tmp/away",
        "echo theirs >/tmp/new; mv -f /tmp/new $P",
        "ln -sf /tmp/x $P",
        "chmod 777 $P",
        "truncate -s 0 $P",
        "touch $P",
        "ln $P /tmp/second",
        "umount $P",
        "mount --bind /tmp $P",
        "for f in /proc/self/fd/9; do echo theirs >$f; done 9<$P",
    ];
    for path in &paths {
        let attacks: String =
            attacks.iter().map(|attack| ["(", attack, ") && echo 'done: ", attack, "'\n"].concat()).collect();
        let begin = format!("P={}; exec 2>/dev/null\n", path.display());
        let script = begin + &attacks + "cat $P; chmod +x $P; $P || echo not executed";
        assert_eq!(
            String::from_utf8_lossy(&said(&spec, &format!("set +e\n{script}"))),
            "ours\nnot executed\n",
            "{}",
            path.display()
        );
    }
}

/// A size that does not fit is an error, not half a file.
#[test]
fn that_do_not_fit_are_refused() {
    if !works("a file that does not fit") {
        return;
    }
    let place = Place::new();
    let mut spec = place.spec(&[]).content(Path::new("/etc/new"), vec![b'x'; 4 << 20]);
    spec.limits.tmp = Some(1 << 20);
    let error = run(&spec, &command(&["true"], &place.work())).unwrap_err();
    assert!(error.to_string().contains("make the content of /etc/new"), "{error}");
}

#[test]
fn that_mean_nothing_are_refused() {
    let place = Place::new();
    place.file("shown/file", "host");
    place.directory("shown/directory");
    place.file("written/file", "host");
    symlink("directory", place.path("shown/link")).unwrap();
    let spec = place.spec(&[(&place.path("shown"), ReadOnly), (&place.path("written"), ReadWrite)]);
    let changed = "it lies in a view that can be changed";
    let rows = [
        (place.path("shown/none"), Conflict::Missing(place.path("shown/none"))),
        (place.path("shown"), Conflict::Overlap(place.path("shown"))),
        (place.path("written/file"), Conflict::NotEnforceable(place.path("written/file"), changed)),
        (
            place.path("shown/directory"),
            Conflict::NotEnforceable(place.path("shown/directory"), "it is a directory"),
        ),
        (
            place.path("shown/link/file"),
            Conflict::Link(place.path("shown/link/file"), place.path("shown/directory/file")),
        ),
        ("/proc/version".into(), Conflict::Reserved("/proc/version".into(), "/proc".into())),
    ];
    for (path, conflict) in rows {
        let error =
            run(&spec.clone().content(&path, *b"ours"), &command(&["true"], &place.work())).unwrap_err();
        assert!(matches!(&error, JailError::Conflict(found) if *found == conflict), "{error}");
    }
    for provider in [Provider::Bubblewrap, Provider::Landlock] {
        let spec = place.spec(&[]).content(Path::new("/etc/new"), *b"ours");
        assert!(hold(Choice::Only(provider), &spec, &command(&["true"], &place.work())).is_err());
    }
}
