//! The features that a machine can lack, each worded once.

pub(super) const NATIVE: &str = "the `native` provider";
pub(super) const LANDLOCK: &str =
    "the `landlock` provider, and the second wall behind the mounts of `native`";
pub(super) const BUBBLEWRAP: &str = "the `bubblewrap` provider";
pub(super) const FILTER: &str = "every provider: none works without a filter on system calls";
pub(super) const NETWORK: &str = "a network of its own inside, with a private loopback";
pub(super) const REDIRECTION: &str =
    "the way to the broker for programs that ignore proxy variables: their connections are refused";
pub(super) const MOUNTS: &str = "a private file tree: /tmp, HOME, hidden files";
pub(super) const PROCESSES: &str = "a process tree of its own that ends as a whole";
pub(super) const IPC: &str = "private System V memory and message queues";
pub(super) const NAMES: &str = "a host name and a cgroup view of its own";
pub(super) const PROC: &str = "hiding the host's processes: the jail sees their names in /proc";
pub(super) const NOTIFY: &str = "decisions about single system calls while they happen";
pub(super) const LIMITS: &str = "limits by the kernel on memory and processes of a whole jail; a watchdog and limits on each process stay";
pub(super) const RENAMES: &str = "moving files between directories inside the jail (Landlock ABI 2)";
pub(super) const TRUNCATION: &str = "refusing truncation by Landlock (ABI 3)";
pub(super) const PORTS: &str =
    "TCP ports by Landlock (ABI 4): without a network of its own a jail gets none at all";
pub(super) const DEVICES: &str = "refusing device controls by Landlock (ABI 5)";
pub(super) const SCOPES: &str = "abstract sockets and signals by Landlock (ABI 6)";
pub(super) const LEDGER: &str = "the ledger, and with it every action: no record, no action";
pub(super) const PRIVACY: &str = "privacy: others on this machine can see what Ringfence keeps there";
pub(super) const TIMES: &str = "times in the ledger that can be relied on";
pub(super) const POLICY: &str = "every action: a policy file that is refused allows nothing";
pub(super) const SOCKETS: &str = "approvals and sessions on a socket";
pub(super) const WINDOWS: &str = "a wall towards Windows: its programs run outside every jail";

/// Returns the gaps of an old Landlock; of none at all, only the whole.
pub(super) fn by_landlock(abi: u32) -> Vec<&'static str> {
    let missing = SINCE.iter().filter(|(version, ..)| abi < *version).map(|(.., feature)| *feature);
    if abi == 0 { vec![LANDLOCK] } else { missing.collect() }
}

/// `6.10 for ABI 5, 6.12 for ABI 6`: which kernels bring what an old Landlock leaves out.
pub(super) fn kernels_after(abi: u32) -> String {
    let later = SINCE.iter().filter(|(version, ..)| abi < *version);
    later.map(|(version, kernel, _)| format!("{kernel} for ABI {version}")).collect::<Vec<_>>().join(", ")
}

/// The version of the interface, the first kernel of kernel.org with it, and what it brings.
const SINCE: &[(u32, &str, &str)] = &[
    (2, "5.19", RENAMES),
    (3, "6.2", TRUNCATION),
    (4, "6.7", PORTS),
    (5, "6.10", DEVICES),
    (6, "6.12", SCOPES),
];
