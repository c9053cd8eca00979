//! Detects containers and virtual machines around this one by the files they leave.
//!
//! A sign can be missing or forged. It explains a refusal to a person; nothing is allowed or denied by it.

use super::root_files::Root;
use crate::host::probe::{ContainerKind, DetectedContainer};

/// Returns the containers that were recognised, each kind once, by its first sign.
pub(crate) fn containers(root: Root<'_>) -> Vec<DetectedContainer> {
    let signs = [by_marks(root), by_first_process(root), by_cgroup(root), by_kernel(root)].concat();
    let mut found: Vec<DetectedContainer> = Vec::new();
    for sign in signs {
        if !found.iter().any(|known| known.kind == sign.kind) {
            found.push(sign);
        }
    }
    found
}

/// Files that container tools leave for those who look.
fn by_marks(root: Root<'_>) -> Vec<DetectedContainer> {
    let marks = [
        ("/.dockerenv", ContainerKind::Docker),
        ("/run/.containerenv", ContainerKind::Podman),
        ("/var/run/secrets/kubernetes.io/serviceaccount", ContainerKind::Kubernetes),
        ("/dev/lxd/sock", ContainerKind::Lxc),
        ("/proc/sys/fs/binfmt_misc/WSLInterop", ContainerKind::WindowsInterop),
        ("/proc/sys/fs/binfmt_misc/WSLInterop-late", ContainerKind::WindowsInterop),
    ];
    marks
        .into_iter()
        .filter(|(sign, _)| root.exists(sign))
        .map(|(sign, wall)| DetectedContainer { kind: wall, sign })
        .collect()
}

/// The variable by which a container tells its first process; readable to its own user only.
fn by_first_process(root: Root<'_>) -> Vec<DetectedContainer> {
    let sign = "/proc/1/environ";
    let environ = root.text(sign).unwrap_or_default();
    let name = environ.split('\0').find_map(|entry| entry.strip_prefix("container="));
    name.filter(|name| !name.is_empty())
        .map(|name| DetectedContainer { kind: named(name), sign })
        .into_iter()
        .collect()
}

fn named(name: &str) -> ContainerKind {
    match name {
        "docker" => ContainerKind::Docker,
        "podman" | "oci" => ContainerKind::Podman,
        "lxc" => ContainerKind::Lxc,
        other => ContainerKind::Container(other.to_owned()),
    }
}

/// Paths that container tools give to their cgroups; hidden where the container has a cgroup namespace.
fn by_cgroup(root: Root<'_>) -> Vec<DetectedContainer> {
    let parts = [
        ("/docker/", ContainerKind::Docker),
        ("/docker-", ContainerKind::Docker),
        ("/libpod-", ContainerKind::Podman),
        ("/kubepods", ContainerKind::Kubernetes),
        ("/lxc/", ContainerKind::Lxc),
        ("/lxc.payload", ContainerKind::Lxc),
    ];
    let sign = "/proc/1/cgroup";
    let cgroup = root.text(sign).unwrap_or_default();
    let found = parts.into_iter().filter(|(part, _)| cgroup.contains(part));
    found.map(|(_, wall)| DetectedContainer { kind: wall, sign }).collect()
}

/// Kernels that say in their version whose they are.
fn by_kernel(root: Root<'_>) -> Vec<DetectedContainer> {
    let sign = "/proc/version";
    let version = root.text(sign).unwrap_or_default();
    let release = version.split_whitespace().nth(2).unwrap_or_default();
    let wall = match release {
        // gVisor gives the same build date in every release; older ones have no name in it.
        _ if release.ends_with("-gvisor") || version.contains("#1 SMP Sun Jan 10 15:06:54 PST 2016") => {
            ContainerKind::Gvisor
        }
        _ if release.contains("-microsoft-standard") || release.contains("WSL2") => ContainerKind::Wsl2,
        _ if release.ends_with("-Microsoft") => ContainerKind::Wsl1,
        _ => return Vec::new(),
    };
    vec![DetectedContainer { kind: wall, sign }]
}
