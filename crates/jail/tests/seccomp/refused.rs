//! Every refused call, made for real.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use libc::{EAFNOSUPPORT, ENOSYS, ENOTTY, EPERM, EPROTONOSUPPORT};
use ringfence_jail::seccomp::Sockets;

use crate::confined::{become_nobody, confined, filtered_from_outside, free, made};

/// No process has this address, no table this descriptor: without a filter these calls fail as well, with another error.
const NONE: [u64; 6] = [u64::MAX; 6];

/// Calls that are refused whole. Those that the kernel refuses with the same error itself, or that would do something even
/// with nonsense for arguments, come second.
const WHOLE: &[(i32, &[i64], &[i64])] = &[
    (
        EPERM,
        &[
            libc::SYS_setns,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_process_madvise,
            libc::SYS_kcmp,
            libc::SYS_pidfd_getfd,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_keyctl,
            libc::SYS_name_to_handle_at,
            libc::SYS_open_by_handle_at,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_chroot,
        ],
        &[
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_open_tree,
            libc::SYS_move_mount,
            libc::SYS_fsopen,
            libc::SYS_fsconfig,
            libc::SYS_fsmount,
            libc::SYS_fspick,
            libc::SYS_mount_setattr,
            OPEN_TREE_ATTR,
            libc::SYS_fanotify_init,
            libc::SYS_fanotify_mark,
            libc::SYS_bpf,
            libc::SYS_kexec_load,
            libc::SYS_kexec_file_load,
            libc::SYS_init_module,
            libc::SYS_finit_module,
            libc::SYS_delete_module,
            libc::SYS_reboot,
            libc::SYS_swapon,
            libc::SYS_swapoff,
            libc::SYS_acct,
            libc::SYS_quotactl,
            libc::SYS_quotactl_fd,
            libc::SYS_vhangup,
            libc::SYS_settimeofday,
            libc::SYS_clock_settime,
            libc::SYS_adjtimex,
            libc::SYS_clock_adjtime,
            libc::SYS_sethostname,
            libc::SYS_setdomainname,
            libc::SYS_syslog,
        ],
    ),
    (
        ENOSYS,
        &[libc::SYS_clone3, libc::SYS_openat2],
        &[
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
            STATMOUNT,
            LISTMOUNT,
            libc::SYS_memfd_secret,
            libc::SYS_lookup_dcookie,
            libc::SYS_nfsservctl,
            NEWEST,
        ],
    ),
];

const STATMOUNT: i64 = 457;
const LISTMOUNT: i64 = 458;
const OPEN_TREE_ATTR: i64 = 467;
/// Newer than the review.
const NEWEST: i64 = 470;

#[test]
fn whole_calls() {
    for user in [|| (), maybe_nobody] {
        confined(Sockets::Namespaced, move || {
            user();
            for (errno, telling, silent) in WHOLE {
                for call in telling.iter().chain(*silent) {
                    assert_eq!(made(*call, NONE), Err(*errno), "{call}");
                }
            }
        });
    }
}

#[test]
fn whole_calls_are_answered_otherwise_without_a_filter() {
    if filtered_from_outside("calls without a filter") {
        return;
    }
    for (errno, telling, _) in WHOLE {
        for call in *telling {
            let alone = free(|| made(*call, NONE));
            assert!(alone.is_err() && alone != Err(*errno), "{call}: {alone:?}");
        }
    }
}

fn maybe_nobody() {
    if rustix::process::geteuid().is_root() {
        become_nobody();
    }
}

/// Calls that are refused for what they ask: call, arguments, the error under a filter. All are harmless without one.
const PARTLY: &[(i64, [u64; 3], i32)] = &[
    // With CLONE_FS, which the kernel calls a contradiction: no child, for any caller.
    (libc::SYS_clone, [0x1000_0200, 0, 0], EPERM),
    (libc::SYS_clone, [HIGH + 0x1000_0200, 0, 0], EPERM),
    // A flag that does not exist beside one that does.
    (libc::SYS_unshare, [0x1000_0001, 0, 0], EPERM),
    (libc::SYS_unshare, [HIGH, 0, 0], EPERM),
    (libc::SYS_personality, [0x0040_0000, 0, 0], EPERM),
    (libc::SYS_personality, [HIGH + 0x0010_0000, 0, 0], EPERM),
    (libc::SYS_ioctl, [NO_FD, 0x5412, 0], EPERM),
    (libc::SYS_ioctl, [NO_FD, HIGH + 0x5412, 0], EPERM),
    (libc::SYS_ioctl, [NO_FD, 0x541c, 0], EPERM),
    (libc::SYS_ioctl, [NO_FD, 0x541d, 0], EPERM),
    (libc::SYS_ioctl, [NO_FD, 0x5423, 0], EPERM),
    (libc::SYS_ioctl, [NO_FD, 0x4b4d, 0], ENOTTY),
    (libc::SYS_ioctl, [NO_FD, 0x5606, 0], ENOTTY),
    (libc::SYS_fchmod, [NO_FD, 0o4755, 0], EPERM),
    (libc::SYS_fchmod, [NO_FD, 0x1_0000 + 0o2755, 0], EPERM),
    // The kernel's own complaint about these is a missing type or family, never a missing right.
    (libc::SYS_socket, [2, 5, 0], EPERM),
    (libc::SYS_socketpair, [2, 1, 0], EAFNOSUPPORT),
];

const HIGH: u64 = 1 << 32;
const NO_FD: u64 = u64::MAX;

#[test]
fn some_arguments() {
    for (call, [a, b, c], errno) in PARTLY {
        let arguments = [*a, *b, *c, 0, 0, 0];
        assert_eq!(
            confined(Sockets::Namespaced, || made(*call, arguments)),
            Err(*errno),
            "{call} {arguments:x?}"
        );
    }
}

#[test]
fn some_arguments_are_answered_otherwise_without_a_filter() {
    if filtered_from_outside("arguments without a filter") {
        return;
    }
    for (call, [a, b, c], errno) in PARTLY {
        let alone = free(|| made(*call, [*a, *b, *c, 0, 0, 0]));
        assert_ne!(alone, Err(*errno), "{call} {a:x} {b:x} {c:x}");
    }
}

#[test]
fn sockets() {
    use Sockets::{Internet, Namespaced, Refused};
    // Family, type, protocol, and the answer in a namespace, without one, and with the network opened.
    let rows: &[([u64; 3], [i32; 3])] = &[
        ([1, 1, 0], [0, EPERM, EPERM]),
        ([2, 1, 0], [0, EPERM, 0]),
        ([2, 0x8_0802, 17], [0, EPERM, 0]),
        ([16, 3, 0], [0, EPERM, 0]),
        ([2, 3, 1], [EPERM, EPERM, EPERM]),
        ([2, 10, 3], [EPERM, EPERM, EPERM]),
        ([2, 1, 262], [EPROTONOSUPPORT, EPERM, EPROTONOSUPPORT]),
        ([2, 1, 132], [EPROTONOSUPPORT, EPERM, EPROTONOSUPPORT]),
        ([16, 3, 12], [EPROTONOSUPPORT, EPERM, EPROTONOSUPPORT]),
        ([17, 3, 0], [EAFNOSUPPORT, EPERM, EAFNOSUPPORT]),
        ([38, 5, 0], [EAFNOSUPPORT, EPERM, EAFNOSUPPORT]),
        ([40, 1, 0], [EAFNOSUPPORT, EPERM, EAFNOSUPPORT]),
        ([HIGH + 40, 1, 0], [EAFNOSUPPORT, EPERM, EAFNOSUPPORT]),
    ];
    for ([family, kind, protocol], expected) in rows {
        let answers = [Namespaced, Refused, Internet]
            .map(|sockets| confined(sockets, || opened(libc::SYS_socket, [*family, *kind, *protocol])));
        assert_eq!(answers, *expected, "{family:#x} {kind:#x} {protocol}");
    }
}

#[test]
fn pairs_of_sockets() {
    let pair = |kind| {
        move || {
            let mut ends = [0_i32; 2];
            let place = (&raw mut ends) as u64;
            let result = made(libc::SYS_socketpair, [1, kind, 0, place, 0, 0]);
            ends.into_iter().filter(|_| result.is_ok()).for_each(close);
            result.err().unwrap_or_default()
        }
    };
    for (kind, namespaced, shared) in [(1, 0, 0), (5, 0, 0), (2, 0, EPERM), (3, 0, EPERM)] {
        assert_eq!(confined(Sockets::Namespaced, pair(kind)), namespaced, "{kind}");
        assert_eq!(confined(Sockets::Refused, pair(kind)), shared, "{kind}");
        assert_eq!(confined(Sockets::Internet, pair(kind)), shared, "{kind}");
    }
}

#[test]
fn what_a_shared_namespace_would_reach() {
    let calls = [
        (libc::SYS_shmget, [0, 0, 0], ENOSYS),
        (libc::SYS_shmat, [NO_FD, 0, 0], ENOSYS),
        (libc::SYS_semget, [0, 0, 0], ENOSYS),
        (libc::SYS_msgget, [NO_FD, 0, 0], ENOSYS),
        (libc::SYS_msgsnd, [NO_FD, 0, 0], ENOSYS),
        (libc::SYS_mq_open, NO_NAME, ENOSYS),
        (libc::SYS_mq_unlink, NO_NAME, ENOSYS),
        (libc::SYS_prlimit64, [NOBODY, 0, 0], EPERM),
    ];
    for (call, [a, b, c], errno) in calls {
        let call_it = || made(call, [a, b, c, 0, 0, 0]).err();
        assert_eq!(confined(Sockets::Refused, call_it), Some(errno), "{call}");
        assert_ne!(confined(Sockets::Namespaced, call_it), Some(errno), "{call}");
    }
}

/// The first process of a jail has to run, to reap and to end it.
#[test]
fn the_first_process_is_left_alone() {
    let calls = [
        (libc::SYS_setpriority, [2, NOBODY, 0]),
        (libc::SYS_setpriority, [0, 1, 0]),
        (libc::SYS_ioprio_set, [1, 1, 0]),
        (libc::SYS_prlimit64, [1, 0, 0]),
        (libc::SYS_sched_setaffinity, [1, 0, 0]),
        (libc::SYS_sched_setscheduler, [1, 5, 0]),
    ];
    for (call, [a, b, c]) in calls {
        let call_it = || made(call, [a, b, c, 0, 0, 0]).err();
        for sockets in [Sockets::Refused, Sockets::Namespaced] {
            assert_eq!(confined(sockets, call_it), Some(EPERM), "{call}");
        }
    }
}

const NO_NAME: [u64; 3] = [u64::MAX; 3];
/// A process and a user that do not exist.
const NOBODY: u64 = 0x7fff_fffe;

fn opened(call: i64, [a, b, c]: [u64; 3]) -> i32 {
    match made(call, [a, b, c, 0, 0, 0]) {
        Ok(fd) => {
            close(fd.try_into().unwrap());
            0
        }
        Err(errno) => errno,
    }
}

fn close(fd: i32) {
    // SAFETY: the callers have just received this descriptor and hand it to no other code.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

#[test]
fn set_id_files_and_devices() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    confined(Sockets::Namespaced, || set_id_by_every_way(dir.path()));
    let modes: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| mode(&entry.unwrap().path())).collect();
    assert!(modes.iter().all(|mode| mode & 0o6000 == 0), "{modes:?}");
    assert_eq!(modes.len(), 4, "the file, the new one, the pipe and the directory");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode()
}

fn set_id_by_every_way(dir: &Path) {
    let path = |name: &str| CString::new(dir.join(name).as_os_str().as_bytes()).unwrap();
    let open = fs::File::open(dir.join("file")).unwrap();
    let (file, made_now, pipe, below) = (path("file"), path("made"), path("pipe"), path("below"));
    let [file_at, made_at, pipe_at, below_at] =
        [&file, &made_now, &pipe, &below].map(|name| name.as_ptr() as u64);
    let (here, fd) = (libc::AT_FDCWD.cast_unsigned().into(), open.as_raw_fd().cast_unsigned().into());
    let create = (libc::O_CREAT | libc::O_WRONLY).cast_unsigned().into();
    let unnamed = (libc::O_TMPFILE | libc::O_WRONLY).cast_unsigned().into();
    let directory = CString::new(dir.as_os_str().as_bytes()).unwrap();
    let rows: &[(&str, i64, [u64; 4], i32)] = &[
        ("fchmod", libc::SYS_fchmod, [fd, 0o4755, 0, 0], EPERM),
        ("fchmod", libc::SYS_fchmod, [fd, HIGH + 0o2755, 0, 0], EPERM),
        ("fchmod", libc::SYS_fchmod, [fd, 0o1755, 0, 0], 0),
        ("fchmodat", libc::SYS_fchmodat, [here, file_at, 0o4755, 0], EPERM),
        ("fchmodat", libc::SYS_fchmodat, [here, file_at, 0o755, 0], 0),
        ("fchmodat2", 452, [here, file_at, 0o4755, 0], EPERM),
        ("openat", libc::SYS_openat, [here, made_at, create, 0o4755], EPERM),
        ("openat", libc::SYS_openat, [here, file_at, 0, 0o4755], 0),
        ("openat", libc::SYS_openat, [here, made_at, create, 0o755], 0),
        ("openat", libc::SYS_openat, [here, directory.as_ptr() as u64, unnamed, 0o4755], EPERM),
        ("mknodat", libc::SYS_mknodat, [here, below_at, 0o104_755, 0], EPERM),
        ("mknodat", libc::SYS_mknodat, [here, below_at, 0o020_666, 0x103], EPERM),
        ("mknodat", libc::SYS_mknodat, [here, pipe_at, 0o010_644, 0], 0),
        ("mkdirat", libc::SYS_mkdirat, [here, below_at, 0o6755, 0], 0),
    ];
    for (name, call, [a, b, c, d], expected) in rows {
        let answer = made(*call, [*a, *b, *c, *d, 0, 0]);
        if let (&libc::SYS_openat, Ok(fd)) = (call, answer) {
            close(fd.try_into().unwrap());
        }
        assert_eq!(answer.err().unwrap_or_default(), *expected, "{name} {c:o} {d:o}");
    }
    old_names(file_at, made_at);
}

/// Calls that only x86 still has.
#[cfg(target_arch = "x86_64")]
fn old_names(file: u64, new: u64) {
    let create = u64::from(libc::O_CREAT.cast_unsigned());
    for (call, [a, b, c]) in [
        (libc::SYS_chmod, [file, 0o4755, 0]),
        (libc::SYS_creat, [new, 0o4755, 0]),
        (libc::SYS_open, [new, create, 0o2755]),
        (libc::SYS_mknod, [new, 0o104_755, 0]),
        (libc::SYS_mknod, [new, 0o060_644, 0]),
    ] {
        assert_eq!(made(call, [a, b, c, 0, 0, 0]), Err(EPERM), "{call}");
    }
    for call in [libc::SYS_iopl, libc::SYS_ioperm] {
        assert_eq!(made(call, NONE), Err(EPERM), "{call}");
    }
    for call in [libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_ustat, libc::SYS_sysfs, libc::SYS__sysctl]
    {
        assert_eq!(made(call, NONE), Err(ENOSYS), "{call}");
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn old_names(_: u64, _: u64) {}
