//! Recorded machines: what their files say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use ringfence_jail::probe::{Confined, ContainerKind, Hierarchy, Machine, Selinux};

#[test]
fn kernels_and_distributions() {
    let rows = [
        ("debian-12-vm", "6.18.44", Some("Debian GNU/Linux 12 (bookworm)"), "debian"),
        ("ubuntu-24.04", "6.8.0-45-generic", Some("Ubuntu 24.04.1 LTS"), "ubuntu debian"),
        ("wsl2", "6.6.36.3-microsoft-standard-WSL2", Some("Ubuntu 22.04.4 LTS"), "ubuntu debian"),
        ("gvisor", "4.19.0-gvisor", Some("Alpine Linux v3.20"), "alpine"),
        (
            "rhel-9",
            "5.14.0-427.13.1.el9_4.x86_64",
            Some("Red Hat Enterprise Linux 9.4 (Plow)"),
            "rhel fedora",
        ),
        ("pod", "6.1.0-25-cloud-amd64", None, ""),
    ];
    for (name, release, distribution, family) in rows {
        let signs = machine(name).facts;
        assert_eq!(signs.release.as_deref(), Some(release), "{name}");
        assert_eq!(signs.distribution.as_deref(), distribution, "{name}");
        assert_eq!(signs.family.join(" "), family, "{name}");
    }
}

#[test]
fn surroundings() {
    let rows: &[(&str, &[ContainerKind])] = &[
        ("debian-12-vm", &[]),
        ("ubuntu-24.04", &[]),
        ("docker", &[ContainerKind::Docker]),
        ("podman", &[ContainerKind::Podman]),
        ("pod", &[ContainerKind::Kubernetes]),
        ("wsl1", &[ContainerKind::WindowsInterop, ContainerKind::Wsl1]),
        ("wsl2", &[ContainerKind::WindowsInterop, ContainerKind::Wsl2]),
        ("gvisor", &[ContainerKind::Gvisor]),
        ("gvisor-older", &[ContainerKind::Docker, ContainerKind::Gvisor]),
        ("rhel-9", &[]),
    ];
    for (name, walls) in rows {
        let found: Vec<_> = machine(name).facts.containers.into_iter().map(|around| around.kind).collect();
        assert_eq!(&found, walls, "{name}");
    }
}

#[test]
fn settings_that_close_user_namespaces() {
    let rows = [
        ("debian-12-vm", None, None, Some(96349)),
        ("ubuntu-24.04", Some(1), Some(1), Some(62981)),
        ("debian-userns-off", None, Some(0), Some(31356)),
        ("gvisor", None, None, None),
    ];
    for (name, apparmor, clone, most) in rows {
        let signs = machine(name).facts;
        let found = (signs.apparmor.restricts_userns, signs.userns_clone, signs.max_user_namespaces);
        assert_eq!(found, (apparmor, clone, most), "{name}");
    }
}

#[test]
fn security_modules() {
    let rows = [
        ("debian-12-vm", None, None, None, None),
        (
            "ubuntu-24.04",
            Some("lockdown,capability,landlock,yama,apparmor"),
            Some("unconfined"),
            None,
            Some(1),
        ),
        ("docker", None, Some("docker-default (enforce)"), None, None),
        // The shared place holds a label of another module there: not a profile.
        (
            "rhel-9",
            Some("lockdown,capability,landlock,yama,selinux,bpf"),
            None,
            Some(Selinux::Enforcing),
            Some(0),
        ),
    ];
    for (name, modules, profile, selinux, yama) in rows {
        let signs = machine(name).facts;
        assert_eq!(signs.modules.map(|list| list.join(",")).as_deref(), modules, "{name}");
        assert_eq!(signs.apparmor.profile.as_deref(), profile, "{name}");
        assert_eq!((signs.selinux, signs.ptrace_scope), (selinux, yama), "{name}");
    }
}

#[test]
fn what_confines_us_already() {
    let rows = [
        ("ubuntu-24.04", Some(0), Some(0), Some(0)),
        ("docker", Some(2), Some(1), Some(0)),
        ("pod", Some(2), Some(2), Some(1)),
        ("gvisor", Some(0), None, None),
        ("podman", None, None, None),
    ];
    for (name, seccomp, filters, no_new_privs) in rows {
        assert_eq!(machine(name).facts.confined, Confined { seccomp, filters, no_new_privs }, "{name}");
    }
}

#[test]
fn cgroups() {
    let rows = [
        // The recording has no directories to make groups in, as most machines have none that are ours.
        ("debian-12-vm", Hierarchy::Hybrid, Some("making a cgroup in /sys/fs/cgroup/memory/jobs/1 failed")),
        ("ubuntu-24.04", Hierarchy::V2, Some("the memory controller of our cgroup is not ours to hand on")),
        ("docker", Hierarchy::V2, Some("the memory controller of our cgroup is not ours to hand on")),
        ("fedora-delegated", Hierarchy::V2, None),
        ("gvisor", Hierarchy::V1, Some("making a cgroup in /sys/fs/cgroup/memory")),
        ("wsl1", Hierarchy::None, Some("no memory cgroup is mounted")),
    ];
    for (name, hierarchy, missing) in rows {
        let found = machine(name).cgroup;
        assert_eq!(found.hierarchy, hierarchy, "{name}");
        assert_eq!(found.missing.is_some(), missing.is_some(), "{name}: {found:?}");
        assert!(found.missing.unwrap_or_default().starts_with(missing.unwrap_or_default()), "{name}");
    }
}

#[test]
fn an_empty_machine_says_nothing() {
    let empty = tempfile::tempdir().unwrap();
    let found = measure(empty.path());
    assert_eq!((found.facts.release, found.facts.distribution), (None, None));
    assert_eq!((found.facts.containers, found.cgroup.hierarchy), (Vec::new(), Hierarchy::None));
}

fn machine(name: &str) -> Machine {
    let root = tempfile::tempdir().unwrap();
    unpack(name, root.path());
    measure(root.path())
}

fn measure(root: &Path) -> Machine {
    Machine::measure(root, Command::new("/nonexistent"))
}

/// `== PATH` starts a file; what follows is its content, with `\0` for a zero byte.
fn unpack(name: &str, root: &Path) {
    let recording = format!("{}/tests/machines/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    for file in fs::read_to_string(recording).unwrap().split("== /").skip(1) {
        let (path, content) = file.split_once('\n').unwrap();
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.replace("\\0", "\0")).unwrap();
    }
}
