//! From measurements to rows and to a provider.

use super::super::cause::Cause;
use super::super::kernel;
use super::super::provider::{Provider, Support};
use super::super::row::{Row, Status};
use super::*;

const WORKS: Result<Namespaces, Unmeasured> = Err(Unmeasured::OtherSystem);

fn row(machine: &Machine, id: &str) -> Row {
    kernel::rows(machine).into_iter().find(|row| row.id == id).unwrap()
}

fn bubblewrap(works: bool) -> Bwrap {
    let works = if works { Ok(()) } else { Err(Unmeasured::Malformed) };
    Bwrap::Found { path: "/usr/bin/bwrap".into(), version: "0.9.0".into(), setuid: false, works }
}

fn blind() -> Actions {
    let refused = Err(errno(ENOSYS));
    Actions { kill_process: refused, errno: refused, notify: refused }
}

/// The strongest provider is chosen by measurements alone.
#[test]
fn providers() {
    let all = Ok(refusing(&[]));
    let no_user = Ok(refusing(&[(Step::User, EPERM)]));
    let no_proc = Ok(refusing(&[(Step::Proc, EPERM)]));
    let no_net = Ok(refusing(&[(Step::Net, ENOSPC)]));
    let rows = [
        (Landlock::Abi(7), all.clone(), false, true, "native landlock"),
        (Landlock::Abi(7), all.clone(), true, true, "native bubblewrap landlock"),
        (Landlock::NotBuilt, all.clone(), false, true, "native"),
        (Landlock::Abi(1), no_user.clone(), false, true, "landlock"),
        (Landlock::Abi(1), no_user.clone(), true, true, "bubblewrap landlock"),
        (Landlock::NotActive, no_user.clone(), false, true, ""),
        (Landlock::Blocked, no_proc, false, true, "native"),
        (Landlock::Abi(4), no_net, false, true, "landlock"),
        (Landlock::Abi(7), not_measured(), false, true, "landlock"),
        (Landlock::Abi(7), WORKS, false, true, "landlock"),
        // Without a filter nothing is a jail.
        (Landlock::Abi(7), all, true, false, ""),
    ];
    for (landlock, namespaces, works, filter, expected) in rows {
        let base = machine("ubuntu-24.04");
        let actions = if filter { base.actions } else { blind() };
        let machine = Machine { landlock, namespaces, actions, bwrap: bubblewrap(works), ..base };
        let support = Support::of(&machine);
        let names: Vec<_> = support.possible.iter().map(|provider| provider.name()).collect();
        assert_eq!(names.join(" "), expected, "{landlock:?} {:?}", machine.namespaces);
        assert_eq!(support.strongest, support.possible.first().copied());
    }
}

/// Four steps can be missing, and are then named as lost; no other.
#[test]
fn what_native_cannot_do_without() {
    let base = machine("debian-12-vm");
    for step in Step::ALL {
        let namespaces = Ok(refusing(&[(step, EPERM)]));
        let support = Support::of(&Machine { namespaces, ..base.clone() });
        let native = support.strongest == Some(Provider::Native);
        assert_eq!(
            native,
            matches!(step, Step::Redirect | Step::Uts | Step::Cgroup | Step::Proc),
            "{step:?}"
        );
        assert!(support.lost.len() > Support::of(&base).lost.len(), "{step:?}");
    }
}

/// Files explain and never decide: the same kernel gets the same answer with any files.
#[test]
fn signs_do_not_decide() {
    let powers = |name: &str| Machine {
        landlock: Landlock::Abi(3),
        cgroup: machine("docker").cgroup,
        ..machine(name)
    };
    let expected = Support::of(&powers("debian-12-vm"));
    for name in ["ubuntu-24.04", "debian-userns-off", "wsl1", "wsl2", "gvisor", "docker", "pod", "rhel-9"] {
        assert_eq!(Support::of(&powers(name)), expected, "{name}");
    }
}

#[test]
fn who_refuses_user_namespaces() {
    let rows = [
        ("debian-12-vm", 1000, None, None),
        ("ubuntu-24.04", 1000, None, None),
        ("ubuntu-24.04", 1000, Some((Step::Map, EACCES)), Some(Cause::AppArmor)),
        ("ubuntu-24.04", 1000, Some((Step::Map, EPERM)), Some(Cause::AppArmor)),
        ("ubuntu-24.04", 1000, Some((Step::User, EPERM)), Some(Cause::AppArmor)),
        // The restriction does not bind root.
        ("ubuntu-24.04", 0, Some((Step::Map, EPERM)), Some(Cause::Unknown)),
        ("debian-userns-off", 1000, Some((Step::User, EPERM)), Some(Cause::SwitchedOff)),
        ("debian-userns-off", 0, Some((Step::User, EPERM)), Some(Cause::Unknown)),
        // The host's setting is visible in a container, and not what refuses there.
        ("docker", 0, Some((Step::User, EPERM)), Some(Cause::Filter)),
        ("docker", 1000, Some((Step::User, EPERM)), Some(Cause::Filter)),
        ("docker", 1000, Some((Step::Map, EACCES)), Some(Cause::AppArmor)),
        ("pod", 1000, Some((Step::User, EPERM)), Some(Cause::Filter)),
        ("rhel-9", 1000, Some((Step::User, ENOSPC)), Some(Cause::Limit)),
        ("gvisor", 1000, Some((Step::User, EINVAL)), Some(Cause::NotBuilt)),
        ("gvisor", 1000, Some((Step::User, EPERM)), Some(Cause::Unknown)),
        // Further on it is not the user namespace that is refused.
        ("docker", 1000, Some((Step::Proc, EPERM)), None),
    ];
    for (name, uid, refused, cause) in rows {
        let refused: Vec<_> = refused.into_iter().collect();
        let machine = Machine { uid, namespaces: Ok(refusing(&refused)), ..machine(name) };
        assert_eq!(Cause::of(&machine), cause, "{name} {uid} {refused:?}");
    }
}

#[test]
fn landlock() {
    let rows = [
        ("debian-12-vm", Landlock::Abi(7), Status::Ok, "ABI 7", ""),
        ("debian-12-vm", Landlock::Abi(6), Status::Ok, "ABI 6", ""),
        ("ubuntu-24.04", Landlock::Abi(4), Status::Note, "ABI 4", "6.12 for ABI 6"),
        ("wsl2", Landlock::Abi(3), Status::Weak, "ABI 3", "6.7 for ABI 4"),
        ("rhel-9", Landlock::Abi(1), Status::Weak, "ABI 1", "5.19 for ABI 2"),
        (
            "debian-userns-off",
            Landlock::NotBuilt,
            Status::Missing,
            "not in this kernel",
            "CONFIG_SECURITY_LANDLOCK",
        ),
        ("gvisor", Landlock::NotBuilt, Status::Missing, "gVisor does not implement it", "outside"),
        (
            "ubuntu-24.04",
            Landlock::NotActive,
            Status::Missing,
            "not active",
            "lsm=landlock,lockdown,yama,apparmor to",
        ),
        ("debian-12-vm", Landlock::NotActive, Status::Missing, "not active", "/sys/kernel/security/lsm"),
        ("docker", Landlock::Blocked, Status::Missing, "a filter forbids it", "landlock_restrict_self"),
        ("docker", Landlock::Failed(errno(EINVAL)), Status::Missing, "EINVAL", "CONFIG_SECURITY_LANDLOCK"),
    ];
    for (name, landlock, status, measured, remedy) in rows {
        let row = row(&Machine { landlock, ..machine(name) }, "landlock");
        assert_eq!(row.status, status, "{landlock:?}");
        assert!(row.measured.contains(measured), "{landlock:?}: {}", row.measured);
        assert!(row.remedy.clone().unwrap_or_default().contains(remedy), "{landlock:?}: {:?}", row.remedy);
        assert_eq!(row.lost.is_empty(), status == Status::Ok, "{landlock:?}");
    }
}

#[test]
fn other_rows() {
    let rows = [
        ("debian-12-vm", "cgroup", Status::Weak, "versions 1 and 2", "systemd.unified_cgroup_hierarchy=1"),
        ("fedora-delegated", "cgroup", Status::Ok, "jails have their own", ""),
        ("ubuntu-24.04", "cgroup", Status::Weak, "not ours to hand on", "Delegate=yes"),
        ("docker", "cgroup", Status::Weak, "not ours to hand on", "for the container itself"),
        ("gvisor", "cgroup", Status::Weak, "version 1", "for the container itself"),
        ("ubuntu-24.04", "apparmor", Status::Note, "only for programs with a profile", ""),
        ("docker", "apparmor", Status::Note, "docker-default (enforce)", ""),
        ("rhel-9", "apparmor", Status::Ok, "not in use", ""),
        ("rhel-9", "selinux", Status::Note, "enforcing", ""),
        ("rhel-9", "yama", Status::Note, "scope 0", ""),
        ("ubuntu-24.04", "yama", Status::Ok, "scope 1", ""),
        ("docker", "container", Status::Note, "Docker (/.dockerenv)", ""),
        ("gvisor", "container", Status::Note, "gVisor (/proc/version)", ""),
        ("wsl2", "container", Status::Weak, "WSL 2 (/proc/version)", "/etc/wsl.conf"),
        ("ubuntu-24.04", "container", Status::Ok, "none recognised", ""),
        ("docker", "seccomp", Status::Ok, "filters in force already: 1", ""),
        ("pod", "seccomp", Status::Ok, "filters in force already: 2, no new privileges", ""),
        ("pod", "seccomp-notify", Status::Note, "unless a filter in force", ""),
        ("wsl2", "seccomp-notify", Status::Ok, "available", ""),
        ("rhel-9", "bwrap", Status::Note, "not found", "sudo dnf install bubblewrap"),
        ("wsl2", "bwrap", Status::Note, "not found", "sudo apt install bubblewrap"),
        ("pod", "bwrap", Status::Note, "not found", "from your distribution"),
        ("no-proc", "kernel", Status::Missing, "no /proc/version", "mount -t proc"),
        ("pod", "kernel", Status::Ok, "unknown distribution, as user 1000", ""),
    ];
    for (name, id, status, measured, remedy) in rows {
        let row = row(&machine(name), id);
        assert_eq!(row.status, status, "{name} {id}");
        assert!(row.measured.contains(measured), "{name} {id}: {}", row.measured);
        assert!(row.remedy.clone().unwrap_or_default().contains(remedy), "{name} {id}: {:?}", row.remedy);
    }
}

#[test]
fn namespaces_refused_one_by_one() {
    let rows = [
        (Step::Net, "netns", Status::Missing, "net: EPERM, loopback: not tried"),
        (Step::Loopback, "netns", Status::Missing, "loopback: EPERM"),
        (Step::Redirect, "redirect", Status::Weak, "redirect: EPERM"),
        (Step::Tmpfs, "mountns", Status::Missing, "tmpfs: EPERM"),
        (Step::Ipc, "ipcns", Status::Missing, "ipc: EPERM"),
        (Step::Cgroup, "utsns", Status::Weak, "cgroup: EPERM"),
        (Step::Pid, "pidns", Status::Missing, "pid: EPERM"),
        (Step::Pid, "proc-mount", Status::Missing, "not tried: see above"),
        (Step::Proc, "proc-mount", Status::Weak, "proc: EPERM"),
        (Step::User, "netns", Status::Missing, "not tried: see above"),
    ];
    for (step, id, status, measured) in rows {
        let machine = Machine { namespaces: Ok(refusing(&[(step, EPERM)])), ..machine("docker") };
        let row = row(&machine, id);
        assert_eq!((row.status, row.measured.as_str()), (status, measured), "{step:?}");
        assert!(!row.lost.is_empty(), "{step:?}");
    }
    let row = row(&Machine { namespaces: not_measured(), ..machine("docker") }, "userns");
    assert_eq!((row.status, row.measured.as_str()), (Status::Missing, "the probe gave no answer in time"));
}

#[test]
fn a_bubblewrap_that_is_not_used_says_why() {
    use jail::probe::Distrust;
    let path = || "/usr/bin/bwrap".into();
    let rows = [
        (bubblewrap(true), Status::Ok, "0.9.0 at /usr/bin/bwrap, makes a jail"),
        (bubblewrap(false), Status::Note, "makes no jail: the probe's output has an unknown format"),
        (Bwrap::Untrusted { path: path(), why: Distrust::Writable }, Status::Weak, "others can write to it"),
        (Bwrap::Untrusted { path: path(), why: Distrust::Owner(5) }, Status::Weak, "belongs to user 5"),
        (Bwrap::Silent { path: path(), why: Unmeasured::TimedOut }, Status::Note, "no answer in time"),
    ];
    for (bwrap, status, measured) in rows {
        let row = row(&Machine { bwrap, ..machine("rhel-9") }, "bwrap");
        assert_eq!(row.status, status, "{measured}");
        assert!(row.measured.contains(measured), "{}", row.measured);
    }
}
