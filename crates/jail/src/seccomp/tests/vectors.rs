//! Calls and the answers they must get, written without looking at how the rows say it.

use super::interpreter::Input;
use crate::seccomp::row::{Answer, Errno, Row};
use crate::seccomp::{Abi, Sockets, rows, table};

pub(super) struct Vector {
    pub(super) text: String,
    number: u32,
    arguments: [u64; 6],
    pub(super) expected: Answer,
}

impl Vector {
    pub(super) fn input(&self, abi: Abi) -> Input {
        Input::new(abi, self.number, self.arguments)
    }
}

pub(super) fn vectors(abi: Abi, sockets: Sockets) -> Vec<Vector> {
    let whole = WHOLE.iter().flat_map(|(names, expected)| {
        names.split_whitespace().map(|name| Line(name, &[u64::MAX, u64::MAX, u64::MAX], *expected))
    });
    let own: &[&[Line]] = match sockets {
        Sockets::Namespaced => &[NAMESPACED, NETWORKED],
        Sockets::Refused => &[REFUSED, SHARED],
        Sockets::Internet => &[INTERNET, NETWORKED, SHARED],
    };
    let parts = own.iter().copied().flatten().chain(PARTLY).copied();
    let by_name = whole.chain(parts).filter_map(|line| line.vector(abi));
    by_name.chain(unnamed(abi)).collect()
}

/// A call, its first arguments, the answer. Calls that an ABI lacks are left out there.
#[derive(Clone, Copy)]
struct Line(&'static str, &'static [u64], Answer);

impl Line {
    fn vector(self, abi: Abi) -> Option<Vector> {
        let Self(name, given, expected) = self;
        let mut arguments = [0; 6];
        arguments[..given.len()].copy_from_slice(given);
        let text = format!("{name} {given:x?}: {expected:?}");
        Some(Vector { text, number: number(abi, name)?, arguments, expected })
    }
}

fn number(abi: Abi, name: &str) -> Option<u32> {
    let all = [Sockets::Namespaced, Sockets::Refused, Sockets::Internet];
    let rows = all.into_iter().flat_map(rows).chain(table::OBSERVED);
    let call = rows.flat_map(|row: &Row| row.calls).find(|call| call.name == name);
    call.unwrap_or_else(|| panic!("no row names {name}")).number(abi)
}

/// Numbers that no row names.
fn unnamed(abi: Abi) -> Vec<Vector> {
    let rows: &[(u32, Answer)] = match abi {
        Abi::X86_64 => &[
            (0, ALLOW),   // read
            (39, ALLOW),  // getpid
            (62, ALLOW),  // kill
            (83, ALLOW),  // mkdir
            (202, ALLOW), // futex
            (317, ALLOW), // seccomp
            (336, ALLOW), // uprobe, the last before the gap
            (337, NOSYS), // the gap
            (423, NOSYS), // its end
            (424, ALLOW), // pidfd_send_signal
            (444, ALLOW), // landlock_create_ruleset
            (462, ALLOW), // mseal
            (469, ALLOW), // file_setattr, the last reviewed
            (470, NOSYS), // listns
            (512, NOSYS), // x32 calls that old kernels took without the bit
            (547, NOSYS),
            (0x3fff_ffff, NOSYS),
            (0x4000_0000, KILL), // read, as x32
            (0x4000_0110, KILL), // unshare, as x32
            (0x4000_020f, KILL), // an x32 number of its own
            (0x7fff_ffff, KILL),
            (0xc000_0000, KILL),
            (0xffff_fffe, KILL),
            (0xffff_ffff, NOSYS),
        ],
        Abi::Aarch64 => &[
            (34, ALLOW),  // mkdirat
            (98, ALLOW),  // futex
            (129, ALLOW), // kill
            (172, ALLOW), // getpid
            (243, ALLOW), // recvmmsg, the last before a gap
            (244, NOSYS),
            (259, NOSYS),
            (260, ALLOW), // wait4
            (277, ALLOW), // seccomp
            (293, ALLOW), // rseq
            (295, NOSYS),
            (423, NOSYS),
            (424, ALLOW),
            (444, ALLOW),
            (469, ALLOW),
            (470, NOSYS),
            (0x4000_0000, NOSYS),
            (0xffff_ffff, NOSYS),
        ],
    };
    let vector = |&(number, expected)| Vector {
        text: format!("number {number:#x}: {expected:?}"),
        number,
        arguments: [0; 6],
        expected,
    };
    rows.iter().map(vector).collect()
}

const ALLOW: Answer = Answer::Allow;
const KILL: Answer = Answer::Kill;
const PERM: Answer = Answer::Refuse(Errno::Perm);
const NOSYS: Answer = Answer::Refuse(Errno::NoSys);
const NOTTY: Answer = Answer::Refuse(Errno::NotTty);
const NO_FAMILY: Answer = Answer::Refuse(Errno::AfNoSupport);
const NO_PROTOCOL: Answer = Answer::Refuse(Errno::ProtoNoSupport);

/// Calls that are refused for all arguments.
const WHOLE: &[(&str, Answer)] = &[
    ("setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick", PERM),
    ("mount_setattr open_tree_attr open_by_handle_at name_to_handle_at fanotify_init fanotify_mark", PERM),
    ("ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd", PERM),
    ("add_key request_key keyctl bpf perf_event_open userfaultfd iopl ioperm", PERM),
    ("kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct", PERM),
    ("quotactl quotactl_fd vhangup settimeofday clock_settime adjtimex clock_adjtime", PERM),
    ("sethostname setdomainname syslog", PERM),
    ("clone3 openat2 statmount listmount io_uring_setup io_uring_enter io_uring_register", NOSYS),
    ("memfd_secret modify_ldt lookup_dcookie nfsservctl uselib ustat sysfs _sysctl", NOSYS),
    ("create_module get_kernel_syms query_module", NOSYS),
];

/// A bit that no `int` has.
const HIGH: u64 = 1 << 32;

/// Calls that are refused for some arguments.
const PARTLY: &[Line] = &[
    Line("unshare", &[0], ALLOW),
    Line("unshare", &[0x200], ALLOW),
    Line("unshare", &[0x400], ALLOW),
    Line("unshare", &[0x4_0600], ALLOW),
    Line("unshare", &[0x80], PERM),
    Line("unshare", &[0x2_0000], PERM),
    Line("unshare", &[0x1000_0000], PERM),
    Line("unshare", &[0x1000_0400], PERM),
    Line("unshare", &[HIGH + 0x1000_0000], PERM),
    Line("unshare", &[HIGH], PERM),
    Line("clone", &[17], ALLOW),
    // vfork, and a thread as C libraries make it.
    Line("clone", &[0x4111], ALLOW),
    Line("clone", &[0x3d_0f00], ALLOW),
    Line("clone", &[0xffff_ffff_8000_0011], ALLOW),
    // CLONE_NEWTIME is part of the signal here.
    Line("clone", &[0x80], ALLOW),
    Line("clone", &[0x2_0011], PERM),
    Line("clone", &[0x0200_0011], PERM),
    Line("clone", &[0x0400_0011], PERM),
    Line("clone", &[0x0800_0011], PERM),
    Line("clone", &[0x1000_0011], PERM),
    Line("clone", &[0x2000_0011], PERM),
    Line("clone", &[0x4000_0011], PERM),
    Line("clone", &[HIGH + 0x1000_0011], PERM),
    Line("personality", &[0], ALLOW),
    Line("personality", &[0xffff_ffff], ALLOW),
    Line("personality", &[u64::MAX], ALLOW),
    Line("personality", &[0x4_0000], ALLOW),
    Line("personality", &[0x8], ALLOW),
    Line("personality", &[0x2_0008], ALLOW),
    Line("personality", &[0x40_0000], PERM),
    Line("personality", &[HIGH + 0x44_0000], PERM),
    Line("personality", &[0x10_0000], PERM),
    Line("personality", &[0x6], PERM),
    Line("ioctl", &[0, 0x5000_9401], PERM),
    Line("ioctl", &[0, 0x5000_940e], PERM),
    Line("ioctl", &[0, 0x5000_940f], PERM),
    Line("ioctl", &[0, 0x5000_9417], PERM),
    Line("ioctl", &[0, HIGH + 0x5000_9418], PERM),
    // FICLONE has the same letter.
    Line("ioctl", &[0, 0x4004_9409], ALLOW),
    Line("ioctl", &[0, 0x5412], PERM),
    Line("ioctl", &[0, HIGH + 0x5412], PERM),
    Line("ioctl", &[0, 0xffff_ffff_0000_5412], PERM),
    Line("ioctl", &[0, 0x541c], PERM),
    Line("ioctl", &[0, HIGH + 0x541c], PERM),
    Line("ioctl", &[0, 0x541d], PERM),
    Line("ioctl", &[0, 0x5423], PERM),
    Line("ioctl", &[0, 0x4b00], NOTTY),
    Line("ioctl", &[0, 0x4bff], NOTTY),
    Line("ioctl", &[0, 0x5606], NOTTY),
    Line("ioctl", &[0, HIGH + 0x5606], NOTTY),
    // TCGETS, TIOCGWINSZ, FIONREAD, TIOCGPTPEER, FIOCLEX, FICLONE, and a V4L2 request that ends like a VT one.
    Line("ioctl", &[0, 0x5401], ALLOW),
    Line("ioctl", &[0, 0x5413], ALLOW),
    Line("ioctl", &[0, 0x541b], ALLOW),
    Line("ioctl", &[0, 0x5441], ALLOW),
    Line("ioctl", &[0, 0x5451], ALLOW),
    Line("ioctl", &[0, 0x4004_9409], ALLOW),
    Line("ioctl", &[0, 0x8068_5600], ALLOW),
    Line("chmod", &[0, 0o755], ALLOW),
    Line("chmod", &[0, 0o1777], ALLOW),
    Line("chmod", &[0, 0o4755], PERM),
    Line("chmod", &[0, 0o2755], PERM),
    Line("chmod", &[0, HIGH + 0o4755], PERM),
    // `umode_t` is 16 bits wide.
    Line("chmod", &[0, 0x1_0000 | 0o4755], PERM),
    Line("fchmod", &[3, 0o644], ALLOW),
    Line("fchmod", &[3, 0o6755], PERM),
    Line("fchmodat", &[0, 0, 0o644], ALLOW),
    Line("fchmodat", &[0, 0o6000, 0o644], ALLOW),
    Line("fchmodat", &[0, 0, 0o4755], PERM),
    Line("fchmodat2", &[0, 0, 0o644, 0x100], ALLOW),
    Line("fchmodat2", &[0, 0, 0o2755], PERM),
    Line("creat", &[0, 0o666], ALLOW),
    Line("creat", &[0, 0o4777], PERM),
    Line("open", &[0, 0, 0o4777], ALLOW),
    Line("open", &[0, 0o1101, 0o666], ALLOW),
    Line("open", &[0, 0o100, 0o4777], PERM),
    Line("open", &[0, HIGH + 0o100, HIGH + 0o2777], PERM),
    Line("open", &[0, 0o2000_0002, 0o4777], PERM),
    Line("openat", &[0, 0, 0, 0o4777], ALLOW),
    Line("openat", &[0, 0o100, 0, 0o4777], ALLOW),
    Line("openat", &[0, 0, 0o101, 0o666], ALLOW),
    Line("openat", &[0, 0, 0o101, 0o4755], PERM),
    Line("openat", &[0, 0, 0o2020_0002, 0o2755], PERM),
    Line("mknod", &[0, 0o010_644], ALLOW),
    Line("mknod", &[0, 0o100_644], ALLOW),
    Line("mknod", &[0, 0o140_755], ALLOW),
    Line("mknod", &[0, 0o104_755], PERM),
    Line("mknod", &[0, 0o020_666], PERM),
    Line("mknod", &[0, 0o060_666], PERM),
    Line("mknodat", &[0, 0, 0o010_644], ALLOW),
    Line("mknodat", &[0, 0, 0o100_644], ALLOW),
    Line("mknodat", &[0, 0, 0o104_755], PERM),
    Line("mknodat", &[0, 0, 0o020_666], PERM),
    Line("mknodat", &[0, 0, 0o060_666], PERM),
];

const NAMESPACED: &[Line] = &[
    Line("socket", &[1, 1, 0], ALLOW),
    Line("socket", &[1, 0x8_0802, 0], ALLOW),
    Line("socket", &[1, 1, 99], ALLOW),
    Line("socketpair", &[1, 1, 0], ALLOW),
    Line("socketpair", &[1, 2, 0], ALLOW),
    Line("socketpair", &[2, 1, 0], NO_FAMILY),
    Line("socketpair", &[30, 1, 0], NO_FAMILY),
    Line("shmget", &[0, 4096, 0o600], ALLOW),
    Line("mq_open", &[0], ALLOW),
    Line("prlimit64", &[1], PERM),
    Line("prlimit64", &[0], ALLOW),
    Line("prlimit64", &[7], ALLOW),
    Line("prlimit64", &[HIGH | 1], PERM),
    Line("sched_setaffinity", &[1], PERM),
    Line("sched_setaffinity", &[0], ALLOW),
    Line("sched_setattr", &[1], PERM),
    Line("sched_setparam", &[1], PERM),
    Line("sched_setscheduler", &[1], PERM),
    Line("sched_setscheduler", &[2], ALLOW),
    Line("setpriority", &[0, 1, 19], PERM),
    Line("setpriority", &[1, 1, 19], PERM),
    Line("setpriority", &[0, 0, 19], ALLOW),
    Line("setpriority", &[0, 2, 19], ALLOW),
    Line("setpriority", &[2, 0, 19], PERM),
    Line("ioprio_set", &[1, 1], PERM),
    Line("ioprio_set", &[1, 0], ALLOW),
    Line("ioprio_set", &[3, 0], PERM),
];

/// Cases in which internet sockets are allowed.
const NETWORKED: &[Line] = &[
    Line("socket", &[2, 1, 0], ALLOW),
    Line("socket", &[2, 0x8_0801, 6], ALLOW),
    Line("socket", &[10, 2, 17], ALLOW),
    Line("socket", &[2, 2, 1], ALLOW),
    Line("socket", &[10, 2, 58], ALLOW),
    Line("socket", &[16, 3, 0], ALLOW),
    Line("socket", &[16, 0x8_0002, 0], ALLOW),
    Line("socket", &[2, 3, 0], PERM),
    Line("socket", &[10, 3, 58], PERM),
    Line("socket", &[2, 0x8_0003, 255], PERM),
    Line("socket", &[2, 10, 3], PERM),
    Line("socket", &[2, 5, 132], PERM),
    Line("socket", &[2, HIGH + 3, 0], PERM),
    Line("socket", &[HIGH + 2, 3, 0], PERM),
    Line("socket", &[2, 1, 132], NO_PROTOCOL),
    Line("socket", &[2, 1, 262], NO_PROTOCOL),
    Line("socket", &[2, 1, 256], NO_PROTOCOL),
    Line("socket", &[10, 2, 136], NO_PROTOCOL),
    Line("socket", &[2, 1, HIGH + 262], NO_PROTOCOL),
    Line("socket", &[16, 3, 9], NO_PROTOCOL),
    Line("socket", &[16, 3, 12], NO_PROTOCOL),
    Line("socket", &[HIGH + 16, 3, 12], NO_PROTOCOL),
    Line("socket", &[0, 1, 0], NO_FAMILY),
    Line("socket", &[17, 3, 0], NO_FAMILY),
    Line("socket", &[29, 3, 1], NO_FAMILY),
    Line("socket", &[30, 1, 0], NO_FAMILY),
    Line("socket", &[31, 1, 0], NO_FAMILY),
    Line("socket", &[38, 5, 0], NO_FAMILY),
    Line("socket", &[40, 1, 0], NO_FAMILY),
    Line("socket", &[44, 3, 0], NO_FAMILY),
    Line("socket", &[HIGH + 40, 1, 0], NO_FAMILY),
    Line("socket", &[0xffff, 1, 0], NO_FAMILY),
];

const REFUSED: &[Line] = &[
    Line("socket", &[1, 1, 0], PERM),
    Line("socket", &[2, 1, 0], PERM),
    Line("socket", &[10, 2, 0], PERM),
    Line("socket", &[16, 3, 0], PERM),
    Line("socket", &[40, 1, 0], PERM),
];

const INTERNET: &[Line] = &[Line("socket", &[1, 1, 0], PERM), Line("socket", &[HIGH + 1, 2, 0], PERM)];

/// Cases in which the host's namespaces are shared.
const SHARED: &[Line] = &[
    Line("socketpair", &[1, 1, 0], ALLOW),
    Line("socketpair", &[1, 0x8_0801, 0], ALLOW),
    Line("socketpair", &[1, 5, 0], ALLOW),
    Line("socketpair", &[1, 2, 0], PERM),
    Line("socketpair", &[1, 3, 0], PERM),
    Line("socketpair", &[1, 0x8_0002, 0], PERM),
    Line("socketpair", &[HIGH + 1, HIGH + 2, 0], PERM),
    Line("socketpair", &[2, 1, 0], NO_FAMILY),
    Line("shmget", &[0, 4096, 0o600], NOSYS),
    Line("shmat", &[1], NOSYS),
    Line("shmctl", &[1], NOSYS),
    Line("semget", &[1], NOSYS),
    Line("semop", &[1], NOSYS),
    Line("semctl", &[1], NOSYS),
    Line("semtimedop", &[1], NOSYS),
    Line("msgget", &[1], NOSYS),
    Line("msgsnd", &[1], NOSYS),
    Line("msgrcv", &[1], NOSYS),
    Line("msgctl", &[1], NOSYS),
    Line("mq_open", &[1], NOSYS),
    Line("mq_unlink", &[1], NOSYS),
    Line("prlimit64", &[0, 7], ALLOW),
    Line("prlimit64", &[HIGH, 7], ALLOW),
    Line("prlimit64", &[5, 7], PERM),
    Line("migrate_pages", &[1], PERM),
    Line("migrate_pages", &[0], ALLOW),
    Line("move_pages", &[1], PERM),
    Line("move_pages", &[0], ALLOW),
    Line("setpriority", &[0, 0, 5], ALLOW),
    Line("setpriority", &[2, 0, 19], PERM),
    Line("ioprio_set", &[1, 0], ALLOW),
    Line("ioprio_set", &[3, 0], PERM),
];
