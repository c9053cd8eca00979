//! Machines that are made up, and specs for them.

use std::path::{Path, PathBuf};

use policy::Limits;
use ringfence_jail::plan::{Entry, Host, Owner};
use ringfence_jail::{Mode, Spec};

pub(crate) const ADA: Owner = Owner { uid: 1000, gid: 1000 };
pub(crate) const ROOT: Owner = Owner { uid: 0, gid: 0 };

/// A machine on which only this exists: one line each, `dir`, `file`, `special`, or `link` with where it leads after an arrow.
pub(crate) fn machine(lines: &str) -> Host {
    let entries = lines.lines().map(str::trim).filter(|line| !line.is_empty()).zip(1..);
    let entries = entries.map(|(line, inode)| entry(line, ADA, inode)).collect();
    Host { caller: ADA, user: "ada".to_owned(), powerful: false, entries, texts: Vec::new() }
}

fn entry(line: &str, owner: Owner, inode: u64) -> (PathBuf, Entry) {
    let (kind, path) = line.split_once(' ').unwrap();
    let (path, to) = path.split_once(" -> ").unwrap_or((path, ""));
    let entry = match kind {
        "dir" => Entry::Directory(owner, (1, inode)),
        "file" => Entry::File(owner, (1, inode)),
        "special" => Entry::Other((1, inode)),
        "link" => Entry::Link(PathBuf::from(to)),
        _ => panic!("{line}"),
    };
    (PathBuf::from(path), entry)
}

/// The same machine with more on it.
pub(crate) fn and(mut host: Host, lines: &str) -> Host {
    host.entries.extend(machine(lines).entries);
    host
}

/// Returns the same machine with one directory that belongs to `owner`.
pub(crate) fn owned(mut host: Host, path: &str, owner: Owner) -> Host {
    host.entries.insert(PathBuf::from(path), Entry::Directory(owner, (2, 1)));
    host
}

/// The same machine, used by root.
pub(crate) fn as_root(host: Host, powerful: bool) -> Host {
    Host { caller: ROOT, user: "root".to_owned(), powerful, ..host }
}

/// A few things of a Debian as it is installed today.
pub(crate) fn merged() -> Host {
    machine(
        "dir /usr
         link /bin -> usr/bin
         link /lib -> usr/lib
         special /dev/null
         dir /home
         dir /etc/shadow
         dir /proc/acpi
         file /proc/keys
         file /proc/kcore
         dir /w",
    )
}

/// A workspace `/w`, a home beside it, and these views.
pub(crate) fn spec(views: &[(&str, Mode)]) -> Spec {
    workspace("/w", views)
}

pub(crate) fn workspace(workspace: &str, views: &[(&str, Mode)]) -> Spec {
    let spec = Spec::for_workspace(Path::new(workspace), Path::new("/home/ada"), Limits::none());
    views.iter().fold(spec, |spec, (path, mode)| spec.view(Path::new(path), *mode))
}

/// A workspace `/w` and a home.
pub(crate) fn at_home(home: &str) -> Spec {
    let mut spec = spec(&[]);
    spec.home = PathBuf::from(home);
    spec
}
