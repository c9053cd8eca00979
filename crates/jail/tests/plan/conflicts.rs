//! Every way in which a spec means nothing.

use std::fmt::Write as _;
use std::path::Path;

use policy::Code;
use ringfence_jail::plan::{Conflict, Host, plan};
use ringfence_jail::{Mode, Spec};

use crate::machine::{and, at_home, merged, spec, workspace};

use Mode::{Hidden, Private, ReadOnly, ReadWrite};

fn host() -> Host {
    and(
        merged(),
        "dir /a
         dir /a/w
         dir /w/dir
         file /w/file
         special /w/pipe
         link /w/link -> dir
         link /w/away -> /etc
         dir /w/away/ssl
         dir /w/link/deep
         file /usr/bin/su
         file /bin/su
         link /w/home -> dir
         file /data",
    )
}

fn conflict(spec: &Spec) -> Conflict {
    plan(spec, &host()).unwrap_err()
}

/// Returns the messages for the user, one paragraph per row.
fn told(rows: &[Spec]) -> String {
    rows.iter().fold(String::new(), |mut all, spec| {
        let conflict = conflict(spec);
        writeln!(all, "{} {conflict}\n  {}", conflict.code(), conflict.hint()).unwrap();
        all
    })
}

#[test]
fn paths_that_are_no_paths() {
    let rows = ["w", "./w", "/w/../etc", "/w/./dir", "/w//dir", "/w/", "", "/", "/w/\0"];
    let rows: Vec<_> = rows.iter().map(|path| spec(&[(path, ReadOnly)])).collect();
    insta::assert_snapshot!(told(&rows), @r"
    RF-J001 w is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 ./w is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 /w/../etc is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 /w/./dir is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 /w//dir is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 /w/ is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001  is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 the root directory cannot be a view
      name the directory the agent works in
    RF-J001 /w/\u{0} is not an absolute path without `.` and `..`
      write the path from the root
    ");
}

#[test]
fn above_the_workspace_in_every_mode() {
    let modes = [ReadOnly, ReadWrite, Hidden, Private];
    let rows: Vec<_> = modes.iter().map(|mode| workspace("/a/w", &[("/a", *mode)])).collect();
    insta::assert_snapshot!(told(&rows), @"
    RF-J001 /a contains the workspace /a/w and is read-only for the jail
      name the directories beside the workspace instead
    RF-J001 /a contains the workspace /a/w and is writable for the jail
      name the directories beside the workspace instead
    RF-J001 /a contains the workspace /a/w and is hidden for the jail
      name the directories beside the workspace instead
    RF-J001 /a contains the workspace /a/w and is private for the jail
      name the directories beside the workspace instead
    ");
}

#[test]
fn things_that_cannot_be_shown() {
    let rows = [
        spec(&[("/nowhere", ReadOnly)]),
        spec(&[("/w/pipe", ReadWrite)]),
        spec(&[("/data", Private)]),
        workspace("/nowhere", &[]),
        workspace("/data", &[]),
        workspace("/w/link", &[]),
    ];
    insta::assert_snapshot!(told(&rows), @"
    RF-J002 /nowhere does not exist
      create it first, or take it out: nothing is created on the host
    RF-J001 /w/pipe is neither a file nor a directory
      name a file or a directory
    RF-J001 /data cannot be private: it is not a directory
      name its directory
    RF-J002 /nowhere does not exist
      create it first, or take it out: nothing is created on the host
    RF-J001 /data cannot be the workspace: it is not a directory
      name its directory
    RF-J001 /w/link leads through a symbolic link to /w/dir
      name /w/dir if that is what you mean
    ");
}

#[test]
fn links() {
    let rows = [
        spec(&[("/w/link", ReadOnly)]),
        // Mounts on the way to these would end up elsewhere.
        spec(&[("/w/link/deep", Hidden)]),
        spec(&[("/w/away/ssl", Hidden)]),
        spec(&[("/bin/su", Hidden)]),
    ];
    insta::assert_snapshot!(told(&rows), @"
    RF-J001 /w/link leads through a symbolic link to /w/dir
      name /w/dir if that is what you mean
    RF-J001 /w/link/deep leads through a symbolic link to /w/dir/deep
      name /w/dir/deep if that is what you mean
    RF-J001 /w/away/ssl leads through a symbolic link to /etc/ssl
      name /etc/ssl if that is what you mean
    RF-J001 /bin/su leads through a symbolic link to /usr/bin/su
      name /usr/bin/su if that is what you mean
    ");
}

#[test]
fn places_that_are_the_jails_own() {
    let rows = ["/proc", "/proc/1", "/sys/fs", "/dev", "/dev/sda", "/etc/passwd", "/etc/group"];
    let rows: Vec<_> = rows.iter().map(|path| spec(&[(path, ReadOnly)])).collect();
    insta::assert_snapshot!(told(&rows), @"
    RF-J001 /proc cannot be a view: the jail has its own /proc
      take it out
    RF-J001 /proc/1 cannot be a view: the jail has its own /proc
      take it out
    RF-J001 /sys/fs cannot be a view: the jail has its own /sys
      take it out
    RF-J001 /dev cannot be a view: the jail has its own /dev
      take it out
    RF-J001 /dev/sda cannot be a view: the jail has its own /dev
      take it out
    RF-J001 /etc/passwd cannot be a view: the jail has its own /etc/passwd
      take it out
    RF-J001 /etc/group cannot be a view: the jail has its own /etc/group
      take it out
    ");
}

#[test]
fn homes() {
    let rows = [
        at_home("/"),
        at_home("home"),
        at_home("/dev/x"),
        at_home("/w/new"),
        at_home("/w/home"),
        at_home("/w/file"),
        at_home("/bin/x"),
    ];
    insta::assert_snapshot!(told(&rows), @"
    RF-J001 the root directory cannot be a view
      name the directory the agent works in
    RF-J001 home is not an absolute path without `.` and `..`
      write the path from the root
    RF-J001 /dev/x cannot be a view: the jail has its own /dev
      take it out
    RF-J002 /w/new does not exist
      create it first, or take it out: nothing is created on the host
    RF-J001 /w/home leads through a symbolic link to /w/dir
      name /w/dir if that is what you mean
    RF-J001 /w/file cannot be the home: it is not a directory
      name its directory
    RF-J001 /bin/x leads through a symbolic link to /usr/bin/x
      name /usr/bin/x if that is what you mean
    ");
}

/// A view that is added replaces one of the same path; only who fills the list by hand can have two.
#[test]
fn one_path_in_two_ways() {
    let mut twice = spec(&[("/w/dir", Hidden)]);
    twice.views.push(ringfence_jail::View { path: Path::new("/w/dir").to_owned(), mode: ReadWrite });
    insta::assert_snapshot!(told(&[twice]), @"
    RF-J001 /w/dir is asked for in two ways
      keep one of the two
    ");
    assert!(plan(&spec(&[("/w/dir", Hidden), ("/w/dir", ReadWrite)]), &host()).is_ok());
}

#[test]
fn no_conflict_where_a_home_or_a_view_can_be() {
    let rows = [
        at_home("/nowhere/to/be/found"),
        at_home("/w/dir"),
        at_home("/w"),
        at_home("/tmp"),
        at_home("/usr"),
        at_home("/data"),
        spec(&[("/a", ReadOnly)]),
        spec(&[("/w/file", Hidden)]),
        workspace("/a/w", &[("/a/w", ReadOnly)]),
    ];
    for spec in rows {
        assert!(plan(&spec, &host()).is_ok(), "{spec:?}");
    }
}

/// A path of which part is shown is not followed; a path that is built anew may have had links in it outside.
#[test]
fn links_outside_of_everything_shown_do_not_matter() {
    let host = and(host(), "link /srv -> /a\n file /srv/file");
    let plan = plan(&spec(&[("/srv/file", ReadOnly)]), &host).unwrap();
    assert!(plan.to_string().contains("read-only /srv/file\n"), "{plan}");
}

#[test]
fn what_is_missing_has_a_code_of_its_own() {
    assert_eq!(conflict(&spec(&[("/nowhere", Hidden)])).code(), Code::JailMissingPath);
    assert_eq!(conflict(&spec(&[("/w/link", Hidden)])).code(), Code::JailConflict);
}
