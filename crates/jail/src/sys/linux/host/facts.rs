//! Reads facts about the kernel, its settings and this process from files.

use std::path::Path;

use super::container_detection::containers;
use super::root_files::Root;
use crate::host::probe::{AppArmor, Confined, HostFacts, Selinux};

pub(crate) fn host_facts(root: &Path) -> HostFacts {
    let root = Root(root);
    let (distribution, family) = distribution(&root.text("/etc/os-release").unwrap_or_default());
    HostFacts {
        release: release(&root.text("/proc/version").unwrap_or_default()),
        machine: root.word("/proc/sys/kernel/arch").unwrap_or_else(machine),
        distribution,
        family,
        modules: root.text("/sys/kernel/security/lsm").map(|list| modules(&list)),
        apparmor: apparmor(root),
        selinux: root.number("/sys/fs/selinux/enforce").map(selinux),
        ptrace_scope: root.number("/proc/sys/kernel/yama/ptrace_scope"),
        userns_clone: root.number("/proc/sys/kernel/unprivileged_userns_clone"),
        max_user_namespaces: root.number("/proc/sys/user/max_user_namespaces"),
        confined: confined(&root.text("/proc/self/status").unwrap_or_default()),
        containers: containers(root),
    }
}

/// `Linux version 6.8.0-45-generic (…) …`
fn release(version: &str) -> Option<String> {
    version.strip_prefix("Linux version ")?.split_whitespace().next().map(str::to_owned)
}

fn machine() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

fn modules(list: &str) -> Vec<String> {
    list.trim().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The full name, and the short names of the distribution and of those it derives from.
fn distribution(os_release: &str) -> (Option<String>, Vec<String>) {
    let value = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        let line = line.trim();
        let bare = ['"', '\''].iter().find_map(|&quote| line.strip_prefix(quote)?.strip_suffix(quote));
        Some(bare.unwrap_or(line).to_owned())
    };
    let short = [value("ID"), value("ID_LIKE")].into_iter().flatten();
    let family = short.flat_map(|names| names.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    (value("PRETTY_NAME").or_else(|| value("NAME")), family)
}

fn apparmor(root: Root<'_>) -> AppArmor {
    AppArmor {
        restricts_userns: root.number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        profile: profile(root),
        installed: root.exists("/etc/apparmor.d/ringfence"),
    }
}

/// The old place of the profile is shared by all modules: under `SELinux` it holds a label.
fn profile(root: Root<'_>) -> Option<String> {
    let shared = || {
        let apparmor = root.exists("/sys/module/apparmor") && !root.exists("/sys/fs/selinux/enforce");
        apparmor.then(|| root.text("/proc/self/attr/current")).flatten()
    };
    let text = root.text("/proc/self/attr/apparmor/current").or_else(shared)?;
    let text = text.trim_end_matches(['\n', '\0']);
    (!text.is_empty()).then(|| text.to_owned())
}

fn selinux(enforce: u64) -> Selinux {
    if enforce == 0 { Selinux::Permissive } else { Selinux::Enforcing }
}

fn confined(status: &str) -> Confined {
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.trim().parse().ok()
    };
    Confined {
        seccomp: value("Seccomp"),
        filters: value("Seccomp_filters"),
        no_new_privs: value("NoNewPrivs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_distributions() {
        let rows: &[(&str, Option<&str>, &[&str])] = &[
            ("", None, &[]),
            ("ID=alpine\nPRETTY_NAME=\"Alpine Linux v3.20\"\n", Some("Alpine Linux v3.20"), &["alpine"]),
            ("NAME='Arch Linux'\nID=arch", Some("Arch Linux"), &["arch"]),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", None, &["rocky", "rhel", "centos", "fedora"]),
            ("PRETTY_NAME=\"half\nID=x\n", Some("\"half"), &["x"]),
            ("VERSION_ID=1\n", None, &[]),
        ];
        for (text, name, family) in rows {
            let (found, names) = distribution(text);
            assert_eq!((found.as_deref(), names), (*name, family.iter().map(ToString::to_string).collect()));
        }
    }
}
