use std::collections::HashMap;
use std::path::{Path, PathBuf};

use policy::Limits;

use super::*;
use crate::plan::{Entry, Host, Owner, plan};
use crate::spec::{Mode, Network, Spec};

fn host() -> Host {
    let owner = Owner { uid: 1000, gid: 1000 };
    let paths =
        ["/usr", "/etc/ssl", "/etc/ssl/private", "/w", "/w/.git", "/w/keys", "/w/keys/public", "/data"];
    let mut entries: HashMap<PathBuf, Entry> = paths
        .iter()
        .zip(1..)
        .map(|(path, inode)| (PathBuf::from(path), Entry::Directory(owner, (1, inode))))
        .collect();
    entries.insert("/bin".into(), Entry::Link("usr/bin".into()));
    entries.insert("/w/.env".into(), Entry::File(owner, (1, 100)));
    entries.insert("/dev/null".into(), Entry::Other((2, 1)));
    entries.insert("/proc/keys".into(), Entry::File(owner, (3, 1)));
    let texts = vec![(PathBuf::from("/etc/hosts"), b"127.0.0.1 localhost\n".to_vec())];
    Host { caller: owner, user: "ada".to_owned(), powerful: false, entries, texts }
}

fn spec() -> Spec {
    let mut spec = Spec::for_workspace(Path::new("/w"), Path::new("/home/ada"), Limits::none())
        .view(Path::new("/w/.git"), Mode::ReadOnly)
        .view(Path::new("/w/.env"), Mode::Hidden)
        .view(Path::new("/w/keys"), Mode::Hidden)
        .view(Path::new("/w/keys/public"), Mode::ReadOnly)
        .view(Path::new("/data"), Mode::Private);
    spec.environment = vec![("PATH".into(), "/usr/bin".into()), ("A".into(), "b\nc".into())];
    spec
}

/// One option per line.
fn lines(words: &[Word]) -> String {
    let shown = words.iter().map(ToString::to_string).collect::<Vec<_>>();
    shown.join(" ").replace(" --", "\n--")
}

#[test]
fn reads_well() {
    let words = arguments(&plan(&spec(), &host()).unwrap(), Path::new("/w"), false);
    insta::assert_snapshot!(lines(&words), @r"
    --unshare-user
    --unshare-pid
    --unshare-ipc
    --unshare-uts
    --unshare-cgroup
    --unshare-net
    --uid 1000
    --gid 1000
    --hostname ringfence
    --cap-drop ALL
    --die-with-parent
    --new-session
    --symlink usr/bin /bin
    --perms 0755
    --dir /etc
    --perms 0644
    --file <39 bytes> /etc/group
    --perms 0644
    --file <10 bytes> /etc/hostname
    --perms 0644
    --file <20 bytes> /etc/hosts
    --symlink /proc/mounts /etc/mtab
    --perms 0755
    --dir /run
    --perms 0755
    --dir /var
    --symlink /run /var/run
    --symlink /tmp /var/tmp
    --dev /dev
    --perms 0700
    --size 1000000000
    --tmpfs /data
    --perms 1777
    --size 1000000000
    --tmpfs /dev/shm
    --perms 0755
    --dir /etc
    --ro-bind /etc/ssl /etc/ssl
    --perms 0555
    --size 4096
    --tmpfs /etc/ssl/private
    --perms 0755
    --dir /home
    --perms 0700
    --size 1000000000
    --tmpfs /home/ada
    --proc /proc
    --ro-bind-data <0 bytes> /proc/keys
    --perms 1777
    --size 1000000000
    --tmpfs /tmp
    --ro-bind /usr /usr
    --bind-fd </w> /w
    --ro-bind-data <0 bytes> /w/.env
    --ro-bind-fd </w/.git> /w/.git
    --perms 0555
    --size 4096
    --tmpfs /w/keys
    --ro-bind-fd </w/keys/public> /w/keys/public
    --perms 0644
    --file <last 123 bytes> /etc/passwd
    --remount-ro /etc/ssl/private
    --remount-ro /w/keys
    --remount-ro /proc
    --remount-ro /dev
    --remount-ro /
    --chdir /w
    --clearenv
    --setenv PATH /usr/bin
    --setenv A b\nc
    --seccomp <filter>
    --block-fd <gate>
    --sync-fd <sync-fd>
    --json-status-fd <status>
    ");
}

#[test]
fn the_hosts_network_and_a_terminal_are_the_only_differences() {
    let plan = |network| plan(&spec().network(network), &host()).unwrap();
    let full = lines(&arguments(&plan(Network::None), Path::new("/w"), false));
    let less = lines(&arguments(&plan(Network::Open), Path::new("/w"), true));
    let gone: Vec<_> = full.lines().filter(|line| !less.lines().any(|other| other == *line)).collect();
    assert_eq!(gone, ["--unshare-net", "--new-session"]);
    assert_eq!(full.lines().count(), less.lines().count() + 2);
}

#[test]
fn layers_are_for_others() {
    let plan = |spec: &Spec| plan(spec, &host()).unwrap();
    assert_eq!(wrappable(&plan(&spec())), Ok(()));
    let layered = plan(&spec().view(Path::new("/w"), Mode::Layered));
    let why = "bubblewrap does not take layers by handle";
    assert_eq!(wrappable(&layered), Err(Conflict::NotEnforceable("/w".into(), why)));
}
