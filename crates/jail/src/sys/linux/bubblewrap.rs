//! The provider that lets `bwrap` make the namespaces: for machines that allow them to it and not to us.
//!
//! Bubblewrap is told everything by descriptors and waits at a gate with the whole tree mounted. That it has made namespaces is
//! read from the kernel; what is in them is believed, since nothing of ours is inside to try it.

mod descriptors;
mod wrap;

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use policy::Shown;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::bwrap::{Program, first_trusted};
use super::calls::clone::{Stack, end, spawn_in_our_memory};
use super::calls::confine::Words;
use super::calls::{self, Used};
use super::cell::Cell;
use super::hold::{Started, Terms, begin, error, full, partial};
use super::host::{machine, with_views};
use super::native::{Broken, Order};
use super::report::{Part, Report};
use super::script::text;
use super::supervise::Running;
use super::wire::{leave, receive};
use crate::enforcement::{Enforcement, Reached};
use crate::launch::{Command, JailError, Provider};
use crate::plan::{Plan, arguments, plan, wrappable};
use crate::probe::Distrust;
use crate::seccomp::Sockets;
use crate::spec::{Network, Spec};
use descriptors::{Descriptors, Ours};
use wrap::{Wrapping, wrap};

/// Makes a jail and stops before the command.
pub(super) fn hold(spec: &Spec, command: &Command) -> Result<(Running, Enforcement), JailError> {
    let program = find()?;
    let plan = plan(spec, &with_views(machine(false), spec))?;
    wrappable(&plan)?;
    let terms =
        Terms { environment: &plan.environment, sockets: Sockets::Namespaced, own_users: false, heard: None };
    let started = begin(spec, command, &terms, |order| start(order, &plan, &program));
    let (running, resources) = started.map_err(|broken| error(Provider::Bubblewrap, broken))?;
    Ok((running, enforcement(spec, resources)))
}

/// The program, by handle. One that runs as root by itself refuses half of what we ask for; and it has no way to let root's
/// jail run as nobody and still work on root's files.
fn find() -> Result<Program, JailError> {
    let unavailable =
        |what: String| Err(JailError::Unavailable { provider: Provider::Bubblewrap, what, errno: None });
    match first_trusted() {
        Ok(program) if program.setuid => unavailable("use a bwrap with the set-user-id bit".to_owned()),
        Ok(_) if rustix::process::geteuid().is_root() => {
            unavailable("show root's files as somebody else's".to_owned())
        }
        Ok(program) => Ok(program),
        Err((_, Distrust::Unreadable(_))) => unavailable("find bwrap where only root can put it".to_owned()),
        Err((path, why)) => unavailable(format!("trust {}: {why}", Shown::path(&path))),
    }
}

fn start(order: Order<'_>, plan: &Plan, program: &Program) -> Result<Started, Broken> {
    let terminal = order.streams.contains(&None);
    let words = arguments(plan, order.cwd, terminal);
    let (descriptors, ours) = Descriptors::open(&words, &order.filter)?;
    let programs = order.programs.clone();
    let (outer, terminal) = Outer::start(order, &descriptors, program)?;
    // Bubblewrap has them now; what is still open here would keep it from being the only one.
    drop(descriptors);
    let child =
        ours.first_word().and_then(|told| number_after(&told, "\"child-pid\":")).and_then(Pid::from_raw);
    let child = child.ok_or(Broken::Silent)?;
    let inner = rustix::process::pidfd_open(child, PidfdFlags::empty())
        .map_err(|errno| Broken::Part(Part::Processes, None, errno))?;
    let pid = outer.pid;
    // From here on whatever fails ends both: while the inner one waits at the gate, it does not end with the outer one.
    let cell = Wrapped { outer, inner, ours, programs };
    cell.ours.wait_until_mounted();
    if !cell.outer.is_alive() {
        return Err(Broken::Silent);
    }
    namespaces_differ(child, plan.own_network)?;
    Ok(Started { pid, terminal, cell: Box::new(cell) })
}

fn number_after(text: &str, key: &str) -> Option<i32> {
    let rest = text.split_once(key)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok().filter(|number| *number > 0)
}

/// Whether the kernel shows the first process inside in other namespaces than ours.
fn namespaces_differ(child: Pid, own_network: bool) -> Result<(), Broken> {
    let broken = |errno| Broken::Part(Part::Namespaces, None, errno);
    let names =
        ["user", "mnt", "pid", "ipc", "uts", "cgroup"].into_iter().chain(own_network.then_some("net"));
    for name in names {
        let of =
            |process: &str| rustix::fs::statat(CWD, format!("/proc/{process}/ns/{name}"), AtFlags::empty());
        let (theirs, ours) = (of(&child.to_string()).map_err(broken)?, of("self").map_err(broken)?);
        if theirs.st_ino == ours.st_ino {
            return Err(broken(Errno::EXIST));
        }
    }
    Ok(())
}

/// The process of bubblewrap that stays outside. Dropping this ends everything.
struct Outer {
    pid: Pid,
    process: OwnedFd,
    reaped: bool,
}

impl Outer {
    fn start(
        order: Order<'_>,
        descriptors: &Descriptors,
        program: &Program,
    ) -> Result<(Self, Option<OwnedFd>), Broken> {
        let pair =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.map_err(|errno| Broken::Part(Part::Report, None, errno))?;
        let mut stack = Stack::new();
        let wrapping = Wrapping {
            report: theirs.as_raw_fd(),
            program: program.handle.as_raw_fd(),
            words: Words::new(words(&order, descriptors)),
            passed: descriptors.numbers(),
            cgroups: (order.cgroups)(),
            limits: order.limits,
            streams: order.streams,
            mask: order.mask,
        };
        // SAFETY: CLONE_VFORK keeps us here until the process has executed something or ended, so that the stack and
        // `wrapping` outlive it and do not change; `wrap` makes system calls only.
        let pid = unsafe { spawn_in_our_memory(libc::CLONE_VFORK, stack.top(), wrap, &wrapping) };
        let pid = pid.map_err(Broken::NoProcess)?;
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let process = process.inspect_err(|_| end(pid)).map_err(Broken::NoProcess)?;
        drop(theirs);
        let outer = Self { pid, process, reaped: false };
        listen(&ours).map(|terminal| (outer, terminal))
    }

    fn is_alive(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut fds = [PollFd::new(&self.process, PollFlags::IN)];
        matches!(rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))), Ok(0))
    }

    fn kill(&self) {
        // Fails only when it has ended already.
        let _ended = rustix::process::pidfd_send_signal(&self.process, Signal::KILL);
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            calls::wait_for(self.pid);
        }
    }
}

/// Until bubblewrap is executed, or could not be. Gives the jail's terminal, if there is one.
fn listen(report: &OwnedFd) -> Result<Option<OwnedFd>, Broken> {
    let mut terminal = None;
    loop {
        match receive(report)? {
            None => return Ok(terminal),
            Some((Report::Failed(part, errno), _)) => return Err(Broken::Part(part, None, errno)),
            Some((Report::Handles, handles)) => terminal = handles.into_iter().next(),
            Some(_) => return Err(Broken::Silent),
        }
    }
}

/// The command line of bubblewrap. The rest of it comes from a descriptor: that is never too long, and nobody sees it.
fn words(order: &Order<'_>, descriptors: &Descriptors) -> Vec<CString> {
    let number = text(descriptors.arguments().to_string().as_ref());
    let own = [c"bwrap".to_owned(), c"--args".to_owned(), number, c"--".to_owned()];
    own.into_iter().chain(order.argv.iter().cloned()).collect()
}

/// A command below both processes of bubblewrap.
struct Wrapped {
    outer: Outer,
    /// The first process inside. Its end is the end of everything there.
    inner: OwnedFd,
    ours: Ours,
    programs: Vec<CString>,
}

impl Cell for Wrapped {
    fn end(&self) -> BorrowedFd<'_> {
        self.outer.process.as_fd()
    }

    fn status(&self) -> BorrowedFd<'_> {
        self.end()
    }

    fn news(&self) -> Option<i32> {
        None
    }

    /// Bubblewrap ends like the command. What it could not start is not found, and it has said so.
    fn last_word(&self, used: &Used) -> Option<i32> {
        let failed = libc::WIFEXITED(used.status) && libc::WEXITSTATUS(used.status) == 1;
        let never_ran = failed && !self.ours.rest().contains("\"exit-code\"");
        Some(if never_ran { NOT_FOUND } else { used.status })
    }

    fn command(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }

    fn private_space(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn go(&self) -> Result<Result<(), Errno>, Broken> {
        let there = |program: &CString| {
            rustix::fs::accessat(CWD, program.as_c_str(), Access::EXISTS, AtFlags::empty())
        };
        if !self.programs.iter().any(|program| there(program).is_ok()) {
            return Ok(Err(Errno::NOENT));
        }
        leave(&self.ours.gate).map(Ok)
    }

    fn kill(&self) {
        let _ended = rustix::process::pidfd_send_signal(&self.inner, Signal::KILL);
        self.outer.kill();
    }

    /// The outer process does not wait for the inner one, which ends only after everything inside.
    fn reap(&mut self) -> Used {
        let used = calls::wait_for(self.outer.pid);
        self.outer.reaped = true;
        let mut fds = [PollFd::new(&self.inner, PollFlags::IN)];
        let _ended = rustix::io::retry_on_intr(|| poll(&mut fds, None));
        used
    }
}

impl Drop for Wrapped {
    fn drop(&mut self) {
        if !self.outer.reaped {
            self.kill();
            self.reap();
        }
    }
}

/// A wait status that says: ended by itself, with the code of what is not found.
const NOT_FOUND: i32 = 127 << 8;

/// What was reached, as far as it is known from outside.
fn enforcement(spec: &Spec, resources: Reached) -> Enforcement {
    let files = partial(
        "mount namespace by bubblewrap",
        "no Landlock as a second wall, not tried from inside, and protected names that do not exist can be made",
    );
    let network = match spec.network {
        Network::Open => partial("the host's, as asked", "abstract sockets of the host can be reached"),
        Network::None | Network::Broker => full("network namespace by bubblewrap"),
    };
    let syscalls = full("seccomp, no new privileges, no capabilities");
    let processes = full("user, pid, ipc, uts and cgroup namespaces by bubblewrap");
    Enforcement { layers: [files, network, syscalls, processes, resources] }
}

#[cfg(test)]
mod tests {
    use super::number_after;

    #[test]
    fn the_first_process_is_found_in_what_bubblewrap_says() {
        let rows = [
            ("{ \"child-pid\": 4711, \"cgroup-namespace\": 1 }\n", Some(4711)),
            ("{\"child-pid\":7}", Some(7)),
            ("{ \"child-pid\": 0 }", None),
            ("{ \"child-pid\": -3 }", None),
            ("{ \"child-pid\": 99999999999 }", None),
            ("{ \"exit-code\": 3 }", None),
            ("", None),
        ];
        for (said, expected) in rows {
            assert_eq!(number_after(said, "\"child-pid\":"), expected, "{said}");
        }
    }
}
