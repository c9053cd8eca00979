//! The native provider: makes an init process, has it build a jail, and holds the command.

use std::ffi::{CString, OsString};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::Pid;

use super::hold::Groups;
use crate::broker_network::BrokerSockets;
use crate::plan::{BasePlan, Host, Identity, Plan, SCRATCH, usual};
use crate::seccomp::Instruction;
use crate::sys::linux::host::namespaces;
use crate::sys::linux::host::plan_host::machine;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::{Register, Script};
use crate::sys::linux::init::{Ending, Init, Jail};
use crate::sys::linux::limits::cgroups::CgroupHandles;
use crate::sys::linux::setup::broker_network::take_sockets;
use crate::sys::linux::setup::steps::{Options, Prepared, Step, made, rest, steps, text};
use crate::sys::linux::setup::{
    self, Checks, Command, DIALERS, EarlyScript, Group, LateScript, RULESET, Streams,
};
use crate::sys::linux::setup::{idmap, landlock_rules};

/// Everything that a provider is asked for.
pub(crate) struct Order<'a> {
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) limits: Vec<(u32, u64, u64)>,
    pub(crate) filter: Vec<Instruction>,
    /// The filter that notifies the supervisor of calls.
    pub(crate) notified: Option<Vec<Instruction>>,
    pub(crate) argv: Vec<CString>,
    pub(crate) programs: Vec<CString>,
    pub(crate) cwd: &'a Path,
    /// The standard streams; `None` is a terminal of the jail's own.
    pub(crate) streams: [Option<BorrowedFd<'a>>; 3],
    /// Blocked-signal mask of the caller.
    pub(crate) mask: u64,
}

/// Reason why there is no jail.
#[derive(Debug)]
pub(crate) enum SetupError {
    /// The first process could not be made at all.
    NoProcess(Errno),
    /// A part failed.
    Step(SetupStep, Option<String>, Errno),
    /// The processes ended without a word.
    Silent,
    /// The tree that was built before the spec was known is not part of it.
    Outgrown,
    /// The kernel cannot put a layer over something.
    Layer(String, Errno),
}

/// Options with which an init process is started.
#[derive(Clone, Copy)]
pub(crate) struct SpawnOptions {
    /// True if it has a network of its own.
    pub(crate) own_network: bool,
    /// True if root runs as another user.
    pub(crate) powerful: bool,
    /// True if nothing is built before the spec is known.
    pub(crate) bare: bool,
}

/// An init process in its namespaces that builds what nearly every jail has, and waits to be told the rest.
///
/// It can be started before anything is known of the jail but whether it has a network of its own: the kernel makes
/// namespaces while the supervisor finds out the rest.
pub(crate) struct PrewarmedInit {
    init: Init,
    /// The part of the tree that it builds meanwhile.
    base: EarlyScript,
}

/// A jail whose command waits for leave, and what leads into it.
pub(crate) struct NativeJail {
    pub(crate) jail: Jail,
    pub(crate) pid: Pid,
    /// Listeners inside the jail's network, and sockets to connect with.
    pub(crate) sockets: Sockets,
    /// The supervisor's side of the jail's terminal.
    pub(crate) terminal: Option<OwnedFd>,
    /// Descriptor from which notifications of calls come.
    pub(crate) listener: Option<OwnedFd>,
}

/// Sockets in the jail's network that are ours.
#[derive(Default)]
pub(crate) struct Sockets {
    pub(crate) listeners: Vec<TcpListener>,
    /// Sockets that we connect with; each of the first half speaks IPv4, each of the second IPv6.
    pub(crate) dialers: Vec<OwnedFd>,
    /// Sockets of the broker.
    pub(crate) broker: Option<BrokerSockets>,
}

impl PrewarmedInit {
    /// Starts one. Also returns what was found out about the machine.
    pub(crate) fn start(options: SpawnOptions) -> Result<(Self, Host), SetupError> {
        let mut init = Init::start(libc::CLONE_NEWUSER | libc::CLONE_NEWPID)?;
        let processors = rustix::thread::sched_getaffinity(None).ok().filter(|all| all.count() > 1);
        if let Some(processors) = &processors {
            init.run_elsewhere(processors);
        }
        let mut script = init.script();
        setup::namespaces(&mut script, options.own_network);
        init.run(script, &[])?;
        // The kernel is busy with namespaces meanwhile.
        let machine = machine(options.powerful);
        let usual = usual(&machine);
        let base = base(&usual, options.bare);
        let mut script = init.script();
        if let Some(processors) = processors {
            setup::processors(&mut script, &processors);
        }
        setup::base(&mut script, &base);
        map(init.pid(), &usual.identity)
            .map_err(|errno| SetupError::Step(SetupStep::Identity, None, errno))?;
        init.run(script, &[])?;
        Ok((Self { init, base }, machine))
    }

    /// Has it build the rest, and holds the command.
    pub(crate) fn finish_setup(
        self,
        order: &Order<'_>,
        groups: &mut Groups,
        plan: &Plan,
    ) -> Result<NativeJail, SetupError> {
        let Self { mut init, base } = self;
        let mut ready = idmap::ready(plan)?;
        let tree = tree_steps(plan, &ready.mounts, &base).ok_or(SetupError::Outgrown)?;
        let mut script = init.script();
        setup::rest(&mut script, &rest_of(plan, &tree, &base));
        init.run(script, &ready.mounts.iter().map(|(_, mount)| mount.as_fd()).collect::<Vec<_>>())?;
        let mut script = init.script();
        let entrances = groups.entrances();
        let (handles, groups) = command_handles(&order.streams, &entrances);
        write_command(&mut script, order, plan, base.handled.is_some(), groups);
        init.run(script, &handles)?;
        // Init has been sent the mounts, and is busy meanwhile.
        ready.release();
        let waited = init.wait_until_ready();
        let (handed, listener) = waited.map_err(|broken| explain(broken, &base.steps, &tree))?;
        hold(init, handed, listener, plan)
    }
}

/// Names the step of the tree that failed.
fn explain(broken: SetupError, before: &[Step], tree: &[Step]) -> SetupError {
    let SetupError::Step(SetupStep::Tree(index), _, errno) = broken else { return broken };
    match before.iter().chain(tree).nth(usize::from(index)) {
        Some(step @ Step::Layer { .. }) => SetupError::Layer(step.to_string(), errno),
        step => SetupError::Step(SetupStep::Tree(index), step.map(ToString::to_string), errno),
    }
}

fn base(usual: &BasePlan, bare: bool) -> EarlyScript {
    let handled = landlock_rules::about();
    let (steps, grants) = if bare {
        (Vec::new(), Vec::new())
    } else {
        let grants = landlock_rules::rules(&usual.grants, handled.as_ref());
        (steps(&usual.skeleton, &usual.mounts, &Prepared::default()), grants)
    };
    let becomes = usual.identity.shows.map(|_| usual.identity.inside);
    EarlyScript { becomes, root: options(SCRATCH), steps, handled, grants }
}

/// The steps that the base has not performed; `None` if it has performed one that does not belong to the plan.
fn tree_steps(plan: &Plan, ready: &[(PathBuf, OwnedFd)], base: &EarlyScript) -> Option<Vec<Step>> {
    let ready = ready.iter().zip(0..).map(|((path, _), slot)| (path.clone(), slot)).collect();
    let prepared = Prepared { ready, kept: &plan.kept, contents: &plan.contents };
    let mut steps = rest(steps(&plan.skeleton, &plan.mounts, &prepared), &base.steps)?;
    steps.extend(plan.late.iter().cloned().map(made));
    Some(steps)
}

fn rest_of<'a>(plan: &Plan, tree: &'a [Step], base: &EarlyScript) -> LateScript<'a> {
    let root = options(plan.scratch);
    let mut grants = landlock_rules::rules(&plan.grants, base.handled.as_ref());
    grants.retain(|grant| !base.grants.contains(grant));
    LateScript {
        resized: root != base.root,
        root,
        steps: tree,
        before: base.steps.len(),
        grants,
        landlock: base.handled.is_some(),
    }
}

/// The last script: init starts the command and reaps.
fn write_command(script: &mut Script, order: &Order<'_>, plan: &Plan, landlock: bool, groups: Vec<Group>) {
    let cwd = text(order.cwd.as_os_str());
    let absent: Vec<_> = plan.absent.iter().map(|path| text(path.as_os_str())).collect();
    let environment = variables(order.environment);
    let command = Command {
        groups,
        streams: stream_registers(order),
        limits: &order.limits,
        cwd: &cwd,
        ruleset: landlock.then_some(RULESET),
        filter: &order.filter,
        notified: order.notified.as_deref(),
        // Init has tried it before it made every address local.
        checks: Checks { absent: &absent, cut_off: plan.own_network && !plan.broker, ..Checks::default() },
        programs: &order.programs,
        argv: &order.argv,
        environment: &environment,
        mask: order.mask,
        namespaced: true,
    };
    let sockets = setup::Sockets { listen: &plan.listen, dial: plan.dial, broker: plan.broker };
    setup::init(script, &sockets, &command);
}

/// The streams are the first descriptors that come with the script of a command.
pub(crate) fn stream_registers(order: &Order<'_>) -> Streams {
    let mut places = 0..;
    let registers = order.streams.map(|stream| stream.and_then(|_| places.next()).map(Register::handle));
    Streams(registers)
}

/// The descriptors that come with the script of a command: streams, then cgroups.
pub(crate) fn command_handles<'a>(
    streams: &[Option<BorrowedFd<'a>>; 3],
    entrances: &[CgroupHandles<'a>],
) -> (Vec<BorrowedFd<'a>>, Vec<Group>) {
    let mut handles: Vec<_> = streams.iter().flatten().copied().collect();
    let mut add = |handle| {
        handles.push(handle);
        Register::handle(handles.len() - 1)
    };
    let groups = entrances.iter().map(|entrance| {
        let whole = entrance.directory.map(&mut add);
        Group { entrance: add(entrance.procs), whole }
    });
    let groups = groups.collect();
    (handles, groups)
}

fn hold(
    init: Init,
    handed: Vec<OwnedFd>,
    listener: Option<OwnedFd>,
    plan: &Plan,
) -> Result<NativeJail, SetupError> {
    let mut handed = handed.into_iter().peekable();
    let (command, root) = (handed.next().ok_or(SetupError::Silent)?, handed.next());
    let listeners = handed.by_ref().take(plan.listen.len()).map(TcpListener::from).collect();
    let dialers = handed.by_ref().take(if plan.dial { DIALERS } else { 0 }).collect();
    let broker = if plan.broker { Some(take_sockets(&mut handed).ok_or(SetupError::Silent)?) } else { None };
    let (pid, terminal) = (init.pid(), handed.next());
    let jail = Jail { init, ending: Ending::Kill, command, root, kept: Box::new(()) };
    Ok(NativeJail { jail, pid, sockets: Sockets { listeners, dialers, broker }, terminal, listener })
}

/// An environment as the kernel takes it.
pub(crate) fn variables(environment: &[(OsString, OsString)]) -> Vec<CString> {
    let each = environment.iter().map(|(name, value)| {
        let mut both = name.clone();
        both.push("=");
        both.push(value);
        text(&both)
    });
    each.collect()
}

/// One inode for every 16 KiB: enough for source trees, too few to fill the kernel's memory.
fn options(scratch: u64) -> Options {
    let number = |value: u64| text(value.to_string().as_ref());
    Options { size: number(scratch), inodes: number((scratch / 16384).max(4096)) }
}

/// Says as whom the first process runs. Only its parent can.
fn map(pid: Pid, identity: &Identity) -> Result<(), Errno> {
    let (inside, outside) = (identity.inside, identity.outside);
    if identity.shows.is_none() {
        // Without this the kernel refuses the group: dropping groups could open files that a group is denied.
        write(pid, "setgroups", "deny")?;
    }
    write(pid, "uid_map", format_args!("{} {} 1", inside.uid, outside.uid))?;
    write(pid, "gid_map", format_args!("{} {} 1", inside.gid, outside.gid))
}

/// Writes to a file of a process.
pub(crate) fn write(pid: Pid, name: &str, text: impl std::fmt::Display) -> Result<(), Errno> {
    namespaces::write(&format!("/proc/{}/{name}", pid.as_raw_nonzero()), text)
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use policy::Shown;
        let what = match self {
            Self::Directory { .. } => "make the directory",
            Self::Link { .. } => "make the link",
            Self::File { .. } => "make the file",
            Self::Bind { .. } | Self::Ready { .. } => "show",
            Self::Layer { .. } => "put a layer over",
            Self::Device { .. } => "show the device",
            Self::Scratch { .. } | Self::Fresh { .. } => "make private space at",
            Self::Empty { .. } => "hide",
            Self::Content { .. } => "make the content of",
            Self::Processes { .. } => "mount the jail's processes at",
            Self::Terminals { .. } => "mount the jail's terminals at",
            Self::Lock { .. } => "make read-only",
        };
        write!(f, "{what} /{}", Shown::text(&self.path().to_string_lossy()))
    }
}
