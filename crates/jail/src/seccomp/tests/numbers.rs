//! The numbers of the table, against those of others.

use super::PROFILES;
use crate::seccomp::row::{Answer, Errno};
use crate::seccomp::{Abi, program, rows, table};

macro_rules! known {
    ($($name:ident),* $(,)?) => {{
        use libc::*;
        // `SYS_` cannot be put before a name here; the list is written with it and shown without.
        vec![$((stringify!($name).trim_start_matches("SYS_"), u32::try_from($name).unwrap())),*]
    }};
}

/// Calls that the C library's list does not have yet, or no longer.
const UNLISTED: &[&str] = &[
    "create_module",
    "fchmodat2",
    "get_kernel_syms",
    "listmount",
    "open_tree_attr",
    "query_module",
    "statmount",
];

#[test]
fn numbers_are_those_of_the_c_library() {
    let Some(abi) = Abi::here() else { return };
    let known = [known(), scheduling()].concat();
    for call in PROFILES.into_iter().flat_map(rows).chain(table::OBSERVED).flat_map(|row| row.calls) {
        let listed = known.iter().find(|(name, _)| *name == call.name).map(|(_, number)| *number);
        assert!(
            listed.is_some() || call.number(abi).is_none() || UNLISTED.contains(&call.name),
            "{}",
            call.name
        );
        assert!(listed.is_none() || listed == call.number(abi), "{}: {listed:?}", call.name);
    }
}

/// Calls about the scheduling of a process.
fn scheduling() -> Vec<(&'static str, u32)> {
    known![SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler]
}

fn known() -> Vec<(&'static str, u32)> {
    let mut known = known![
        SYS_acct,
        SYS_add_key,
        SYS_adjtimex,
        SYS_bpf,
        SYS_chroot,
        SYS_clock_adjtime,
        SYS_clock_settime,
        SYS_clone,
        SYS_clone3,
        SYS_connect,
        SYS_delete_module,
        SYS_execve,
        SYS_execveat,
        SYS_fanotify_init,
        SYS_fanotify_mark,
        SYS_fchmod,
        SYS_fchmodat,
        SYS_finit_module,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fsopen,
        SYS_fspick,
        SYS_init_module,
        SYS_io_uring_enter,
        SYS_io_uring_register,
        SYS_io_uring_setup,
        SYS_ioctl,
        SYS_ioprio_set,
        SYS_kcmp,
        SYS_kexec_file_load,
        SYS_kexec_load,
        SYS_keyctl,
        SYS_linkat,
        SYS_lookup_dcookie,
        SYS_memfd_secret,
        SYS_migrate_pages,
        SYS_mkdirat,
        SYS_mknodat,
        SYS_mount,
        SYS_mount_setattr,
        SYS_move_mount,
        SYS_move_pages,
        SYS_mq_open,
        SYS_mq_unlink,
        SYS_msgctl,
        SYS_msgget,
        SYS_msgrcv,
        SYS_msgsnd,
        SYS_name_to_handle_at,
        SYS_nfsservctl,
        SYS_open_by_handle_at,
        SYS_open_tree,
        SYS_openat,
        SYS_openat2,
        SYS_perf_event_open,
        SYS_personality,
        SYS_pidfd_getfd,
        SYS_pivot_root,
        SYS_prlimit64,
        SYS_process_madvise,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_ptrace,
        SYS_quotactl,
        SYS_quotactl_fd,
        SYS_reboot,
        SYS_renameat,
        SYS_renameat2,
        SYS_request_key,
        SYS_semctl,
        SYS_semget,
        SYS_semop,
        SYS_semtimedop,
        SYS_sendto,
        SYS_setdomainname,
        SYS_sethostname,
        SYS_setns,
        SYS_setpriority,
        SYS_settimeofday,
        SYS_shmat,
        SYS_shmctl,
        SYS_shmget,
        SYS_socket,
        SYS_socketpair,
        SYS_swapoff,
        SYS_swapon,
        SYS_symlinkat,
        SYS_syslog,
        SYS_truncate,
        SYS_umask,
        SYS_umount2,
        SYS_unlinkat,
        SYS_unshare,
        SYS_userfaultfd,
        SYS_vhangup,
    ];
    known.extend(x86());
    known
}

#[cfg(target_arch = "x86_64")]
fn x86() -> Vec<(&'static str, u32)> {
    known![
        SYS__sysctl,
        SYS_chmod,
        SYS_creat,
        SYS_ioperm,
        SYS_iopl,
        SYS_link,
        SYS_mkdir,
        SYS_mknod,
        SYS_modify_ldt,
        SYS_open,
        SYS_rename,
        SYS_rmdir,
        SYS_symlink,
        SYS_sysfs,
        SYS_unlink,
        SYS_uselib,
        SYS_ustat,
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn x86() -> Vec<(&'static str, u32)> {
    Vec::new()
}

#[test]
fn values_are_those_of_the_c_library() {
    let errno = |errno, number: i32| {
        assert_eq!(Answer::Refuse(errno).value(), libc::SECCOMP_RET_ERRNO | number.cast_unsigned());
    };
    errno(Errno::Perm, libc::EPERM);
    errno(Errno::NotTty, libc::ENOTTY);
    errno(Errno::NoSys, libc::ENOSYS);
    errno(Errno::ProtoNoSupport, libc::EPROTONOSUPPORT);
    errno(Errno::AfNoSupport, libc::EAFNOSUPPORT);
    assert_eq!(Answer::Allow.value(), libc::SECCOMP_RET_ALLOW);
    assert_eq!(Answer::Notify.value(), libc::SECCOMP_RET_USER_NOTIF);
    assert_eq!(Answer::Kill.value(), libc::SECCOMP_RET_KILL_PROCESS);
    let code = |ours, theirs: u32| assert_eq!(u32::from(ours), theirs);
    code(program::LOAD, libc::BPF_LD | libc::BPF_W | libc::BPF_ABS);
    code(program::AND, libc::BPF_ALU | libc::BPF_AND | libc::BPF_K);
    code(program::JUMP, libc::BPF_JMP | libc::BPF_JA);
    code(program::EQUAL, libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    code(program::AT_LEAST, libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K);
    code(program::RETURN, libc::BPF_RET | libc::BPF_K);
    assert_eq!(size_of::<program::Instruction>(), size_of::<libc::sock_filter>());
}
