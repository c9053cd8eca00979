//! Table: the system calls that are refused, with a reason on every row.
//!
//! The first row that holds answers; a call that no row names is allowed. Where a row reads an argument, it says which half the
//! kernel reads: `int`, `unsigned int` and `umode_t` are the low half, regardless of the high half.
//!
//! Looked at and allowed on purpose:
//! - `landlock_*`, `seccomp` and its notifications: a program may confine itself and its children further. The strictest answer
//!   counts, so that no filter of its own can soften ours.
//! - `kill` and its kin, `pidfd_send_signal`: the pid namespace and the Landlock scope end at the jail.
//! - `mkdir` with set-id bits: the kernel drops them.
//! - `mmap`, `mprotect`, `pkey_*`, `mbind`, `set_mempolicy`: the caller's own memory. `move_pages` and `migrate_pages` reach
//!   others only where `ptrace` could, and in a pid namespace there are no others.
//! - realtime scheduling and negative niceness: the kernel asks for a capability that no process inside has.
//! - `uretprobe`, `uprobe`, `rt_sigreturn`, `restart_syscall`: the kernel's own return paths.

use super::row::{Answer, Call, Errno, Row, any_bit, any_high_bit, call, new, none_of, one_of, x86};

const PERM: Answer = Answer::Refuse(Errno::Perm);
const NO_SYS: Answer = Answer::Refuse(Errno::NoSys);

/// Rows of every filter.
pub(super) const ALWAYS: &[Row] = &[
    // New namespaces.
    Row {
        calls: &[call("unshare", 272, 97)],
        when: &[any_bit(
            0,
            !(CLONE_FS | CLONE_FILES | CLONE_SYSVSEM),
            "flags beyond CLONE_FS, CLONE_FILES, CLONE_SYSVSEM",
        )],
        answer: PERM,
        because: "a new user namespace gives all capabilities in it, and with them most of the kernel to attack",
    },
    Row {
        calls: &[call("unshare", 272, 97)],
        // `unsigned long`: the kernel refuses what it does not know up there, a later one may know more.
        when: &[any_high_bit(0, "flags above 32 bits")],
        answer: PERM,
        because: "flags that nobody has reviewed",
    },
    Row {
        calls: &[call("clone", 56, 220)],
        // `unsigned long`, but the kernel keeps the low half only; C libraries sign-extend CLONE_IO into the high one.
        when: &[any_bit(0, NAMESPACES, "any CLONE_NEW* flag")],
        answer: PERM,
        because: "new namespaces, as by unshare",
    },
    Row {
        calls: &[new("clone3", 435)],
        when: &[],
        answer: NO_SYS,
        because: "its flags stand behind a pointer; C libraries fall back to clone",
    },
    Row {
        calls: &[call("setns", 308, 268)],
        when: &[],
        answer: PERM,
        because: "enters namespaces that somebody else made",
    },
    // The first process of the jail, which has to reap and to end the jail regardless of what the command does.
    Row {
        calls: &[
            call("prlimit64", 302, 261),
            call("sched_setaffinity", 203, 122),
            call("sched_setattr", 314, 274),
            call("sched_setparam", 142, 118),
            call("sched_setscheduler", 144, 119),
        ],
        when: &[one_of(0, &[1], "process 1")],
        answer: PERM,
        because: "a first process that never runs cannot end the jail",
    },
    Row {
        calls: &[call("setpriority", 141, 140), call("ioprio_set", 251, 30)],
        when: &[one_of(1, &[1], "process or group 1")],
        answer: PERM,
        because: "a first process that never runs cannot end the jail",
    },
    Row {
        calls: &[call("setpriority", 141, 140)],
        when: &[one_of(0, &[PRIO_USER], "all processes of a user")],
        answer: PERM,
        because: "the first process of the jail is one of them, and so are the host's where there is no pid namespace",
    },
    Row {
        calls: &[call("ioprio_set", 251, 30)],
        when: &[one_of(0, &[IOPRIO_WHO_USER], "all processes of a user")],
        answer: PERM,
        because: "the first process of the jail is one of them, and so are the host's where there is no pid namespace",
    },
    // The mount tree.
    Row {
        calls: &[
            call("mount", 165, 40),
            call("umount2", 166, 39),
            call("pivot_root", 155, 41),
            call("chroot", 161, 51),
            new("open_tree", 428),
            new("move_mount", 429),
            new("fsopen", 430),
            new("fsconfig", 431),
            new("fsmount", 432),
            new("fspick", 433),
            new("mount_setattr", 442),
            new("open_tree_attr", 467),
        ],
        when: &[],
        answer: PERM,
        because: "the mount tree is what hides the host",
    },
    Row {
        calls: &[new("statmount", 457), new("listmount", 458)],
        when: &[],
        answer: NO_SYS,
        because: "describe mounts beyond what /proc shows; libraries fall back to reading /proc",
    },
    // Ways around the filter or around file permissions.
    Row {
        calls: &[new("io_uring_setup", 425), new("io_uring_enter", 426), new("io_uring_register", 427)],
        when: &[],
        answer: NO_SYS,
        because: "a second way to make system calls, which no filter sees",
    },
    Row {
        calls: &[call("open_by_handle_at", 304, 265), call("name_to_handle_at", 303, 264)],
        when: &[],
        answer: PERM,
        because: "opens files by number, past every directory above them",
    },
    Row {
        calls: &[call("fanotify_init", 300, 262), call("fanotify_mark", 301, 263)],
        when: &[],
        answer: PERM,
        because: "watches and opens what other processes touch on a whole file system",
    },
    Row {
        calls: &[new("openat2", 437)],
        when: &[],
        answer: NO_SYS,
        because: "its mode stands behind a pointer, set-id bits and all; callers fall back to openat",
    },
    // Other processes.
    Row {
        calls: &[
            call("ptrace", 101, 117),
            call("process_vm_readv", 310, 270),
            call("process_vm_writev", 311, 271),
            new("process_madvise", 440),
            call("kcmp", 312, 272),
            new("pidfd_getfd", 438),
        ],
        when: &[],
        answer: PERM,
        because: "reads or changes another process, its descriptors or kernel pointers",
    },
    // Kernel interfaces with a history.
    Row {
        calls: &[call("add_key", 248, 217), call("request_key", 249, 218), call("keyctl", 250, 219)],
        when: &[],
        answer: PERM,
        because: "keyrings belong to the caller's user and no namespace separates them",
    },
    Row {
        calls: &[call("bpf", 321, 280), call("perf_event_open", 298, 241), call("userfaultfd", 323, 282)],
        when: &[],
        answer: PERM,
        because: "programs, counters and page faults inside the kernel: the usual parts of kernel exploits",
    },
    Row {
        calls: &[new("memfd_secret", 447)],
        when: &[],
        answer: NO_SYS,
        because: "memory that no limit and no inspection reaches",
    },
    Row {
        calls: &[x86("modify_ldt", 154)],
        when: &[],
        answer: NO_SYS,
        because: "segments for 16-bit programs: a kernel interface with a history of exploits",
    },
    Row {
        calls: &[x86("iopl", 172), x86("ioperm", 173)],
        when: &[],
        answer: PERM,
        because: "direct access to hardware ports",
    },
    Row {
        calls: &[call("personality", 135, 92)],
        when: &[
            none_of(0, &[u32::MAX], "not the question for the current one"),
            // ADDR_NO_RANDOMIZE is what sanitizers and reproducible builds set for themselves; without new privileges
            // no other program inherits it. PER_LINUX32 and UNAME26 change what uname says.
            any_bit(
                0,
                !(PER_LINUX32 | UNAME26 | ADDR_NO_RANDOMIZE),
                "bits beyond PER_LINUX32, UNAME26, ADDR_NO_RANDOMIZE",
            ),
        ],
        answer: PERM,
        because: "other execution domains turn off memory protections and reach code that nobody tests",
    },
    // The machine itself.
    Row {
        calls: &[
            call("kexec_load", 246, 104),
            call("kexec_file_load", 320, 294),
            call("init_module", 175, 105),
            call("finit_module", 313, 273),
            call("delete_module", 176, 106),
            call("reboot", 169, 142),
            call("swapon", 167, 224),
            call("swapoff", 168, 225),
            call("acct", 163, 89),
            call("quotactl", 179, 60),
            new("quotactl_fd", 443),
            call("vhangup", 153, 58),
        ],
        when: &[],
        answer: PERM,
        because: "administration of the machine, never work of a program in a jail",
    },
    Row {
        calls: &[
            call("settimeofday", 164, 170),
            call("clock_settime", 227, 112),
            call("adjtimex", 159, 171),
            call("clock_adjtime", 305, 266),
        ],
        when: &[],
        answer: PERM,
        because: "the clock is everyone's; whether adjtimex only asks stands behind a pointer",
    },
    Row {
        calls: &[call("sethostname", 170, 161), call("setdomainname", 171, 162)],
        when: &[],
        answer: PERM,
        because: "a name by which people recognise the machine",
    },
    Row {
        calls: &[call("syslog", 103, 116)],
        when: &[],
        answer: PERM,
        because: "the kernel's log tells addresses and the affairs of others",
    },
    Row {
        calls: &[
            call("lookup_dcookie", 212, 18),
            call("nfsservctl", 180, 42),
            x86("uselib", 134),
            x86("ustat", 136),
            x86("sysfs", 139),
            x86("_sysctl", 156),
            x86("create_module", 174),
            x86("get_kernel_syms", 177),
            x86("query_module", 178),
        ],
        when: &[],
        answer: NO_SYS,
        because: "obsolete: no program needs them and few kernels still have them",
    },
    // Names that are made by no call for names.
    Row {
        calls: &[IOCTL],
        when: &[one_of(1, SUBVOLUMES, "request makes or removes a subvolume of btrfs")],
        answer: PERM,
        because: "makes a directory under any name, with everything in it, past whoever watches over names",
    },
    // Terminals.
    Row {
        calls: &[IOCTL],
        when: &[one_of(1, &[TIOCSTI], "request is TIOCSTI")],
        answer: PERM,
        because: "types into the terminal of whoever started us",
    },
    Row {
        calls: &[IOCTL],
        when: &[one_of(1, &[TIOCLINUX], "request is TIOCLINUX")],
        answer: PERM,
        because: "selects and pastes text on a console, which is typing as well",
    },
    Row {
        calls: &[IOCTL],
        when: &[one_of(1, &[TIOCSETD, TIOCCONS], "request is TIOCSETD or TIOCCONS")],
        answer: PERM,
        because: "loads line disciplines into the kernel, takes over the console's output",
    },
    Row {
        calls: &[IOCTL],
        when: &[one_of(1, &[KD, VT], "request is one of KD* or VT*").masked(0xffff_ff00)],
        answer: Answer::Refuse(Errno::NotTty),
        because: "keyboard maps, fonts and switching of virtual consoles; the answer is that of any other terminal",
    },
    // Files that lend their owner's identity, and devices. On a host they outlive the jail.
    Row {
        calls: &[x86("chmod", 90), call("fchmod", 91, 52)],
        when: &[any_bit(1, SET_ID, "mode has a set-id bit")],
        answer: PERM,
        because: "a set-id file in the workspace waits for the host to start it; a filter cannot tell files from directories",
    },
    Row {
        calls: &[call("fchmodat", 268, 53), new("fchmodat2", 452)],
        when: &[any_bit(2, SET_ID, "mode has a set-id bit")],
        answer: PERM,
        because: "set-id files, as by chmod",
    },
    Row {
        calls: &[x86("creat", 85), x86("mknod", 133)],
        when: &[any_bit(1, SET_ID, "mode has a set-id bit")],
        answer: PERM,
        because: "set-id files, set from birth",
    },
    Row {
        calls: &[call("mknodat", 259, 33)],
        when: &[any_bit(2, SET_ID, "mode has a set-id bit")],
        answer: PERM,
        because: "set-id files, set from birth",
    },
    Row {
        calls: &[x86("open", 2)],
        // Without these flags the kernel ignores the mode, and callers leave anything in it.
        when: &[any_bit(1, CREATES, "O_CREAT or O_TMPFILE"), any_bit(2, SET_ID, "mode has a set-id bit")],
        answer: PERM,
        because: "set-id files, set from birth",
    },
    Row {
        calls: &[call("openat", 257, 56)],
        when: &[any_bit(2, CREATES, "O_CREAT or O_TMPFILE"), any_bit(3, SET_ID, "mode has a set-id bit")],
        answer: PERM,
        because: "set-id files, set from birth",
    },
    Row {
        calls: &[x86("mknod", 133)],
        when: &[one_of(1, DEVICES, "mode is a device").masked(FILE_TYPE)],
        answer: PERM,
        because: "a device in the workspace is a way to the host's hardware",
    },
    Row {
        calls: &[call("mknodat", 259, 33)],
        when: &[one_of(2, DEVICES, "mode is a device").masked(FILE_TYPE)],
        answer: PERM,
        because: "a device in the workspace is a way to the host's hardware",
    },
];

/// Rows where the jail has its own network and ipc namespaces.
pub(super) const NAMESPACED: &[Row] = &[
    Row {
        calls: &[SOCKET],
        when: &[none_of(
            0,
            &[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK],
            "family is not unix, inet, inet6 or netlink",
        )],
        answer: Answer::Refuse(Errno::AfNoSupport),
        because: "vsock leaves a virtual machine past every namespace; packet, alg, bluetooth, can, tipc, xdp and the rest are attacked more than used",
    },
    Row {
        calls: &[SOCKETPAIR],
        when: &[none_of(0, &[AF_UNIX], "family is not unix")],
        answer: Answer::Refuse(Errno::AfNoSupport),
        because: "only unix has useful pairs",
    },
];

/// Rows where internet sockets may be made.
pub(super) const INTERNET: &[Row] = &[
    Row {
        calls: &[SOCKET],
        when: &[
            one_of(0, &[AF_INET, AF_INET6], "family is inet or inet6"),
            none_of(1, &[SOCK_STREAM, SOCK_DGRAM], "type is not stream or dgram").masked(SOCK_TYPE),
        ],
        answer: PERM,
        because: "raw sockets forge and overhear packets; SOCK_PACKET is a packet socket under another family's name",
    },
    Row {
        calls: &[SOCKET],
        when: &[
            one_of(0, &[AF_INET, AF_INET6], "family is inet or inet6"),
            none_of(2, PROTOCOLS, "protocol is not the default, TCP, UDP or ICMP"),
        ],
        answer: Answer::Refuse(Errno::ProtoNoSupport),
        because: "SCTP, DCCP, UDP-Lite, SMC load modules that few look after; after this answer to MPTCP, programs take TCP",
    },
    Row {
        calls: &[SOCKET],
        when: &[
            one_of(0, &[AF_NETLINK], "family is netlink"),
            none_of(2, &[NETLINK_ROUTE], "protocol is not NETLINK_ROUTE"),
        ],
        answer: Answer::Refuse(Errno::ProtoNoSupport),
        because: "listing addresses needs route; netfilter, xfrm, audit and the rest are for administrators and exploits",
    },
];

/// Rows where no network namespace exists and no network was asked for.
pub(super) const REFUSED: &[Row] = &[Row {
    calls: &[SOCKET],
    when: &[],
    answer: PERM,
    because: "without a network namespace every socket is one on the host",
}];

/// Rows where no network namespace exists and the network was opened.
pub(super) const OPENED: &[Row] = &[
    Row {
        calls: &[SOCKET],
        when: &[one_of(0, &[AF_UNIX], "family is unix")],
        answer: PERM,
        because: "reaches the host's agents and daemons by path, which Landlock alone does not stop",
    },
    Row {
        calls: &[SOCKET],
        when: &[none_of(0, &[AF_INET, AF_INET6, AF_NETLINK], "family is not inet, inet6 or netlink")],
        answer: Answer::Refuse(Errno::AfNoSupport),
        because: "the network that was opened is the internet",
    },
];

/// Rows where the jail shares the host's ipc, pid and network namespaces.
pub(super) const SHARED: &[Row] = &[
    Row {
        calls: &[SOCKETPAIR],
        when: &[none_of(0, &[AF_UNIX], "family is not unix")],
        answer: Answer::Refuse(Errno::AfNoSupport),
        because: "only unix has useful pairs",
    },
    Row {
        calls: &[SOCKETPAIR],
        when: &[
            none_of(1, &[SOCK_STREAM, SOCK_SEQPACKET], "type is not stream or seqpacket").masked(SOCK_TYPE)
        ],
        answer: PERM,
        because: "a pair of datagram sockets can be connected again, to a daemon of the host",
    },
    Row {
        calls: &[
            call("shmget", 29, 194),
            call("shmat", 30, 196),
            call("shmctl", 31, 195),
            call("semget", 64, 190),
            call("semop", 65, 193),
            call("semctl", 66, 191),
            call("semtimedop", 220, 192),
            call("msgget", 68, 186),
            call("msgsnd", 69, 189),
            call("msgrcv", 70, 188),
            call("msgctl", 71, 187),
            call("mq_open", 240, 180),
            call("mq_unlink", 241, 181),
        ],
        when: &[],
        answer: NO_SYS,
        because: "without an ipc namespace these memories and queues are the host's",
    },
    Row {
        calls: &[call("prlimit64", 302, 261), call("migrate_pages", 256, 238), call("move_pages", 279, 239)],
        when: &[none_of(0, &[0], "process is not the caller itself")],
        answer: PERM,
        because: "without a pid namespace a limit set on another process ends it",
    },
];

/// Rows of the filter that only tells. `openat2` is missing because [`ALWAYS`] refuses it, and a refusal is never told.
pub(super) const OBSERVED: &[Row] = &[
    Row {
        calls: &[call("execve", 59, 221), call("execveat", 322, 281)],
        when: &[],
        answer: Answer::Notify,
        because: "which program was refused",
    },
    Row {
        calls: &[x86("open", 2), x86("creat", 85), call("openat", 257, 56)],
        when: &[],
        answer: Answer::Notify,
        because: "which path was refused",
    },
    Row {
        calls: &[
            x86("mkdir", 83),
            call("mkdirat", 258, 34),
            x86("mknod", 133),
            call("mknodat", 259, 33),
            x86("rmdir", 84),
            x86("unlink", 87),
            call("unlinkat", 263, 35),
            x86("rename", 82),
            call("renameat", 264, 38),
            call("renameat2", 316, 276),
            x86("link", 86),
            call("linkat", 265, 37),
            x86("symlink", 88),
            call("symlinkat", 266, 36),
        ],
        when: &[],
        answer: Answer::Notify,
        because: "which name was made, moved or taken away",
    },
    Row {
        calls: &[call("connect", 42, 203)],
        when: &[],
        answer: Answer::Notify,
        because: "which address was refused",
    },
    Row {
        calls: &[SENDTO],
        when: &[any_bit(4, u32::MAX, "an address, its low half")],
        answer: Answer::Notify,
        because: "which address was refused; without one the socket was connected before",
    },
    Row {
        calls: &[SENDTO],
        when: &[any_high_bit(4, "an address, its high half")],
        answer: Answer::Notify,
        because: "which address was refused; without one the socket was connected before",
    },
];

const IOCTL: Call = call("ioctl", 16, 29);
const SOCKET: Call = call("socket", 41, 198);
const SOCKETPAIR: Call = call("socketpair", 53, 199);
const SENDTO: Call = call("sendto", 44, 206);

const CLONE_FS: u32 = 0x200;
const CLONE_FILES: u32 = 0x400;
const CLONE_SYSVSEM: u32 = 0x4_0000;
/// NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME shares its bit with the signal that clone sends at
/// the end, and exists for unshare and clone3 alone.
const NAMESPACES: u32 = 0x7e02_0000;

const PER_LINUX32: u32 = 0x8;
const UNAME26: u32 = 0x2_0000;
const ADDR_NO_RANDOMIZE: u32 = 0x4_0000;

/// `BTRFS_IOC_SNAP_CREATE`, `SUBVOL_CREATE`, `SNAP_DESTROY`, and the second versions of the first two.
const SUBVOLUMES: &[u32] = &[0x5000_9401, 0x5000_940e, 0x5000_940f, 0x5000_9417, 0x5000_9418];

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const TIOCCONS: u32 = 0x541d;
const TIOCSETD: u32 = 0x5423;
/// The first of 256 numbers each.
const KD: u32 = 0x4b00;
const VT: u32 = 0x5600;

const SET_ID: u32 = 0o6000;
/// `O_CREAT`, and of `O_TMPFILE` the bit that is not also `O_DIRECTORY`, which has another number on every machine.
const CREATES: u32 = 0o2000_0100;
const FILE_TYPE: u32 = 0o170_000;
const DEVICES: &[u32] = &[0o020_000, 0o060_000];

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const NETLINK_ROUTE: u32 = 0;

/// The kernel keeps flags such as `SOCK_CLOEXEC` above the type.
const SOCK_TYPE: u32 = 0xf;
const SOCK_STREAM: u32 = 1;
const SOCK_DGRAM: u32 = 2;
const SOCK_SEQPACKET: u32 = 5;
/// The default, ICMP, TCP, UDP, ICMP for version 6.
const PROTOCOLS: &[u32] = &[0, 1, 6, 17, 58];

const PRIO_USER: u32 = 2;
const IOPRIO_WHO_USER: u32 = 3;
