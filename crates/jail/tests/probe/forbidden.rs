//! Kernels that refuse, arranged for real: limits, masks and filters.

use ringfence_jail::probe::{Outcome, Step};

use super::role::Role;

/// Returns the result of every step, one letter each: `.` worked, `-` was not tried, `x` was refused with the number at the end.
fn picture(role: &Role) -> String {
    let found = role.ask().unwrap();
    let letter = |&step: &Step| match found.outcome(step) {
        Outcome::Done => '.',
        Outcome::NotTried => '-',
        Outcome::Failed(_) => 'x',
    };
    let steps: String = Step::ALL.iter().map(letter).collect();
    found.first_failure().map_or(steps.clone(), |(_, errno)| format!("{steps} {errno}"))
}

/// The rest of this file arranges refusals from inside a user namespace, which has to be possible in the first place.
fn possible() -> bool {
    let found = Role::Namespaces.ask().unwrap();
    let possible = found.first_failure().is_none();
    if !possible {
        crate::skip::skipped(
            "namespaces that are forbidden",
            &format!("refused already: {}", found.to_string().trim_end()),
        );
    }
    possible
}

pub(crate) fn limits_of_the_user_namespace() {
    if !possible() {
        return;
    }
    let before = super::role::outside();
    let rows = [
        ("max_user_namespaces", "x----------- ENOSPC"),
        ("max_net_namespaces", "..x--....... ENOSPC"),
        ("max_mnt_namespaces", ".....x-....- ENOSPC"),
        ("max_ipc_namespaces", ".......x.... ENOSPC"),
        ("max_uts_namespaces", "........x... ENOSPC"),
        ("max_cgroup_namespaces", ".........x.. ENOSPC"),
        ("max_pid_namespaces", "..........x- ENOSPC"),
    ];
    for (limit, expected) in rows {
        assert_eq!(picture(&Role::Limited(limit.to_owned())), expected, "{limit}");
    }
    assert_eq!(super::role::outside(), before, "the host's own limit");
}

pub(crate) fn masked_proc() {
    if possible() {
        assert_eq!(picture(&Role::Masked), "...........x EPERM");
    }
}

/// The namespace is made and cannot be mapped: what `AppArmor` does on Ubuntu, by another mechanism.
pub(crate) fn sealed_proc() {
    if possible() {
        assert_eq!(picture(&Role::Sealed), ".x---------- EROFS");
    }
}

pub(crate) fn filtered_namespaces() {
    if !possible() {
        return;
    }
    let rows = [
        (libc::SYS_unshare, libc::EPERM, "x----------- EPERM"),
        (libc::SYS_unshare, libc::ENOSYS, "x----------- ENOSYS"),
        (libc::SYS_socket, libc::EPERM, "...x-....... EPERM"),
        (libc::SYS_ioctl, libc::EPERM, "...x-....... EPERM"),
        (libc::SYS_mount, libc::EPERM, ".....x-....- EPERM"),
    ];
    for (call, errno, expected) in rows {
        assert_eq!(picture(&Role::Filtered(call, errno)), expected, "{call}");
    }
}

pub(crate) fn filtered_landlock() {
    let rows = [
        (libc::ENOSYS, "NotBuilt"),
        (libc::EOPNOTSUPP, "NotActive"),
        (libc::EPERM, "Blocked"),
        (libc::EINVAL, "Failed(Errno(22))"),
    ];
    for (errno, expected) in rows {
        let said = Role::FilteredMachine(libc::SYS_landlock_create_ruleset, errno).say();
        assert_eq!(said.lines().next(), Some(expected));
    }
}

pub(crate) fn filters_are_counted() {
    // The mode and the bit are certain; how many filters there were before is not ours to know.
    let said = Role::FilteredMachine(libc::SYS_reboot, libc::EPERM).say();
    assert!(said.contains("seccomp: Some(2)") && said.contains("no_new_privs: Some(1)"), "{said}");
    assert_eq!(said.lines().nth(1), Some("true"), "{said}");
    let said = Role::FilteredMachine(libc::SYS_seccomp, libc::EPERM).say();
    assert_eq!(said.lines().nth(1), Some("false"), "{said}");
}

/// From here on `call` answers with `errno`, in this process and all it starts.
pub(crate) fn install_filter(call: i64, errno: i32) {
    rustix::thread::set_no_new_privs(true).unwrap();
    let statement =
        |code: u32, k: u32, jt: u8| libc::sock_filter { code: code.try_into().unwrap(), jt, jf: 0, k };
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        // On a match skip the permission and take the refusal.
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, u32::try_from(call).unwrap(), 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(), 0),
    ];
    let filter = libc::sock_fprog { len: 4, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies the four statements that `filter` points to; both live on this stack during the call.
    let rc = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    assert_eq!(rc, 0, "the filter was not installed");
}
