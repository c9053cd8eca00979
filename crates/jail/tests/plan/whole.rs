//! Whole plans, as a person reads them.

use std::path::PathBuf;

use ringfence_jail::plan::{Host, Owner, plan};
use ringfence_jail::{Mode, Network, Spec};

use crate::machine::{ADA, ROOT, and, as_root, at_home, machine, merged, owned, spec, workspace};

use Mode::{Hidden, Private, ReadOnly, ReadWrite};

fn whole(spec: &Spec, host: &Host) -> String {
    plan(spec, host).unwrap().to_string()
}

/// Only the lines about these paths, and what begins with one of the words.
fn about(spec: &Spec, host: &Host, words: &[&str]) -> String {
    let whole = whole(spec, host);
    let lines = whole.lines().filter(|line| words.iter().any(|word| line.contains(word)));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn an_ordinary_user_on_a_merged_system() {
    let mut host = merged();
    host.texts = vec![(PathBuf::from("/etc/hosts"), b"127.0.0.1 localhost\n".to_vec())];
    insta::assert_snapshot!(whole(&spec(&[]), &host), @"
    user ada 1000:1000 is 1000:1000
    network own
    scratch 1000000000
    link to usr/bin as /bin
    directory 0755 /dev
    link to /proc/self/fd as /dev/fd
    link to pts/ptmx as /dev/ptmx
    link to urandom as /dev/random
    link to /proc/self/fd/2 as /dev/stderr
    link to /proc/self/fd/0 as /dev/stdin
    link to /proc/self/fd/1 as /dev/stdout
    directory 0755 /etc
    file of 39 bytes /etc/group
    file of 10 bytes /etc/hostname
    file of 20 bytes /etc/hosts
    link to /proc/mounts as /etc/mtab
    file of 123 bytes /etc/passwd
    link to usr/lib as /lib
    directory 0755 /run
    directory 0755 /var
    link to /run as /var/run
    link to /tmp as /var/tmp
      directory 0755 /dev
      file of 0 bytes /dev/null
    device /dev/null
      directory 0755 /dev/pts
    terminals /dev/pts
      directory 1777 /dev/shm
    scratch /dev/shm
      directory 0755 /home
      directory 0700 /home/ada
    scratch /home/ada
      directory 0755 /proc
    processes /proc
    void /proc/acpi
    blank /proc/keys
      directory 1777 /tmp
    scratch /tmp
      directory 0755 /usr
    read-only /usr
      directory 0755 /w
    writable /w
    grant read /
    grant device /dev
    grant read /usr
    grant write /dev/shm
    grant write /home/ada
    grant write /tmp
    grant write /w
    absent /etc/shadow
    ");
}

/// Programs and libraries in directories of their own; no link is made.
#[test]
fn a_system_that_is_not_merged() {
    let host = machine("dir /usr\ndir /bin\ndir /sbin\ndir /lib\ndir /lib64\nfile /etc/ld.so.cache\ndir /w");
    let words = ["/bin", "/sbin", "/lib", "/usr", "ld.so"];
    insta::assert_snapshot!(about(&spec(&[]), &host, &words), @"
      directory 0755 /bin
    read-only /bin
      file of 0 bytes /etc/ld.so.cache
    read-only /etc/ld.so.cache
      directory 0755 /lib
    read-only /lib
      directory 0755 /lib64
    read-only /lib64
      directory 0755 /sbin
    read-only /sbin
      directory 0755 /usr
    read-only /usr
    grant read /usr
    ");
}

/// Root's own files are shown as the jail's, and the host's user 0 is not mapped inside.
#[test]
fn root_with_a_workspace_of_its_own() {
    let host = as_root(owned(merged(), "/w", ROOT), true);
    insta::assert_snapshot!(about(&spec(&[]), &host, &["user", "files", "/proc", "/w"]), @"
    user agent 1000:1000 is 2147439174:2147439174
    files of 0:0 are its own
    link to /proc/self/fd as /dev/fd
    link to /proc/self/fd/2 as /dev/stderr
    link to /proc/self/fd/0 as /dev/stdin
    link to /proc/self/fd/1 as /dev/stdout
    link to /proc/mounts as /etc/mtab
      directory 0755 /proc
    processes /proc
    void /proc/acpi
    blank /proc/keys
      directory 0755 /w
    writable /w
    grant write /w
    ");
}

#[test]
fn root_with_the_workspace_of_another() {
    let host = as_root(owned(merged(), "/w", Owner { uid: 1000, gid: 50 }), true);
    insta::assert_snapshot!(about(&spec(&[]), &host, &["user", "files", "/proc"]), @"
    user agent 1000:1000 is 2147439174:2147439174
    files of 1000:50 are its own
    link to /proc/self/fd as /dev/fd
    link to /proc/self/fd/2 as /dev/stderr
    link to /proc/self/fd/0 as /dev/stdin
    link to /proc/self/fd/1 as /dev/stdout
    link to /proc/mounts as /etc/mtab
      directory 0755 /proc
    processes /proc
    void /proc/acpi
    blank /proc/keys
    ");
    // Half of an owner is not root either.
    let host = as_root(owned(merged(), "/w", Owner { uid: 1000, gid: 0 }), true);
    insta::assert_snapshot!(about(&spec(&[]), &host, &["user", "files"]), @"
    user agent 1000:1000 is 2147439174:2147439174
    files of 1000:0 are its own
    ");
}

/// If files cannot be shown as another user's, the jail's user is the host's user 0 and everything it could open is masked.
#[test]
fn root_without_its_powers() {
    let host = as_root(owned(merged(), "/w", ROOT), false);
    insta::assert_snapshot!(about(&spec(&[]), &host, &["user", "files", "/proc/"]), @"
    user root 0:0 is 0:0
    link to /proc/self/fd as /dev/fd
    link to /proc/self/fd/2 as /dev/stderr
    link to /proc/self/fd/0 as /dev/stdin
    link to /proc/self/fd/1 as /dev/stdout
    link to /proc/mounts as /etc/mtab
    void /proc/acpi
    blank /proc/kcore
    blank /proc/keys
    ");
}

#[test]
fn a_workspace_among_temporary_files() {
    let host = and(merged(), "dir /tmp/w\n dir /var/tmp/w");
    insta::assert_snapshot!(about(&workspace("/tmp/w", &[]), &host, &["/tmp"]), @"
    link to /tmp as /var/tmp
      directory 1777 /tmp
    scratch /tmp
      directory 0755 /tmp/w
    writable /tmp/w
    grant write /tmp
    grant write /tmp/w
    ");
    insta::assert_snapshot!(about(&workspace("/var/tmp/w", &[]), &host, &["/tmp"]), @"
      directory 1777 /tmp
    scratch /tmp
      directory 1777 /var/tmp
    scratch /var/tmp
      directory 0755 /var/tmp/w
    writable /var/tmp/w
    grant write /tmp
    grant write /var/tmp
    grant write /var/tmp/w
    ");
}

/// Nothing of the jail's own may be in the way of a home, regardless of its path.
#[test]
fn a_home_at_odd_places() {
    for home in ["/var/tmp/me", "/var/run/me", "/etc/mtab/me", "/tmp/me"] {
        let spec = at_home(home);
        let whole = whole(&spec, &merged());
        assert!(whole.contains(&format!("directory 0700 {home}\nscratch {home}\n")), "{whole}");
        let parent = home.strip_suffix("/me").unwrap();
        assert!(!whole.contains(&format!("as {parent}\n")), "a link is in the way: {whole}");
    }
    let shared = about(&at_home("/var/tmp/me"), &merged(), &["/var/tmp\n", " /var/tmp"]);
    assert!(shared.contains("scratch /var/tmp\n"), "{shared}");
}

#[test]
fn views_nest() {
    let host = and(
        merged(),
        "dir /w/fixed\n dir /w/fixed/open\n dir /w/gone\n dir /w/gone/seen\n file /w/key\n dir /w/own\n dir /w/own/in",
    );
    let views = [
        ("/w/fixed", ReadOnly),
        ("/w/fixed/open", ReadWrite),
        ("/w/gone", Hidden),
        ("/w/gone/seen", ReadOnly),
        ("/w/key", Hidden),
        ("/w/own", Private),
        ("/w/own/in", ReadWrite),
    ];
    insta::assert_snapshot!(about(&spec(&views), &host, &["/w"]), @"
      directory 0755 /w
    writable /w
    read-only /w/fixed
    writable /w/fixed/open
    void /w/gone
      directory 0755 /w/gone/seen
    read-only /w/gone/seen
    blank /w/key
    scratch /w/own
      directory 0755 /w/own/in
    writable /w/own/in
    grant write /w
    grant write /w/fixed/open
    grant write /w/own
    grant write /w/own/in
    ");
}

/// A name that sorts between a directory and what is in it changes nothing.
#[test]
fn neighbours_with_longer_names() {
    let host = and(merged(), "dir /w/a\n dir /w/a/b\n dir /w/a b\n dir /w/a-b");
    let views = [("/w/a/b", ReadWrite), ("/w/a b", Hidden), ("/w/a-b", Hidden), ("/w/a", Hidden)];
    insta::assert_snapshot!(about(&spec(&views), &host, &["/w"]), @"
      directory 0755 /w
    writable /w
    void /w/a
    void /w/a b
    void /w/a-b
      directory 0755 /w/a/b
    writable /w/a/b
    grant write /w
    grant write /w/a/b
    ");
}

#[test]
fn keys_that_lie_in_what_is_shown() {
    let host = and(merged(), "dir /etc/ssl\n dir /etc/ssl/private");
    insta::assert_snapshot!(about(&spec(&[]), &host, &["/etc/ssl"]), @"
      directory 0755 /etc/ssl
    read-only /etc/ssl
    void /etc/ssl/private
    ");
    // Behind a link they cannot be masked, so the link is not there.
    let host = and(merged(), "link /etc/ssl -> /usr/share/ssl\n dir /etc/ssl/private");
    insta::assert_snapshot!(about(&spec(&[]), &host, &["/etc/ssl"]), @"
      directory 0755 /etc/ssl
      directory 0755 /etc/ssl/private
    void /etc/ssl/private
    ");
}

/// The host's network is seen, and nothing else changes.
#[test]
fn an_open_network() {
    let closed = whole(&spec(&[]), &merged());
    let open = whole(&spec(&[]).network(Network::Open), &merged());
    assert_eq!(closed.replace("network own\n", "network host\n"), open);
    let broker = whole(&spec(&[]).network(Network::Broker), &merged());
    assert_eq!(closed.replace("network own\n", "network broker\n"), broker);
}

#[test]
fn canaries_are_those_that_no_view_shows() {
    let host = owned(and(merged(), "dir /boot\n dir /root\n dir /var/log"), "/w", ADA);
    let none = at_home("/nowhere");
    insta::assert_snapshot!(about(&none, &host, &["absent"]), @"
    absent /boot
    absent /etc/shadow
    absent /home
    absent /root
    ");
    insta::assert_snapshot!(about(&spec(&[("/boot", Hidden), ("/var/log", ReadOnly)]), &host, &["absent"]), @"
    absent /etc/shadow
    absent /root
    ");
}

/// Private space has a size, also when no limit names one.
#[test]
fn private_space_is_bounded() {
    let mut small = spec(&[]);
    small.limits.tmp = Some(4096);
    assert_eq!(plan(&small, &merged()).unwrap().scratch, 4096);
    assert_eq!(plan(&spec(&[]), &merged()).unwrap().scratch, 1_000_000_000);
}
