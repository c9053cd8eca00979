//! Table: paths that matter to the machine or to a person.
//!
//! A row is a path without its first slash. `*` stands for letters of one name; `**` at the end for the directory itself
//! and all below.

use std::sync::LazyLock;

use policy::{CredentialFile, CredentialRoot};

/// A path with the reason why it matters. The reason goes on after "`path` is ".
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) path: &'static str,
    pub(crate) why: &'static str,
}

const fn row(path: &'static str, why: &'static str) -> Row {
    Row { path, why }
}

/// Directories whose loss takes the machine with it. The root itself goes without a row.
pub(crate) const ROOTS: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "nix",
    "nix/store",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "sys/firmware/efi/efivars",
    "usr",
    "usr/bin",
    "usr/include",
    "usr/lib",
    "usr/lib32",
    "usr/lib64",
    "usr/libexec",
    "usr/local",
    "usr/local/bin",
    "usr/local/lib",
    "usr/sbin",
    "usr/share",
    "var",
    "var/db",
    "var/lib",
    "var/log",
    "var/mail",
    "var/spool",
    "Applications",
    "Library",
    "Network",
    "System",
    "Users",
    "Volumes",
    "cores",
    "private",
];

/// Home directories of all users.
pub(crate) const HOMES: &[&str] = &["home/*", "Users/*", "var/root"];

/// Disks, and other devices that a write can ruin the machine with.
pub(crate) const DEVICES: &[Row] = &[
    row("dev/sd*", "a disk"),
    row("dev/vd*", "a disk of a virtual machine"),
    row("dev/hd*", "a disk"),
    row("dev/xvd*", "a disk of a virtual machine"),
    row("dev/nvme*", "a disk"),
    row("dev/mmcblk*", "a memory card"),
    row("dev/dm-*", "a mapped disk"),
    row("dev/mapper/*", "a mapped disk"),
    row("dev/md*", "an array of disks"),
    row("dev/loop*", "a loop device"),
    row("dev/disk/**", "a disk"),
    row("dev/disk*", "a disk"),
    row("dev/rdisk*", "a disk"),
    row("dev/block/**", "a disk"),
    row("dev/zd*", "a volume of ZFS"),
    row("dev/zvol/**", "a volume of ZFS"),
    row("dev/nbd*", "a disk on the network"),
    row("dev/rbd*", "a disk on the network"),
    row("dev/bcache*", "a cached disk"),
    row("dev/pmem*", "persistent memory"),
    row("dev/dasd*", "a disk"),
    row("dev/mtd*", "flash memory"),
    row("dev/ram*", "a disk in memory"),
    row("dev/mem", "the memory of the machine"),
    row("dev/kmem", "the memory of the kernel"),
    row("dev/port", "the I/O ports of the machine"),
];

/// Switches of the running kernel.
pub(crate) const KERNEL: &[Row] = &[
    row("proc/sysrq-trigger", "a switch that resets or powers off the machine"),
    row("proc/sys/**", "a setting of the running kernel"),
];

/// World-writable devices.
pub(crate) const FREE_DEVICES: &[&str] = &[
    "dev/null",
    "dev/zero",
    "dev/full",
    "dev/random",
    "dev/urandom",
    "dev/stdin",
    "dev/stdout",
    "dev/stderr",
    "dev/tty",
    "dev/ptmx",
    "dev/fd/**",
    "dev/shm/**",
    "dev/pts/**",
    "proc/self/fd/**",
];

/// Directories that exist to be written into: only changing them as a whole matters.
pub(crate) const SHARED: &[&str] = &["tmp", "var/tmp"];

/// Paths of the system.
pub(crate) const SYSTEM: &[Row] = &[
    row("etc/**", "part of the configuration of the system"),
    row("boot/**", "what the machine starts from"),
    row("proc/**", "part of the running kernel"),
    row("sys/**", "part of the running kernel"),
    row("dev/**", "a device"),
    row("bin/**", "among the programs of the system"),
    row("sbin/**", "among the programs of the system"),
    row("lib/**", "among the libraries of the system"),
    row("lib32/**", "among the libraries of the system"),
    row("lib64/**", "among the libraries of the system"),
    row("usr/bin/**", "among the programs of the system"),
    row("usr/sbin/**", "among the programs of the system"),
    row("usr/lib/**", "among the libraries of the system"),
    row("usr/lib64/**", "among the libraries of the system"),
    row("usr/libexec/**", "among the programs of the system"),
    row("usr/local/**", "among the programs of this machine"),
    row("usr/share/**", "among the files of the system"),
    row("usr/include/**", "among the files of the system"),
    row("var/log/**", "a log of the system"),
    row("var/spool/cron/**", "a table of commands that run by the clock"),
    row("var/lib/dpkg/**", "the record of installed packages"),
    row("var/lib/rpm/**", "the record of installed packages"),
    row("System/**", "part of the system"),
    row("Library/**", "part of the system"),
];

/// Directories of the system that matter as a whole only.
pub(crate) const WHOLE: &[Row] = &[
    row("opt", "a directory of the system"),
    row("root", "the home directory of the administrator"),
    row("usr", "a directory of the system"),
    row("var", "a directory of the system"),
    row("var/lib", "a directory of the system"),
    row("var/spool", "a directory of the system"),
    row("home", "where all home directories are"),
    row("Users", "where all home directories are"),
    row("srv", "a directory of the system"),
    row("run", "a directory of the system"),
    row("tmp", "shared by every program"),
    row("var/tmp", "shared by every program"),
];

/// Files in a home directory that decide what runs later.
pub(crate) const START_UP: &[Row] = &[
    row(".bashrc", "run by every new shell"),
    row(".bash_profile", "run at every login"),
    row(".bash_login", "run at every login"),
    row(".bash_logout", "run at every logout"),
    row(".bash_aliases", "run by every new shell"),
    row(".profile", "run at every login"),
    row(".zshrc", "run by every new shell"),
    row(".zprofile", "run at every login"),
    row(".zshenv", "run by every new shell"),
    row(".zlogin", "run at every login"),
    row(".zlogout", "run at every logout"),
    row(".xprofile", "run at every login"),
    row(".xinitrc", "run at every login"),
    row(".xsession", "run at every login"),
    row(".xsessionrc", "run at every login"),
    row(".pam_environment", "read at every login"),
    row(".config/autostart/**", "run at every login"),
    row(".config/systemd/**", "run at every login"),
    row(".config/environment.d/**", "read at every login"),
    row(".config/git/**", "read by every git command, and can name programs"),
    row(".config/fish/**", "run by every new shell"),
    row(".config/ringfence/**", "the policy that confines this session"),
    row(".gitconfig", "read by every git command, and can name programs"),
    row(".cargo/config", "read by every cargo command, and can name programs"),
    row(".cargo/config.toml", "read by every cargo command, and can name programs"),
    row(".local/share/applications/**", "what the desktop starts"),
    row("Library/LaunchAgents/**", "run at every login"),
];

/// Files of the system that hold credentials.
pub(crate) static SYSTEM_CREDENTIALS: LazyLock<Vec<Row>> =
    LazyLock::new(|| credentials(CredentialRoot::System, |file| file.read));

/// Files in a home directory that hold credentials. The directories that hold little else count as a whole.
pub(crate) static HOME_CREDENTIALS: LazyLock<Vec<Row>> =
    LazyLock::new(|| credentials(CredentialRoot::Home, |file| file.read));

/// Files in a home directory that hold credentials and that a command should not change unasked.
pub(crate) static CHANGED_CREDENTIALS: LazyLock<Vec<Row>> =
    LazyLock::new(|| credentials(CredentialRoot::Home, |file| file.change));

fn credentials(root: CredentialRoot, why: fn(&CredentialFile) -> Option<&'static str>) -> Vec<Row> {
    let files = policy::credential_files().filter(|file| file.root == root);
    let row = |file: CredentialFile| Some(row(file.pattern.trim_start_matches('/'), why(&file)?));
    files.filter_map(row).collect()
}

/// The end of the name of the other half of a key.
pub(crate) const PUBLIC_END: &str = ".pub";

/// Files that show the variables or the memory of a process.
pub(crate) const PROCESS: &[Row] = &[
    row("proc/*/environ", "the environment of a process"),
    row("proc/*/task/*/environ", "the environment of a process"),
    // The process is a variable without a value.
    row("proc/environ", "the environment of a process"),
    row("proc/*/mem", "the memory of a process"),
    row("proc/*/task/*/mem", "the memory of a process"),
    row("proc/kcore", "the memory of the machine"),
];

/// Redirections that the shell itself turns into connections.
pub(crate) const CONNECTIONS: &[Row] = &[
    row("dev/tcp/**", "a connection to another machine"),
    row("dev/udp/**", "a connection to another machine"),
];
