//! Rows about the kernel and what surrounds it.

use jail::probe::{
    Bwrap, ContainerKind, DetectedContainer, Hierarchy, HostFacts, Landlock, Machine, Selinux,
};

use super::row::{Row, Status};
use super::{lost, namespaces};

pub(super) fn rows(machine: &Machine) -> Vec<Row> {
    let mut rows = vec![kernel(machine), landlock(machine)];
    rows.extend(namespaces::rows(machine));
    rows.extend([seccomp(machine), notify(machine), cgroup(machine), apparmor(&machine.facts)]);
    rows.extend(machine.facts.selinux.map(selinux));
    rows.extend([yama(&machine.facts), container(&machine.facts), bwrap(machine)]);
    rows
}

fn kernel(machine: &Machine) -> Row {
    let facts = &machine.facts;
    let row = |status, measured| Row::new("kernel", status, measured, "a Linux kernel with /proc mounted");
    let Some(release) = &facts.release else {
        let measured = format!("{}, no /proc/version: not Linux, or /proc is not mounted", facts.machine);
        return row(Status::Missing, measured).remedy("mount -t proc proc /proc").lost(&[lost::NATIVE]);
    };
    let distribution = facts.distribution.as_deref().unwrap_or("unknown distribution");
    let measured = format!("{release} {}, {distribution}, as user {}", facts.machine, machine.uid);
    row(Status::Ok, measured)
}

fn landlock(machine: &Machine) -> Row {
    let row = |status, measured: String| Row::new("landlock", status, measured, "ABI 6 or later");
    let refused = |measured: &str, remedy: String| {
        row(Status::Missing, measured.to_owned()).remedy(remedy).lost(&lost::by_landlock(0))
    };
    match machine.landlock {
        Landlock::Abi(abi) if abi >= 6 => row(Status::Ok, format!("ABI {abi}")),
        Landlock::Abi(abi) => {
            let status = if abi >= 4 { Status::Note } else { Status::Weak };
            row(status, format!("ABI {abi}"))
                .remedy(format!("a newer kernel: {}", lost::kernels_after(abi)))
                .lost(&lost::by_landlock(abi))
        }
        Landlock::NotBuilt if stands_in(&machine.facts, &ContainerKind::Gvisor) => {
            refused("ENOSYS: gVisor does not implement it", IN_GVISOR.into())
        }
        Landlock::NotBuilt => refused("ENOSYS: not in this kernel", BUILD_IN.into()),
        Landlock::NotActive => {
            refused("EOPNOTSUPP: in this kernel, but not active", activate(&machine.facts))
        }
        Landlock::Blocked => {
            refused("EPERM: a filter forbids it, such as an old container engine's", ALLOW_LANDLOCK.into())
        }
        Landlock::Failed(errno) => refused(&format!("{errno}: an answer nobody expects"), BUILD_IN.into()),
        Landlock::OtherSystem => refused("not on this operating system", "run Ringfence on Linux".into()),
    }
}

/// The boot parameter, with the modules that are active now; `capability` is always there and not listed.
fn activate(facts: &HostFacts) -> String {
    let plain = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let modules = facts.modules.as_ref().filter(|modules| modules.iter().all(plain));
    let Some(modules) = modules else {
        return "add lsm= to the kernel command line, with landlock and what /sys/kernel/security/lsm lists"
            .to_owned();
    };
    let others = modules.iter().map(String::as_str).filter(|name| !["capability", "landlock"].contains(name));
    let list = ["landlock"].into_iter().chain(others).collect::<Vec<_>>().join(",");
    format!("add lsm={list} to the kernel command line and start the machine again")
}

fn seccomp(machine: &Machine) -> Row {
    let confined = machine.facts.confined;
    let filters = match (confined.seccomp, confined.filters) {
        (Some(0), _) => "no filter in force".to_owned(),
        (_, Some(number)) => format!("filters in force already: {number}"),
        (_, None) => "filters in force unknown".to_owned(),
    };
    let privileges = if confined.no_new_privs == Some(1) { ", no new privileges" } else { "" };
    let row = |status, answer: &str| {
        let measured = format!("{answer}; {filters}{privileges}");
        Row::new("seccomp", status, measured, "filters that can refuse and kill")
    };
    let actions = &machine.actions;
    match actions.errno.and(actions.kill_process) {
        Ok(()) => row(Status::Ok, "can refuse and kill"),
        Err(errno) => row(Status::Missing, &format!("{errno}"))
            .remedy(
                "a kernel with CONFIG_SECCOMP_FILTER=y, or a container engine that lets seccomp(2) through",
            )
            .lost(&[lost::FILTER]),
    }
}

fn notify(machine: &Machine) -> Row {
    let row = |status, measured: &str| {
        Row::new("seccomp-notify", status, measured, "a supervisor can decide about single calls")
    };
    let filters = machine.facts.confined.filters.unwrap_or(0);
    match machine.actions.notify {
        Ok(()) if filters == 0 => row(Status::Ok, "available"),
        Ok(()) => row(
            Status::Note,
            "available, unless a filter in force already has the one supervisor there can be",
        ),
        Err(errno) => row(Status::Weak, &errno.to_string())
            .remedy("a kernel from 5.0 on; in a container, an engine that lets seccomp(2) through")
            .lost(&[lost::NOTIFY]),
    }
}

fn cgroup(machine: &Machine) -> Row {
    let version = match machine.cgroup.hierarchy {
        Hierarchy::None => "none mounted",
        Hierarchy::V1 => "version 1",
        Hierarchy::Hybrid => "versions 1 and 2 beside each other",
        Hierarchy::V2 => "version 2",
    };
    let row = |status, answer: &str| {
        let measured = format!("{version}; {answer}");
        Row::new("cgroup", status, measured, "cgroups for memory and pids that we may divide")
    };
    let Some(why) = &machine.cgroup.missing else {
        return row(Status::Ok, "jails have their own for memory and processes");
    };
    let row = row(Status::Weak, why).lost(&[lost::LIMITS]);
    match cgroup_remedy(machine) {
        Some(remedy) => row.remedy(remedy),
        None => row,
    }
}

fn cgroup_remedy(machine: &Machine) -> Option<&'static str> {
    match machine.cgroup.hierarchy {
        // A controller that the engine does not delegate is not available inside.
        _ if !machine.facts.containers.is_empty() => {
            Some("set limits for the container itself, with its engine")
        }
        Hierarchy::V2 => Some("systemd-run --user --scope -p Delegate=yes ringfence …"),
        Hierarchy::V1 | Hierarchy::Hybrid => Some(
            "add systemd.unified_cgroup_hierarchy=1 to the kernel command line and start the machine again",
        ),
        Hierarchy::None => None,
    }
}

fn apparmor(facts: &HostFacts) -> Row {
    let row =
        |status, measured: &str| Row::new("apparmor", status, measured, "no profile in the way, or ours");
    let apparmor = &facts.apparmor;
    let profile = apparmor.profile.as_deref().map(|profile| format!("this process runs under: {profile}"));
    let restricts = match apparmor.restricts_userns {
        Some(0) | None => None,
        Some(_) => Some("user namespaces only for programs with a profile".to_owned()),
    };
    let installed = apparmor.installed.then(|| "a profile for Ringfence is installed".to_owned());
    let found: Vec<String> = [profile, restricts, installed].into_iter().flatten().collect();
    match found.as_slice() {
        [] => row(Status::Ok, "not in use"),
        _ => row(Status::Note, &found.join("; ")),
    }
}

fn selinux(mode: Selinux) -> Row {
    let measured = match mode {
        Selinux::Enforcing => "enforcing: labels can forbid a mount; `ausearch -m avc` says which",
        Selinux::Permissive => "permissive",
    };
    Row::new("selinux", Status::Note, measured, "any")
}

fn yama(facts: &HostFacts) -> Row {
    let row = |status, measured: &str| Row::new("yama", status, measured, "scope 1 or more");
    match facts.ptrace_scope {
        None => row(Status::Note, "not in use: outside jails, processes of one user can trace each other"),
        Some(0) => row(Status::Note, "scope 0: outside jails, processes of one user can trace each other"),
        Some(scope) => row(Status::Ok, &format!("scope {scope}")),
    }
}

fn container(facts: &HostFacts) -> Row {
    let row = |status, measured: &str| {
        Row::new("container", status, measured, "any, where the rows above are in order")
    };
    let found: Vec<String> = facts.containers.iter().map(container_name).collect();
    match found.as_slice() {
        [] => row(Status::Ok, "none recognised"),
        _ if stands_in(facts, &ContainerKind::WindowsInterop) => {
            row(Status::Weak, &found.join("; ")).remedy(CLOSE_INTEROP).lost(&[lost::WINDOWS])
        }
        _ => row(Status::Note, &found.join("; ")),
    }
}

fn container_name(container: &DetectedContainer) -> String {
    let name = match &container.kind {
        ContainerKind::Docker => "Docker",
        ContainerKind::Podman => "Podman",
        ContainerKind::Kubernetes => "a Kubernetes pod",
        ContainerKind::Lxc => "LXC",
        ContainerKind::Container(name) => name,
        ContainerKind::Wsl1 => "WSL 1, which is not a Linux kernel",
        ContainerKind::Wsl2 => "WSL 2",
        ContainerKind::WindowsInterop => "Windows programs can be started from here",
        ContainerKind::Gvisor => "gVisor",
    };
    format!("{name} ({})", container.sign)
}

fn stands_in(facts: &HostFacts, kind: &ContainerKind) -> bool {
    facts.containers.iter().any(|container| container.kind == *kind)
}

fn bwrap(machine: &Machine) -> Row {
    let row = |status, measured: String| {
        Row::new("bwrap", status, measured, "only needed where `native` is refused")
    };
    let lost = &[lost::BUBBLEWRAP];
    match &machine.bwrap {
        Bwrap::Found { path, version, setuid, works } => {
            let setuid = if *setuid { ", set-uid" } else { "" };
            let measured = format!("{version} at {}{setuid}", path.display());
            match works {
                Ok(()) => row(Status::Ok, format!("{measured}, makes a jail")),
                Err(error) => row(Status::Note, format!("{measured}, makes no jail: {error}")).lost(lost),
            }
        }
        Bwrap::Silent { path, why } => row(Status::Note, format!("{}: {why}", path.display())).lost(lost),
        Bwrap::Untrusted { path, why } => {
            row(Status::Weak, format!("{} is not started: {why}", path.display()))
                .remedy(REINSTALL)
                .lost(lost)
        }
        Bwrap::Absent => row(Status::Note, "not found".to_owned()).remedy(install(&machine.facts)).lost(lost),
    }
}

fn install(facts: &HostFacts) -> &'static str {
    let known = |name: &&str| facts.family.iter().any(|family| family == name);
    let command = INSTALL.iter().find(|(names, _)| names.iter().any(known));
    command.map_or("install bubblewrap from your distribution", |(_, command)| command)
}

const INSTALL: &[(&[&str], &str)] = &[
    (&["debian", "ubuntu"], "sudo apt install bubblewrap"),
    (&["fedora", "rhel"], "sudo dnf install bubblewrap"),
    (&["suse", "opensuse"], "sudo zypper install bubblewrap"),
    (&["arch"], "sudo pacman -S bubblewrap"),
    (&["alpine"], "sudo apk add bubblewrap"),
];

const REINSTALL: &str =
    "install bubblewrap from your distribution again: only root may own it, its directory and all above";
const BUILD_IN: &str = "a kernel with CONFIG_SECURITY_LANDLOCK=y, 5.13 or later";
const IN_GVISOR: &str =
    "nothing inside: gVisor is a wall of its own; run Ringfence outside it to have Landlock";
const ALLOW_LANDLOCK: &str = "update the container engine, or start the container with --security-opt \
     seccomp=PROFILE.json, a copy of its profile that also allows landlock_create_ruleset, landlock_add_rule and \
     landlock_restrict_self";
const CLOSE_INTEROP: &str =
    "put enabled=false below [interop] into /etc/wsl.conf, then in Windows: wsl --shutdown";
