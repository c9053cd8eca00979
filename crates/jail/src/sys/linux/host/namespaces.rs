//! Trying namespaces for real.

use std::fmt::Display;
use std::io;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno as Raw;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{WaitOptions, getegid, geteuid, waitpid};

use crate::host::probe::{Errno, Namespaces, Step, Unmeasured};
use crate::sys::linux::calls::{self, Namespace, SingleThread};
use crate::sys::linux::netlink::{self, nat};

pub(crate) fn namespaces_here() -> Result<Namespaces, Unmeasured> {
    let attempt = Attempt {
        alone: SingleThread::check().map_err(Unmeasured::NotAlone)?,
        // Asked before the first step: in an unmapped namespace every user is shown as the overflow id.
        uid: geteuid().as_raw(),
        gid: getegid().as_raw(),
    };
    Ok(Namespaces::try_each(|step| attempt.perform(step).map_err(Errno::from)))
}

struct Attempt {
    alone: SingleThread,
    uid: u32,
    gid: u32,
}

impl Attempt {
    fn perform(&self, step: Step) -> Result<(), Raw> {
        match step {
            Step::User => calls::unshare(Namespace::User),
            Step::Map => self.map(),
            Step::Net => calls::unshare(Namespace::Net),
            Step::Loopback => loopback(),
            Step::Redirect => redirect(),
            Step::Mount => mount(),
            Step::Tmpfs => tmpfs(),
            Step::Ipc => calls::unshare(Namespace::Ipc),
            Step::Uts => calls::unshare(Namespace::Uts),
            Step::Cgroup => calls::unshare(Namespace::Cgroup),
            Step::Pid => calls::unshare(Namespace::Pid),
            Step::Proc => self.proc(),
        }
    }

    /// Maps our own user and group to themselves: the one mapping that needs no privilege outside.
    fn map(&self) -> Result<(), Raw> {
        // Without this the kernel refuses the group: dropping groups could open files that a group is denied.
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", format_args!("{0} {0} 1", self.uid))?;
        write("/proc/self/gid_map", format_args!("{0} {0} 1", self.gid))
    }

    /// Mounts `/proc` from the first process of the new namespace; its exit status is the error number.
    fn proc(&self) -> Result<(), Raw> {
        let child = calls::fork(&self.alone, || mount_proc().map_or_else(status_of, |()| 0))?;
        let (_, status) = waitpid(Some(child), WaitOptions::empty())?.ok_or(Raw::CHILD)?;
        match status.exit_status() {
            Some(0) => Ok(()),
            Some(number) => Err(Raw::from_raw_os_error(number)),
            // Killed, as some seccomp filters do instead of refusing: it never got to answer.
            None => Err(Raw::INTR),
        }
    }
}

pub(crate) fn write(path: &str, text: impl Display) -> Result<(), Raw> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    let text = text.to_string();
    // These files take their text in one write or not at all.
    let written = rustix::io::write(file, text.as_bytes())?;
    if written == text.len() { Ok(()) } else { Err(Raw::IO) }
}

/// Brings up the loopback interface of this process's network.
pub(crate) fn loopback() -> Result<(), Raw> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    calls::loopback_up(socket)
}

/// Redirects connections of this process's network as that of a jail does.
fn redirect() -> Result<(), Raw> {
    let redirection = nat::redirect(nat::Family::V4);
    netlink::exchange(rustix::net::netlink::NETFILTER, &redirection)
}

fn mount() -> Result<(), Raw> {
    calls::unshare(Namespace::Mount)?;
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

/// Mounts over `/`, which exists everywhere. Our own root stays the one below, so `/proc` is found as before.
fn tmpfs() -> Result<(), Raw> {
    rustix::mount::mount("tmpfs", "/", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0700")
}

fn mount_proc() -> Result<(), Raw> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("proc", "/proc", "proc", flags, None)
}

fn status_of(errno: Raw) -> u8 {
    u8::try_from(io::Error::from(errno).raw_os_error().unwrap_or(libc::EIO)).unwrap_or(u8::MAX)
}
