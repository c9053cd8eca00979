use std::ffi::OsString;
use std::path::{Path, PathBuf};

use policy::Limits;

use super::{landlock_plan, relocated_environment};
use crate::plan::{Conflict, Entry, Host, Owner};
use crate::spec::{Mode, Spec};

/// A small machine: what is named here exists, everything else does not.
fn host(paths: &[&str]) -> Host {
    let owner = Owner { uid: 1000, gid: 1000 };
    let fixed = ["/usr", "/etc/ssl", "/etc/ssl/private", "/etc/alternatives", "/etc/shadow", "/home", "/w"];
    let directories = fixed.iter().chain(paths).zip(1..);
    let mut entries: std::collections::HashMap<PathBuf, Entry> =
        directories.map(|(path, inode)| (PathBuf::from(path), Entry::Directory(owner, (1, inode)))).collect();
    entries.insert("/bin".into(), Entry::Link("usr/bin".into()));
    entries.insert("/dev/null".into(), Entry::Other((2, 1)));
    let texts = vec![(PathBuf::from("/etc/hosts"), b"127.0.0.1 localhost\n".to_vec())];
    Host { caller: owner, user: "ada".to_owned(), powerful: false, entries, texts }
}

type Views<'a> = &'a [(&'a str, Mode)];
type Variables<'a> = &'a [(&'a str, &'a str)];

fn spec(views: Views<'_>) -> Spec {
    let spec = Spec::for_workspace(Path::new("/w"), Path::new("/home/ada"), Limits::none());
    views.iter().fold(spec, |spec, (path, mode)| spec.view(Path::new(path), *mode))
}

#[test]
fn reads_well() {
    let plan = landlock_plan(
        &spec(&[("/w/lib", Mode::ReadWrite), ("/data", Mode::ReadOnly)]),
        &host(&["/w/lib", "/data"]),
    );
    insta::assert_snapshot!(plan.unwrap(), @r"
    read /usr
    read /etc/alternatives
    device /dev/null
    read /etc/hosts
    read /etc/ssl/certs
    read /etc/ssl/openssl.cnf
    read /etc/ssl/cert.pem
    read /etc/passwd
    read /etc/group
    read /proc/cpuinfo
    read /proc/filesystems
    read /proc/loadavg
    read /proc/meminfo
    read /proc/stat
    read /proc/sys
    read /proc/uptime
    read /proc/version
    write /w
    write /w/lib
    read /data
    unreadable /etc/shadow
    unreadable /home
    ");
}

#[test]
fn what_cannot_be_expressed_is_refused() {
    use Mode::{Hidden, Layered, Private, ReadOnly, ReadWrite};
    let part_protected = "Landlock cannot protect a part of what may be changed";
    let part_hidden = "Landlock cannot hide a part of what it shows";
    let elsewhere = "without namespaces a directory cannot be another one inside";
    let rows: &[(Views<'_>, Option<(&str, &str)>)] = &[
        (&[("/w/.git", ReadOnly)], Some(("/w/.git", part_protected))),
        (&[("/w/.git", Hidden)], Some(("/w/.git", part_hidden))),
        (&[("/w/.git", Private)], Some(("/w/.git", elsewhere))),
        (&[("/w/.git", Layered)], Some(("/w/.git", "without namespaces there are no layers"))),
        (&[("/w", Layered)], Some(("/w", "without namespaces there are no layers"))),
        (&[("/usr/secret", Hidden)], Some(("/usr/secret", part_hidden))),
        (&[("/data", ReadOnly), ("/data/keys", Hidden)], Some(("/data/keys", part_hidden))),
        (
            &[("/data", ReadOnly), ("/data/out", ReadWrite), ("/data/out/x", ReadOnly)],
            Some(("/data/out/x", part_protected)),
        ),
        (&[("/data", ReadOnly), ("/data/out", ReadWrite)], None),
        (&[("/data", Hidden)], None),
        (&[("/data", Hidden), ("/data/out", ReadWrite)], None),
        (&[("/database", ReadOnly)], None),
        // Root's keys, which no view of theirs was asked for.
        (&[("/w", ReadOnly), ("/etc/ssl", ReadOnly)], Some(("/etc/ssl/private", part_hidden))),
    ];
    let there = ["/w/.git", "/usr/secret", "/data", "/data/keys", "/data/out", "/data/out/x", "/database"];
    for (views, expected) in rows {
        let found = landlock_plan(&spec(views), &host(&there)).err();
        let expected = expected.map(|(path, why)| Conflict::NotEnforceable(PathBuf::from(path), why));
        assert_eq!(found, expected, "{views:?}");
    }
}

#[test]
fn what_means_nothing_is_refused_as_by_every_provider() {
    let missing = landlock_plan(&spec(&[("/nowhere", Mode::ReadOnly)]), &host(&[])).unwrap_err();
    assert_eq!(missing, Conflict::Missing(PathBuf::from("/nowhere")));
}

#[test]
fn a_view_is_one_object_and_a_path_of_the_system_whatever_is_there() {
    let plan = landlock_plan(&spec(&[]), &host(&[])).unwrap();
    let id = |path: &str| plan.rules.iter().find(|rule| rule.path == Path::new(path)).map(|rule| rule.id);
    assert_eq!((id("/w"), id("/usr"), id("/home")), (Some(Some((1, 7))), Some(None), None));
}

#[test]
fn home_and_temporary_files_move() {
    let rows: &[(Variables<'_>, Variables<'_>)] = &[
        (&[], &[("HOME", "/s/home"), ("TMPDIR", "/s/tmp")]),
        (
            &[("HOME", "/home/ada"), ("TMP", "/tmp"), ("A", "b")],
            &[("TMP", "/s/tmp"), ("A", "b"), ("HOME", "/s/home"), ("TMPDIR", "/s/tmp")],
        ),
    ];
    let words = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    for (before, after) in rows {
        assert_eq!(
            relocated_environment(&words(before), Path::new("/s/home"), Path::new("/s/tmp")),
            words(after)
        );
    }
}
