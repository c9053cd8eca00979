//! The provider that lets `bwrap` make the namespaces: for machines that allow them to it and not to us.
//!
//! Bubblewrap is told everything by descriptors and waits at a gate with the whole tree mounted. That it has made namespaces is
//! read from the kernel; what is in them is believed, since nothing of ours is inside to try it.

mod descriptors;

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use policy::Shown;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::hold::{CommandTerms, Groups, SpawnedJail, begin, error, full, partial};
use super::native::{Order, SetupError, command_handles, stream_registers};
use super::process_tree::ProcessTree;
use crate::enforcement::{Enforcement, Reached};
use crate::host::probe::Distrust;
use crate::launch::{Command, JailError, Provider};
use crate::plan::{Plan, arguments, plan, wrappable};
use crate::seccomp::Sockets;
use crate::spec::{Network, Spec};
use crate::sys::linux::calls::ResourceUsage;
use crate::sys::linux::host::bubblewrap::{Program, first_trusted};
use crate::sys::linux::host::plan_host::{machine, with_views};
use crate::sys::linux::init::Init;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::Register;
use crate::sys::linux::setup::steps::text;
use crate::sys::linux::setup::{self, Checks};
use crate::sys::linux::supervise::Running;
use descriptors::{Descriptors, Ours};

/// Makes a jail and stops before the command.
pub(crate) fn hold(spec: &Spec, command: &Command) -> Result<(Running, Enforcement), JailError> {
    let program = find()?;
    let plan = plan(spec, &with_views(machine(false), spec))?;
    wrappable(&plan)?;
    let terms = CommandTerms {
        environment: &plan.environment,
        sockets: Sockets::Namespaced,
        own_users: false,
        heard: None,
        others: 2,
    };
    let started = begin(spec, command, &terms, |order, groups| start(&order, groups, &plan, &program));
    let (running, resources) = started.map_err(|broken| error(Provider::Bubblewrap, broken))?;
    Ok((running, enforcement(spec, resources)))
}

/// The program, by handle. One that runs as root by itself refuses half of what we ask for; and it has no way to let root's
/// jail run as a user without rights and still work on root's files.
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

fn start(
    order: &Order<'_>,
    groups: &mut Groups,
    plan: &Plan,
    program: &Program,
) -> Result<SpawnedJail, SetupError> {
    let terminal = order.streams.iter().any(Option::is_none);
    let words = arguments(plan, order.cwd, terminal);
    let (descriptors, ours) = Descriptors::open(&words, &order.filter)?;
    let programs = order.programs.clone();
    let (outer, terminal) = start_outer(order, groups, &descriptors, program)?;
    // Bubblewrap has them now; what is still open here would keep it from being the only one.
    drop(descriptors);
    let child =
        ours.first_word().and_then(|told| number_after(&told, "\"child-pid\":", 1)).and_then(Pid::from_raw);
    let child = child.ok_or(SetupError::Silent)?;
    let inner = rustix::process::pidfd_open(child, PidfdFlags::empty())
        .map_err(|errno| SetupError::Step(SetupStep::Processes, None, errno))?;
    let pid = outer.pid();
    // From here on every failure ends both: while the inner one waits at the gate, it does not end with the outer one.
    let processes = BubblewrapTree { outer, inner, ours, programs, reaped: false };
    processes.ours.wait_until_mounted();
    if !is_alive(&processes.outer) {
        return Err(SetupError::Silent);
    }
    namespaces_differ(child, plan.own_network)?;
    Ok(SpawnedJail { pid, terminal, processes: Box::new(processes) })
}

fn number_after(text: &str, key: &str, least: i32) -> Option<i32> {
    let rest = text.split_once(key)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok().filter(|number| *number >= least)
}

/// Checks that the kernel shows the first process inside in other namespaces than ours.
fn namespaces_differ(child: Pid, own_network: bool) -> Result<(), SetupError> {
    let broken = |errno| SetupError::Step(SetupStep::Namespaces, None, errno);
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

/// Starts the process of bubblewrap that stays outside. Also returns the supervisor's side of the jail's terminal.
fn start_outer(
    order: &Order<'_>,
    groups: &mut Groups,
    descriptors: &Descriptors,
    program: &Program,
) -> Result<(Init, Option<OwnedFd>), SetupError> {
    let words = words(order, descriptors);
    let mut init = Init::start(0)?;
    let mut script = init.script();
    let (streams, stream_registers) = (order.streams, stream_registers(order));
    let entrances = groups.entrances();
    let (mut handles, groups) = command_handles(&streams, &entrances);
    let mut add = |handle| {
        handles.push(handle);
        Register::handle(handles.len() - 1)
    };
    let program = add(program.handle.as_fd());
    let numbered: Vec<_> = descriptors.numbered().map(|(handle, number)| (add(handle), number)).collect();
    let command = setup::Command {
        groups,
        streams: stream_registers,
        limits: &order.limits,
        cwd: c"/",
        ruleset: None,
        filter: &[],
        notified: None,
        checks: Checks::default(),
        programs: &[],
        argv: &words,
        environment: &[],
        mask: order.mask,
        namespaced: false,
    };
    setup::wrapper(&mut script, program, &numbered, &command);
    init.run(script, &handles)?;
    let terminal = init.wait_until_replaced()?.into_iter().next();
    Ok((init, terminal))
}

fn is_alive(init: &Init) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(init.end(), PollFlags::IN)];
    matches!(rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))), Ok(0))
}

/// The command line of bubblewrap. The rest of it comes from a descriptor: that is never too long, and is not visible to others.
fn words(order: &Order<'_>, descriptors: &Descriptors) -> Vec<CString> {
    let number = text(descriptors.arguments().to_string().as_ref());
    let own = [c"bwrap".to_owned(), c"--args".to_owned(), number, c"--".to_owned()];
    own.into_iter().chain(order.argv.iter().cloned()).collect()
}

/// A command below both processes of bubblewrap.
struct BubblewrapTree {
    /// The process that stays outside.
    outer: Init,
    /// The first process inside. Its end is the end of everything there.
    inner: OwnedFd,
    ours: Ours,
    programs: Vec<CString>,
    reaped: bool,
}

impl ProcessTree for BubblewrapTree {
    fn end(&self) -> BorrowedFd<'_> {
        self.outer.end().as_fd()
    }

    fn status(&self) -> BorrowedFd<'_> {
        self.end()
    }

    fn news(&self) -> Option<i32> {
        None
    }

    /// Bubblewrap ends like the command. What it could not start is not found, and it has said so.
    fn last_word(&self, used: Option<&ResourceUsage>) -> Option<i32> {
        let told = self.ours.rest();
        let code = number_after(&told, "\"exit-code\":", 0);
        // If the kernel has not kept its status, what it has told has to do.
        let Some(used) = used else { return code.map(|code| code << 8) };
        let failed = libc::WIFEXITED(used.status) && libc::WEXITSTATUS(used.status) == 1;
        Some(if failed && code.is_none() { NOT_FOUND } else { used.status })
    }

    fn command(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }

    fn private_space(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn go(&self) -> Result<Result<(), Errno>, SetupError> {
        let there = |program: &CString| {
            rustix::fs::accessat(CWD, program.as_c_str(), Access::EXISTS, AtFlags::empty())
        };
        if !self.programs.iter().any(|program| there(program).is_ok()) {
            return Ok(Err(Errno::NOENT));
        }
        let left = rustix::io::write(&self.ours.gate, b"!");
        left.map(|_| Ok(())).map_err(|errno| SetupError::Step(SetupStep::Leave, None, errno))
    }

    fn kill(&self) {
        let _ended = rustix::process::pidfd_send_signal(&self.inner, Signal::KILL);
        self.outer.kill();
    }

    /// The outer process does not wait for the inner one, which ends only after everything inside.
    fn reap(&mut self) -> Option<ResourceUsage> {
        let used = self.outer.reap();
        self.reaped = true;
        let mut fds = [PollFd::new(&self.inner, PollFlags::IN)];
        let _ended = rustix::io::retry_on_intr(|| poll(&mut fds, None));
        used
    }
}

impl Drop for BubblewrapTree {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}

/// A wait status that says: ended by itself, with the code of what is not found.
const NOT_FOUND: i32 = 127 << 8;

/// Returns the enforcement that was reached, as far as it is known from outside.
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
            assert_eq!(number_after(said, "\"child-pid\":", 1), expected, "{said}");
        }
    }
}
