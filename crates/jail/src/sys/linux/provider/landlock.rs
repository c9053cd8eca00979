//! The provider for machines without namespaces: files by Landlock, sockets and system calls by seccomp, and a process that
//! ends everything the command leaves behind.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

use policy::Shown;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::hold::{CommandTerms, Groups, SpawnedJail, begin, error, full, partial};
use super::native::{Order, SetupError, command_handles, stream_registers, variables};
use super::scratch::Scratch;
use crate::enforcement::{Enforcement, Level, Reached};
use crate::launch::{Command, JailError, Provider};
use crate::plan::{Access, LandlockPlan, PathRule, landlock_plan, relocated_environment};
use crate::seccomp::Sockets;
use crate::spec::{Network, Spec};
use crate::sys::linux::calls::{self, confine};
use crate::sys::linux::host::plan_host::{machine, with_views};
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::Register;
use crate::sys::linux::init::{Ending, Init, Jail};
use crate::sys::linux::setup::landlock_rules;
use crate::sys::linux::setup::steps::text;
use crate::sys::linux::setup::{self, Checks};
use crate::sys::linux::supervise::Running;

/// Makes a jail and stops before the command.
pub(crate) fn hold(spec: &Spec, command: &Command) -> Result<(Running, Enforcement), JailError> {
    let abi = version()?;
    let plan = landlock_plan(spec, &with_views(machine(false), spec))?;
    attempt(spec, command, &plan, abi).map_err(|broken| error(Provider::Landlock, broken))
}

/// Before version 3 every file of the caller could be emptied, no matter what the rules say.
fn version() -> Result<u32, JailError> {
    let unavailable = |what: &str, errno: Option<Errno>| JailError::Unavailable {
        provider: Provider::Landlock,
        what: what.to_owned(),
        errno: errno.map(Into::into),
    };
    match calls::landlock_abi() {
        Ok(abi @ 3..) => Ok(abi),
        Ok(_) => {
            Err(unavailable("keep other files from being emptied, which takes version 3 of Landlock", None))
        }
        Err(errno) => Err(unavailable("confine files by Landlock", Some(errno))),
    }
}

fn attempt(
    spec: &Spec,
    command: &Command,
    plan: &LandlockPlan,
    abi: u32,
) -> Result<(Running, Enforcement), SetupError> {
    let scratch = Scratch::make().map_err(in_private_space)?;
    let environment = relocated_environment(&spec.environment, &scratch.home(), &scratch.tmp());
    let (ruleset, rules) = ruleset(plan, &scratch, abi)?;
    let sockets = if spec.network == Network::Open { Sockets::Internet } else { Sockets::Refused };
    let terms = CommandTerms { environment: &environment, sockets, own_users: false, heard: None, others: 0 };
    let ground = Ground {
        terminal: landlock_rules::rights(Access::Device, false) & landlock_rules::handled(abi).files,
        unreadable: plan.unreadable.iter().map(|path| text(path.as_os_str())).collect(),
        refused: refused(sockets),
        ruleset,
        rules,
        scratch,
    };
    let (running, resources) = begin(spec, command, &terms, |order, groups| {
        let (jail, terminal) = start(&order, groups, ground)?;
        Ok(SpawnedJail { pid: jail.init.pid(), terminal, processes: Box::new(jail) })
    })?;
    Ok((running, enforcement(spec, abi, resources)))
}

fn in_private_space(errno: Errno) -> SetupError {
    SetupError::Step(
        SetupStep::Root,
        Some("make a private directory among the temporary files".to_owned()),
        errno,
    )
}

/// Returns the ruleset that Landlock enforces, and handles on everything it allows. They have to stay open: rules are tied
/// to what the kernel has in memory, and for files that are on no disk it would make another one when it forgets the first.
fn ruleset(plan: &LandlockPlan, scratch: &Scratch, abi: u32) -> Result<(OwnedFd, Vec<OwnedFd>), SetupError> {
    let part = |errno| SetupError::Step(SetupStep::Landlock, None, errno);
    let about = landlock_rules::handled(abi);
    let ruleset = confine::landlock_create(&about).map_err(part)?;
    let allow = |handle: &OwnedFd, access| {
        let directory = FileType::from_raw_mode(rustix::fs::fstat(handle)?.st_mode) == FileType::Directory;
        let rights = landlock_rules::rights(access, directory) & about.files;
        confine::landlock_allow(ruleset.as_fd(), handle.as_fd(), rights)
    };
    let mut handles = Vec::new();
    for rule in &plan.rules {
        let what = || Some(format!("show {}", Shown::path(&rule.path)));
        let broken = |errno| SetupError::Step(SetupStep::Landlock, what(), errno);
        if let Some(handle) = open(rule).map_err(broken)? {
            allow(&handle, rule.access).map_err(broken)?;
            handles.push(handle);
        }
    }
    for handle in scratch.handles().map_err(in_private_space)? {
        allow(&handle, Access::Write).map_err(part)?;
    }
    Ok((ruleset, handles))
}

/// Opens the object behind a rule. A view has to be the object that was judged; what the system lacks is left out.
fn open(rule: &PathRule) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let Some(id) = rule.id else {
        return match rustix::fs::open(&rule.path, flags, Mode::empty()) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => Ok(None),
            opened => opened.map(Some),
        };
    };
    let opened = rustix::fs::open(&rule.path, flags | OFlags::NOFOLLOW, Mode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    if (found.st_dev, found.st_ino) == id { Ok(Some(opened)) } else { Err(Errno::STALE) }
}

/// Everything but the processes.
struct Ground {
    ruleset: OwnedFd,
    rules: Vec<OwnedFd>,
    scratch: Scratch,
    /// Rights on a terminal.
    terminal: u64,
    unreadable: Vec<CString>,
    refused: &'static [i32],
}

/// Kinds of sockets that a filter has to refuse; one that it allows is tried by using it.
const fn refused(sockets: Sockets) -> &'static [i32] {
    match sockets {
        Sockets::Refused => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6],
        Sockets::Internet => &[libc::AF_UNIX, libc::AF_VSOCK],
        Sockets::Namespaced => &[libc::AF_VSOCK],
    }
}

/// Starts a subreaper with the command below it. Returns them and the supervisor's side of the jail's terminal.
fn start(
    order: &Order<'_>,
    groups: &mut Groups,
    ground: Ground,
) -> Result<(Jail, Option<OwnedFd>), SetupError> {
    let mut init = Init::start(0)?;
    let mut script = init.script();
    let streams = order.streams;
    let (cwd, environment) = (text(order.cwd.as_os_str()), variables(order.environment));
    let stream_registers = stream_registers(order);
    let entrances = groups.entrances();
    let (mut handles, groups) = command_handles(&streams, &entrances);
    let (ruleset, lock) = (Register::handle(handles.len()), Register::handle(handles.len() + 1));
    handles.extend([ground.ruleset.as_fd(), ground.scratch.lock().as_fd()]);
    let command = setup::Command {
        groups,
        streams: stream_registers,
        limits: &order.limits,
        cwd: &cwd,
        ruleset: Some(ruleset),
        filter: &order.filter,
        notified: None,
        checks: Checks { unreadable: &ground.unreadable, families: ground.refused, ..Checks::default() },
        programs: &order.programs,
        argv: &order.argv,
        environment: &environment,
        mask: order.mask,
        namespaced: false,
    };
    setup::subreaper(&mut script, lock, ground.terminal, &command);
    init.run(script, &handles)?;
    let (handed, _) = init.wait_until_ready()?;
    let mut handed = handed.into_iter();
    let command = handed.next().ok_or(SetupError::Silent)?;
    // Private space is removed last, when no process is left to use it. It lies on a file system of the host, which others
    // fill as well.
    let kept = Box::new((ground.rules, ground.scratch));
    Ok((Jail { init, ending: Ending::Ask, command, root: None, kept }, handed.next()))
}

/// Returns the enforcement that was reached. Everything named here was done: the jail would not be held otherwise.
fn enforcement(spec: &Spec, abi: u32, resources: Reached) -> Enforcement {
    let files = partial(
        &format!("Landlock {abi}"),
        "names, sizes and times of other files are seen, modes, times and attributes of the caller's can be changed, and \
         protected and forbidden names are not protected",
    );
    let network = match spec.network {
        Network::Open => full("the host's, as asked; no local sockets by seccomp"),
        Network::None | Network::Broker => full("no sockets by seccomp"),
    };
    let syscalls = full("seccomp, no new privileges, no capabilities");
    Enforcement { layers: [files, network, syscalls, processes(abi), bounded(resources)] }
}

fn processes(abi: u32) -> Reached {
    let as_root = "; the host's user 0 is the jail's user, without any of its powers";
    let root = if rustix::process::geteuid().is_root() { as_root } else { "" };
    if abi < 6 {
        let gap = format!("signals reach every process of the caller, and the launcher{root}");
        return Reached { level: Level::None, by: "a session of its own".to_owned(), gap: Some(gap) };
    }
    let gap = format!("the host's processes exist for it by number{root}");
    partial("a session of its own, a process that ends it, signals by Landlock", &gap)
}

/// Private space is a directory on the host, and its size is not bounded.
fn bounded(resources: Reached) -> Reached {
    let own = "private space is bounded by the disk alone";
    let gap = resources.gap.map_or_else(|| own.to_owned(), |gap| format!("{gap}; {own}"));
    Reached { level: resources.level.min(Level::Partial), gap: Some(gap), ..resources }
}
