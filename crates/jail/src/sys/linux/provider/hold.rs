//! Making a jail with one provider, up to the moment before the command starts.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use policy::Limits;
use rustix::io::Errno;
use rustix::process::Pid;

use super::native::{self, Order, PrewarmedInit, SetupError, SpawnOptions};
use super::process_tree::ProcessTree;
use super::{bubblewrap, landlock};
use crate::broker_network::{BrokerSockets, RESOLV_CONF, RESOLV_CONF_TEXT};
use crate::enforcement::{Enforcement, Level, Reached};
use crate::launch::{Command, JailError, Provider, Streams};
use crate::plan::{Conflict, Host, Identity, Plan, plan};
use crate::resources::reached;
use crate::seccomp::{self, Abi, NotifyOptions, Sockets};
use crate::spec::{Content, Mode, Network, Spec, View};
use crate::sys::linux::calls;
use crate::sys::linux::calls::confine;
use crate::sys::linux::connected_program::ProgramLookup;
use crate::sys::linux::host::plan_host::with_views;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::limits::cgroups::{CgroupHandles, Cgroups, Unavailable};
use crate::sys::linux::limits::process_limits::prepared_rlimits;
use crate::sys::linux::limits::sweeper::Sweeper;
use crate::sys::linux::limits::watchdog::Watchdog;
use crate::sys::linux::notify::name_guard::{About, NameGuard};
use crate::sys::linux::setup::steps::text;
use crate::sys::linux::supervise::Running;
use crate::sys::linux::supervise::question::Questions;
use crate::sys::linux::supervise::stop::Stop;
use crate::sys::linux::terminal::capture::Collectors;
use crate::sys::linux::terminal::relay::{End as StreamEnd, Relay, Signals, Streams as Callers};

/// A jail that is made, with a command that has not started.
pub(crate) struct Held {
    enforcement: Enforcement,
    running: Running,
    provider: Provider,
    program: OsString,
}

impl Held {
    pub(crate) fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    pub(crate) fn listeners(&mut self) -> Vec<TcpListener> {
        std::mem::take(&mut self.running.sockets.listeners)
    }

    pub(crate) fn dialers(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.running.sockets.dialers)
    }

    pub(crate) fn broker_sockets(&mut self) -> Option<BrokerSockets> {
        self.running.sockets.broker.take()
    }

    pub(crate) fn program_lookup(&self, diagnostics: OwnedFd) -> Option<ProgramLookup> {
        ProgramLookup::new(diagnostics, self.running.processes.end())
    }

    pub(crate) fn stop(&mut self) -> Result<Stop, JailError> {
        self.running.stop()
    }

    pub(crate) fn questions(&mut self) -> Result<Questions, JailError> {
        self.running.questions()
    }

    pub(crate) fn release(mut self) -> Result<Running, JailError> {
        if let Some(name_guard) = &self.running.name_guard {
            name_guard.wait_until_ready();
        }
        self.running.began = Instant::now();
        match self.running.processes.go().map_err(|broken| error(self.provider, broken))? {
            Ok(()) => Ok(self.running),
            Err(Errno::NOENT | Errno::NOTDIR) => Err(JailError::NotFound(self.program)),
            Err(errno) => Err(JailError::NotExecutable(self.program, errno.into())),
        }
    }
}

/// A native jail that was begun, and what is known of the machine.
pub(crate) type Early = (PrewarmedInit, Host);

/// Begins a native jail with a network of its own, as most have.
pub(crate) fn early() -> Option<Early> {
    PrewarmedInit::start(SpawnOptions { own_network: true, powerful: true, bare: false }).ok()
}

/// Makes a jail with one provider.
pub(crate) fn hold(
    provider: Provider,
    early: Option<Early>,
    spec: &Spec,
    command: &Command,
) -> Result<Held, JailError> {
    let program = check(spec, command)?;
    if provider != Provider::Native && (!spec.listen.is_empty() || spec.dial) {
        let why = "only the native provider makes a network that it can reach into";
        return Err(Conflict::Listen(spec.listen.len() + usize::from(spec.dial), why).into());
    }
    if provider != Provider::Native && spec.network == Network::Broker {
        return Err(
            Conflict::Broker("only the native provider makes a network that it can reach into").into()
        );
    }
    match provider {
        Provider::Native => hold_native(early, spec, command, program),
        Provider::Landlock => {
            let (running, enforcement) = landlock::hold(spec, command)?;
            Ok(Held { enforcement, running, provider, program })
        }
        Provider::Bubblewrap => {
            let (running, enforcement) = bubblewrap::hold(spec, command)?;
            Ok(Held { enforcement, running, provider, program })
        }
    }
}

/// Refuses text that would mean something else to the kernel than to its author.
fn check(spec: &Spec, command: &Command) -> Result<OsString, JailError> {
    let Some(program) = command.argv.first().filter(|program| !program.is_empty()) else {
        return Err(JailError::BadCommand("there is no command"));
    };
    let variables = spec.environment.iter().flat_map(|(name, value)| [name, value]);
    let mut texts = command.argv.iter().chain(variables).map(|text| text.as_bytes());
    if texts.any(|text| text.contains(&0)) || command.cwd.as_os_str().as_bytes().contains(&0) {
        return Err(JailError::BadCommand("the command has a zero byte in it"));
    }
    Ok(program.clone())
}

fn hold_native(
    early: Option<Early>,
    spec: &Spec,
    command: &Command,
    program: OsString,
) -> Result<Held, JailError> {
    let own_network = spec.network != Network::Open;
    let mut early = early.filter(|_| own_network);
    let mut options = SpawnOptions { own_network, powerful: true, bare: false };
    let mut degradation = Degradation::default();
    let mut spec = with_resolver(spec);
    loop {
        match attempt(early.take(), options, &spec, command, &degradation)? {
            // Root without the power to show files as another user's, or a file system that cannot: still a jail, and it says so.
            Err(SetupError::Step(SetupStep::Identity, what, errno)) if options.powerful => {
                options.powerful = false;
                let what = what.unwrap_or_else(|| "run as somebody else".to_owned());
                degradation.as_root = Some(format!("the kernel cannot {what} ({errno})"));
            }
            // A tree that can be seen and not be changed is less than asked for, and nothing of it is a danger.
            Err(SetupError::Layer(what, errno)) if degradation.layers.is_none() && errno != Errno::STALE => {
                degradation.layers = Some(format!("the kernel cannot {what} ({errno})"));
                spec = Cow::Owned(without_own_layers(&spec));
            }
            // A spec that differs from what nearly every jail has.
            Err(SetupError::Outgrown) if !options.bare => {
                options.bare = true;
                degradation.built_twice = true;
            }
            Err(broken) => return Err(error(Provider::Native, broken)),
            Ok((running, enforcement)) => {
                return Ok(Held { enforcement, running, provider: Provider::Native, program });
            }
        }
    }
}

/// The same spec, with the name of the broker's resolver where the broker is the way out.
fn with_resolver(spec: &Spec) -> Cow<'_, Spec> {
    let own = |content: &Content| content.path == Path::new(RESOLV_CONF);
    if spec.network != Network::Broker || spec.contents.iter().any(own) {
        return Cow::Borrowed(spec);
    }
    Cow::Owned(spec.clone().content(Path::new(RESOLV_CONF), RESOLV_CONF_TEXT.as_bytes()))
}

/// Features that could not be had, and why.
#[derive(Default)]
struct Degradation {
    /// A jail that runs as another user than root.
    as_root: Option<String>,
    /// Layers of the jail's own.
    layers: Option<String>,
    /// True if the tree that was built before the spec was known had to be thrown away.
    built_twice: bool,
}

/// The same spec, with views that can only be read where their changes would have gone with the jail.
fn without_own_layers(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    let own =
        |view: &&mut View| view.mode == Mode::Layered && spec.kept.iter().all(|kept| kept.path != view.path);
    spec.views.iter_mut().filter(own).for_each(|view| view.mode = Mode::ReadOnly);
    spec
}

/// One attempt; the spec may mean nothing, or the machine may refuse.
fn attempt(
    early: Option<Early>,
    options: SpawnOptions,
    spec: &Spec,
    command: &Command,
    degradation: &Degradation,
) -> Result<Result<(Running, Enforcement), SetupError>, Conflict> {
    let (init, machine) = match early.map_or_else(|| PrewarmedInit::start(options), Ok) {
        Ok(early) => early,
        Err(broken) => return Ok(Err(broken)),
    };
    let plan = plan(spec, &with_views(machine, spec))?;
    Ok(finish(init, spec, command, &plan, degradation))
}

/// Finishes a jail on top of the part that nearly every jail has and that is being built.
fn finish(
    init: PrewarmedInit,
    spec: &Spec,
    command: &Command,
    plan: &Plan,
    degradation: &Degradation,
) -> Result<(Running, Enforcement), SetupError> {
    let about = About::of(spec, plan, command.observe);
    let heard =
        about.as_ref().map(|about| NotifyOptions { kept: about.keeps(), observed: about.sight.is_some() });
    let terms = CommandTerms {
        environment: &plan.environment,
        sockets: Sockets::Namespaced,
        own_users: true,
        heard,
        others: 0,
    };
    let (mut listener, mut root, mut first, mut sockets) = (None, None, None, native::Sockets::default());
    let (mut running, resources) = begin(spec, command, &terms, |order, groups| {
        let held = init.finish_setup(&order, groups, plan)?;
        root = held.jail.root.as_ref().map(OwnedFd::try_clone).transpose().map_err(|_| no_handle())?;
        (listener, sockets, first) = (held.listener, held.sockets, Some(held.pid));
        Ok(SpawnedJail { pid: held.pid, terminal: held.terminal, processes: Box::new(held.jail) })
    })?;
    let redirected = sockets.broker.as_ref().map(|sockets| sockets.transparent.len());
    running.sockets = sockets;
    if let (Some(listener), Some(root), Some(first), Some(about)) = (listener, root, first, about) {
        running.name_guard =
            Some(NameGuard::start(listener, root, first, about).map_err(SetupError::NoProcess)?);
    }
    Ok((running, enforcement(plan, network(spec, redirected), degradation, resources)))
}

fn no_handle() -> SetupError {
    SetupError::Step(SetupStep::Report, None, Errno::MFILE)
}

/// Decisions of a provider about how a command is started.
pub(crate) struct CommandTerms<'a> {
    /// The whole environment of the command.
    pub(crate) environment: &'a [(OsString, OsString)],
    /// Sockets that it may make.
    pub(crate) sockets: Sockets,
    /// True if its users are its own, and are counted apart.
    pub(crate) own_users: bool,
    /// Calls of it that are heard of.
    pub(crate) heard: Option<NotifyOptions>,
    /// Number of processes besides the command's that are in its cgroups.
    pub(crate) others: u64,
}

/// Jail that a provider has made.
pub(crate) struct SpawnedJail {
    /// The process that has everything in the jail below it.
    pub(crate) pid: Pid,
    /// The supervisor's side of the jail's terminal.
    pub(crate) terminal: Option<OwnedFd>,
    /// The processes.
    pub(crate) processes: Box<dyn ProcessTree>,
}

/// Prepares what is the same for every provider, lets one make the processes, and looks after them. Also says how far resources
/// are bounded.
pub(crate) fn begin(
    spec: &Spec,
    command: &Command,
    terms: &CommandTerms<'_>,
    make: impl FnOnce(Order<'_>, &mut Groups) -> Result<SpawnedJail, SetupError>,
) -> Result<(Running, Reached), SetupError> {
    let abi = Abi::here().ok_or(SetupError::Step(SetupStep::Filter, None, Errno::NOSYS))?;
    let mask = confine::blocked_signals().map_err(SetupError::NoProcess)?;
    let (ends, streams) =
        connect(spec, command).map_err(|errno| SetupError::Step(SetupStep::Streams, None, errno))?;
    let mut groups = Groups::new(&spec.limits, terms.others);
    let order = Order {
        environment: terms.environment,
        limits: prepared_rlimits(&spec.limits, terms.own_users),
        filter: seccomp::filter(abi, terms.sockets),
        notified: terms.heard.map(|heard| seccomp::listen(abi, heard)),
        argv: command.argv.iter().map(|argument| text(argument)).collect(),
        programs: programs(&command.argv[0], terms.environment),
        cwd: &command.cwd,
        streams: ends.each_ref().map(|end| end.as_ref().map(OwnedFd::as_fd)),
        mask,
    };
    let started = make(order, &mut groups)?;
    drop(ends);
    let (cgroups, missing, sweeper) = groups.made();
    let watchdog = Watchdog::new(&spec.limits, started.pid, &cgroups);
    let bounded = cgroups.counts_memory() && cgroups.counts_processes();
    let bounds = cgroups.bounds(&spec.limits, bounded || Watchdog::can_see(), missing.as_ref());
    let mut running =
        Running::new(started.processes, spec.limits.clone(), streams, cgroups, watchdog, sweeper);
    running.home = Some(spec.home.clone());
    running
        .attach(started.terminal)
        .map(|running| (running, reached(&bounds)))
        .map_err(|errno| SetupError::Step(SetupStep::Terminal, None, errno))
}

/// The cgroups of a jail, made when a provider asks for them: while its processes are busy with something else.
pub(crate) struct Groups {
    limits: Limits,
    others: u64,
    made: Option<CgroupSet>,
}

/// The groups, why one is missing, and the process that removes them if this one is killed.
type CgroupSet = (Cgroups, Option<Unavailable>, Option<Sweeper>);

impl Groups {
    fn new(limits: &Limits, others: u64) -> Self {
        Self { limits: limits.clone(), others, made: None }
    }

    /// Returns the descriptors by which the process of the command enters them.
    pub(crate) fn entrances(&mut self) -> Vec<CgroupHandles<'_>> {
        let (limits, others) = (&self.limits, self.others);
        let (cgroups, ..) = self.made.get_or_insert_with(|| make_groups(limits, others));
        cgroups.entrances().collect()
    }

    fn made(self) -> CgroupSet {
        self.made.unwrap_or_else(|| make_groups(&self.limits, self.others))
    }
}

fn make_groups(limits: &Limits, others: u64) -> CgroupSet {
    let mut sweeper = None;
    let (cgroups, missing) = Cgroups::make(limits, others, |groups| sweeper = Sweeper::start(groups));
    (cgroups, missing, sweeper)
}

/// Connection of the command with the caller.
pub(crate) enum Connection {
    Relay(Box<Relay>, Signals),
    Collectors(Collectors),
}

type Ends = [Option<OwnedFd>; 3];

fn connect(spec: &Spec, command: &Command) -> Result<(Ends, Connection), Errno> {
    let raw = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    match &command.streams {
        Streams::Captured(capture) => {
            let (ends, collectors) = Collectors::open(capture)?;
            Ok((ends.map(Some), Connection::Collectors(collectors)))
        }
        Streams::Inherit => {
            let callers = Callers::choose().map_err(raw)?;
            let callers = if spec.limits.idle.is_some() { callers.watched() } else { callers };
            let (ends, relay) = callers.connect().map_err(raw)?;
            let ends = ends.map(|end| match end {
                StreamEnd::Descriptor(end) => Some(end),
                StreamEnd::Terminal => None,
            });
            Ok((ends, Connection::Relay(Box::new(relay), Signals::block().map_err(raw)?)))
        }
    }
}

/// Paths at which a program may be: as it is written, or in each directory of the jail's `PATH`.
fn programs(program: &OsStr, environment: &[(OsString, OsString)]) -> Vec<CString> {
    if program.as_bytes().contains(&b'/') {
        return vec![text(program)];
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = path.unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let absolute =
        std::env::split_paths(&path).filter(|directory| directory.is_absolute()).collect::<Vec<PathBuf>>();
    absolute.iter().map(|directory| text(Path::join(directory, program).as_os_str())).collect()
}

/// Returns the enforcement that was reached. Everything named here was done: the jail would not be held otherwise.
fn enforcement(plan: &Plan, network: Reached, degradation: &Degradation, resources: Reached) -> Enforcement {
    let abi = calls::landlock_abi().unwrap_or(0);
    let files = match abi {
        0 => partial("mount namespace", "the kernel has no Landlock as a second wall"),
        abi => full(format!("mount namespace, Landlock {abi}")),
    };
    let files = match &degradation.layers {
        None => files,
        Some(why) => Reached { by: format!("{}; layers can only be read: {why}", files.by), ..files },
    };
    let files = if degradation.built_twice {
        let why = "built twice, because the spec leaves out what nearly every jail has";
        Reached { by: format!("{}; {why}", files.by), ..files }
    } else {
        files
    };
    let processes = processes(&plan.identity, degradation.as_root.clone());
    let syscalls = full("seccomp, no new privileges, no capabilities");
    Enforcement { layers: [files, network, syscalls, processes, resources] }
}

/// Returns the enforcement of the network, which has as many listeners that connections are redirected to.
fn network(spec: &Spec, redirected: Option<usize>) -> Reached {
    let abi = calls::landlock_abi().unwrap_or(0);
    match (spec.network, redirected) {
        (Network::Open, _) if abi < 6 => {
            partial("the host's, as asked", "abstract sockets of the host can be reached")
        }
        (Network::Open, _) => full("the host's, as asked; abstract sockets by Landlock"),
        (Network::None, _) | (Network::Broker, None) => full("network namespace"),
        (Network::Broker, Some(0)) => full(
            "network namespace; the kernel has no nf_tables to redirect with, so only programs that use the proxy variables reach the broker",
        ),
        (Network::Broker, Some(1)) => full(
            "network namespace, connections of one IP version redirected to the broker, of the other refused",
        ),
        (Network::Broker, Some(_)) => full("network namespace, connections redirected to the broker"),
    }
}

fn processes(identity: &Identity, as_root: Option<String>) -> Reached {
    let by = "user, pid, ipc, uts and cgroup namespaces";
    match as_root {
        None if identity.outside.uid != 0 => full(by),
        why => {
            let why = why.unwrap_or_else(|| "the caller is root".to_owned());
            partial(by, &format!("the host's user 0 is the jail's user, without any of its powers: {why}"))
        }
    }
}

pub(crate) fn full(by: impl Into<String>) -> Reached {
    Reached { level: Level::Full, by: by.into(), gap: None }
}

pub(crate) fn partial(by: &str, gap: &str) -> Reached {
    Reached { level: Level::Partial, by: by.to_owned(), gap: Some(gap.to_owned()) }
}

/// Converts a setup error: whether a step fails on one machine or on every one decides which provider is asked next.
pub(crate) fn error(provider: Provider, broken: SetupError) -> JailError {
    match broken {
        SetupError::NoProcess(errno) => {
            let what = "make a process in namespaces of its own".to_owned();
            JailError::Unavailable { provider, what, errno: Some(errno.into()) }
        }
        SetupError::Silent | SetupError::Outgrown => {
            JailError::Unavailable { provider, what: "keep its processes alive".to_owned(), errno: None }
        }
        SetupError::Layer(what, errno) => JailError::Step { what, errno: errno.into() },
        SetupError::Step(part, detail, errno) => {
            let what = detail.unwrap_or_else(|| part.words().to_owned());
            if is_about_the_machine(part, errno) {
                JailError::Unavailable { provider, what, errno: Some(errno.into()) }
            } else {
                JailError::Step { what, errno: errno.into() }
            }
        }
    }
}

fn is_about_the_machine(part: SetupStep, errno: Errno) -> bool {
    let early = matches!(
        part,
        SetupStep::Namespaces
            | SetupStep::Identity
            | SetupStep::Processes
            | SetupStep::Private
            | SetupStep::Root
            | SetupStep::Pivot
            | SetupStep::Loopback
            | SetupStep::HostName
    );
    let refused = matches!(errno, Errno::PERM | Errno::ACCESS | Errno::NOSYS | Errno::INVAL | Errno::NOSPC);
    refused && (early || matches!(part, SetupStep::Tree(_)) && errno != Errno::ACCESS)
}

#[cfg(test)]
mod tests;
