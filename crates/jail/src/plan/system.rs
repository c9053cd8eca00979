//! Table: what every jail shows of the system, and why.

use std::path::Path;

/// One path of the system.
pub(super) struct Row {
    pub(super) path: &'static str,
    pub(super) show: Show,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for those who review the table; a test wants it to be there")
    )]
    pub(super) because: &'static str,
}

/// Form in which a path is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// A directory or file as it is, read-only. A link stays a link.
    AsIs,
    /// The text as it was when the jail was made.
    Copy,
    /// A character device.
    Device,
}

const fn row(path: &'static str, show: Show, because: &'static str) -> Row {
    Row { path, show, because }
}

/// System paths that are shown; those that a machine lacks are left out.
pub(super) static SYSTEM: &[Row] = &[
    row("/usr", Show::AsIs, "programs and libraries"),
    row("/bin", Show::AsIs, "a link to /usr/bin, or programs on old systems"),
    row("/sbin", Show::AsIs, "a link to /usr/sbin, or programs on old systems"),
    row("/lib", Show::AsIs, "the dynamic loader is found here"),
    row("/lib32", Show::AsIs, "libraries of 32-bit programs"),
    row("/lib64", Show::AsIs, "the dynamic loader is found here"),
    row("/libx32", Show::AsIs, "a link on some systems"),
    row("/nix/store", Show::AsIs, "where NixOS keeps programs and libraries; world-readable by design"),
    row("/gnu/store", Show::AsIs, "the same for Guix"),
    row("/etc/alternatives", Show::AsIs, "links from names like cc to programs"),
    row("/etc/ca-certificates", Show::AsIs, "trusted certificates"),
    row("/etc/ssl", Show::AsIs, "trusted certificates; private keys in it are hidden"),
    row("/etc/pki/ca-trust", Show::AsIs, "trusted certificates on Fedora; keys lie beside it"),
    row("/etc/pki/tls/certs", Show::AsIs, "trusted certificates on Fedora; keys lie beside it"),
    row("/etc/ld.so.cache", Show::AsIs, "what the dynamic loader looks up; without it programs start slowly"),
    row("/etc/ld.so.conf.d", Show::AsIs, "where libraries are"),
    row("/etc/fonts", Show::AsIs, "which fonts there are"),
    row(
        "/etc/chromium.d",
        Show::AsIs,
        "Debian's chromium reads its options here, and does not start without",
    ),
    row("/etc/groff", Show::AsIs, "Debian's groff, which man runs, links its settings to here"),
    row("/etc/java-17-openjdk", Show::AsIs, "Debian's Java links its settings to here"),
    row("/etc/java-21-openjdk", Show::AsIs, "Debian's Java links its settings to here"),
    row("/etc/java-25-openjdk", Show::AsIs, "Debian's Java links its settings to here"),
    row("/etc/ld.so.conf", Show::Copy, "where libraries are"),
    row("/etc/resolv.conf", Show::Copy, "name resolution; the link may lead out of sight, the text does not"),
    row("/etc/hosts", Show::Copy, "name resolution"),
    row("/etc/nsswitch.conf", Show::Copy, "name resolution"),
    row("/etc/services", Show::Copy, "names of ports"),
    row("/etc/localtime", Show::Copy, "the time zone"),
    row("/etc/timezone", Show::Copy, "the time zone"),
    row("/etc/os-release", Show::Copy, "which distribution this is"),
    row("/etc/bash.bashrc", Show::Copy, "an interactive bash has its prompt from here"),
    row("/etc/profile", Show::Copy, "a login shell sets its path here"),
    row("/etc/manpath.config", Show::Copy, "Debian's man does not start without it"),
    row("/etc/man_db.conf", Show::Copy, "where other systems' man looks for pages"),
    row("/etc/gitconfig", Show::Copy, "the machine's settings of git"),
    row("/dev/null", Show::Device, "swallows"),
    row("/dev/zero", Show::Device, "zeroes"),
    row("/dev/full", Show::Device, "always full"),
    row("/dev/urandom", Show::Device, "randomness"),
    row("/dev/tty", Show::Device, "the terminal of the session, which is the jail's own or none"),
];

/// Keys that lie inside something that is shown.
pub(super) static SECRET: &[&str] = &["/etc/ssl/private", "/usr/local/etc/ssl/private"];

/// Entries of `/proc` that tell every reader about the host. All of `/proc` is read-only besides.
pub(super) static MASKED: &[&str] =
    &["acpi", "asound", "interrupts", "kallsyms", "key-users", "keys", "scsi"];

/// Entries of `/proc` that only the host's user 0 can open, without any capabilities. No process in a jail is that user, unless the machine
/// leaves no choice.
pub(super) static MASKED_FROM_ROOT: &[&str] = &[
    "bus",
    "driver",
    "fs",
    "irq",
    "kcore",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "sched_debug",
    "slabinfo",
    "sysrq-trigger",
    "timer_list",
    "vmallocinfo",
];

/// Paths at which the jail has entries of its own.
pub(super) static RESERVED: &[&str] = &["/proc", "/sys", "/dev", "/etc/passwd", "/etc/group"];

/// Paths of ordinary machines that no jail may show by accident.
pub(super) static CANARIES: &[&str] = &["/boot", "/etc/shadow", "/home", "/root", "/sys/kernel", "/var/lib"];

/// Every path whose kind a plan wants to know.
pub(super) fn paths(as_root: bool) -> impl Iterator<Item = String> {
    let system = SYSTEM.iter().filter(|row| row.show != Show::Copy).map(|row| row.path.to_owned());
    let others = SECRET.iter().chain(CANARIES).map(|path| (*path).to_owned());
    let from_root = MASKED_FROM_ROOT.iter().filter(move |_| as_root);
    let masked = MASKED.iter().chain(from_root).map(|name| format!("/proc/{name}"));
    system.chain(others).chain(masked)
}

/// Every path whose text a plan wants to know.
pub(super) fn copied() -> impl Iterator<Item = &'static str> {
    SYSTEM.iter().filter(|row| row.show == Show::Copy).map(|row| row.path)
}

/// Returns true if a path lies in a directory that is shown as it is.
pub(super) fn shows(path: &Path) -> bool {
    SYSTEM.iter().any(|row| row.show == Show::AsIs && path.starts_with(row.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_reason_and_stands_once() {
        let mut seen = std::collections::BTreeSet::new();
        for row in SYSTEM {
            assert!(row.because.len() > 5 && seen.insert(row.path), "{}", row.path);
        }
    }
}
