//! Linux: makes jails, follows them, and reads the machine. `crate` lists the directories.

mod calls;
mod connected_program;
mod host;
mod init;
mod limits;
mod mask_search;
mod memory_file;
mod netlink;
mod notify;
mod provider;
mod setup;
mod supervise;
mod terminal;

use rustix::io::Errno as Raw;

use crate::host::probe::{Actions, Errno, Landlock};

pub(crate) use connected_program::ProgramLookup;
pub(crate) use host::bounded_process::run_bounded;
pub(crate) use host::bubblewrap::bubblewrap;
pub(crate) use host::cgroup_support::cgroup;
pub(crate) use host::facts::host_facts;
pub(crate) use host::namespaces::namespaces_here;
pub(crate) use host::object::object;
pub(crate) use host::plan_host::sight;
pub(crate) use mask_search::look;
pub(crate) use provider::hold::{Early, Held, early, hold};
pub(crate) use supervise::Running;
pub(crate) use supervise::question::Questions;
pub(crate) use supervise::stop::Stop;
pub(crate) use terminal::pty::is_typed;

pub(crate) fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(crate) fn landlock() -> Landlock {
    match calls::landlock_abi() {
        Ok(abi) => Landlock::Abi(abi),
        Err(Raw::NOSYS) => Landlock::NotBuilt,
        Err(Raw::OPNOTSUPP) => Landlock::NotActive,
        Err(Raw::PERM) => Landlock::Blocked,
        Err(other) => Landlock::Failed(other.into()),
    }
}

pub(crate) fn actions() -> Actions {
    let ask = |action| calls::action_available(action).map_err(Errno::from);
    Actions {
        kill_process: ask(libc::SECCOMP_RET_KILL_PROCESS),
        errno: ask(libc::SECCOMP_RET_ERRNO),
        notify: ask(libc::SECCOMP_RET_USER_NOTIF),
    }
}

impl From<Raw> for Errno {
    fn from(raw: Raw) -> Self {
        u16::try_from(raw.raw_os_error()).ok().and_then(Self::new).unwrap_or(Self::UNKNOWN)
    }
}

impl From<&std::io::Error> for Errno {
    fn from(error: &std::io::Error) -> Self {
        Raw::from_io_error(error).map_or(Self::UNKNOWN, Self::from)
    }
}

pub(crate) fn errno_name(errno: Errno) -> Option<&'static str> {
    NAMES.iter().find(|(raw, _)| Errno::from(*raw) == errno).map(|(_, name)| *name)
}

/// The answers a probe is likely to meet.
const NAMES: &[(Raw, &str)] = &[
    (Raw::PERM, "EPERM"),
    (Raw::NOENT, "ENOENT"),
    (Raw::SRCH, "ESRCH"),
    (Raw::INTR, "EINTR"),
    (Raw::IO, "EIO"),
    (Raw::AGAIN, "EAGAIN"),
    (Raw::NOMEM, "ENOMEM"),
    (Raw::ACCESS, "EACCES"),
    (Raw::FAULT, "EFAULT"),
    (Raw::BUSY, "EBUSY"),
    (Raw::NODEV, "ENODEV"),
    (Raw::NOTDIR, "ENOTDIR"),
    (Raw::INVAL, "EINVAL"),
    (Raw::NFILE, "ENFILE"),
    (Raw::MFILE, "EMFILE"),
    (Raw::NOSPC, "ENOSPC"),
    (Raw::ROFS, "EROFS"),
    (Raw::NAMETOOLONG, "ENAMETOOLONG"),
    (Raw::NOSYS, "ENOSYS"),
    (Raw::LOOP, "ELOOP"),
    (Raw::USERS, "EUSERS"),
    (Raw::OPNOTSUPP, "EOPNOTSUPP"),
    (Raw::AFNOSUPPORT, "EAFNOSUPPORT"),
];
