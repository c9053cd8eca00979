//! The native provider: makes the processes of a jail and holds them at the gate.

use std::ffi::{CString, OsString};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;

use super::calls::clone::{Stack, end, spawn_in_our_memory};
use super::calls::confine::{self, Words};
use super::calls::{self, Used};
use super::cell::Cell;
use super::child::{DIALERS, Plot, first};
use super::host::machine;
use super::report::{Part, Report};
use super::script::{Base, Numbers, Options, Prepared, Script, Start, Step, made, rest, steps, text};
use super::site::{Hands, LAST, MORE};
use super::wire::{Ours, Theirs, pipe, wire};
use super::{idmap, landlock, namespaces};
use crate::plan::{Host, Identity, Plan, SCRATCH, Usual, usual};
use crate::seccomp::Instruction;

/// What a provider is asked for.
pub(crate) struct Order<'a> {
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) limits: Vec<(u32, u64, u64)>,
    pub(crate) filter: Vec<Instruction>,
    pub(crate) heard: Option<Vec<Instruction>>,
    pub(crate) argv: Vec<CString>,
    pub(crate) programs: Vec<CString>,
    pub(crate) cwd: &'a Path,
    /// The standard streams; `None` is a terminal of the jail's own.
    pub(crate) streams: [Option<RawFd>; 3],
    /// Makes the jail's cgroups, and says what is written to in order to join them.
    pub(crate) cgroups: Groups<'a>,
    /// The signals that waited before the supervisor made its own wait.
    pub(crate) mask: u64,
}

/// Called when the processes of a jail are busy with something else.
pub(crate) type Groups<'a> = &'a mut dyn FnMut() -> Vec<RawFd>;

/// Why there is no jail.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The first process could not be made at all.
    NoProcess(Errno),
    /// A part failed.
    Part(Part, Option<String>, Errno),
    /// The processes ended without a word.
    Silent,
    /// What was built before the spec was known is not part of it.
    Outgrown,
    /// The kernel cannot put a layer over something.
    Layer(String, Errno),
}

/// What a first process is made for.
#[derive(Clone, Copy)]
pub(crate) struct Soil {
    /// Whether it has a network of its own.
    pub(crate) own_network: bool,
    /// Whether root runs as somebody else.
    pub(crate) powerful: bool,
    /// Whether nothing is built before the spec is known.
    pub(crate) bare: bool,
}

/// The first process of a jail. Ends everything in the jail when dropped.
pub(crate) struct First {
    pub(crate) pid: Pid,
    /// Readable when it has ended.
    pub(crate) handle: OwnedFd,
    ours: Ours,
    reaped: bool,
    /// What the processes share with us until they execute something.
    plot: Box<Plot>,
    _stacks: (Stack, Stack),
}

impl First {
    fn plant(own_network: bool) -> Result<Self, Broken> {
        let (ours, theirs) = ends().map_err(|errno| Broken::Part(Part::Report, None, errno))?;
        let (mut stack, mut second) = (Stack::new(), Stack::new());
        let processors = rustix::thread::sched_getaffinity(None).ok().filter(|all| all.count() > 1);
        let plot = Box::new(Plot::new(theirs.numbers(), own_network, processors, second.top()));
        let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWPID;
        // SAFETY: the stacks and the plot are kept here until both processes have executed something or ended; `first` keeps
        // the rules of `child`.
        let pid = unsafe { spawn_in_our_memory(flags, stack.top(), first, &*plot) };
        let pid = pid.map_err(Broken::NoProcess)?;
        drop(theirs);
        start_elsewhere(pid, processors.as_ref());
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let handle = handle.inspect_err(|_| end(pid)).map_err(Broken::NoProcess)?;
        Ok(Self { pid, handle, ours, reaped: false, plot, _stacks: (stack, second) })
    }

    /// Until there is a report, or nobody to make one: whoever has a copy of the other side, such as a process that another
    /// thread is just starting, keeps its end from being seen.
    fn wait_for_word(&self) -> Result<(), Broken> {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds =
            [PollFd::new(&self.ours.report, PollFlags::IN), PollFd::new(&self.handle, PollFlags::IN)];
        let polled = rustix::io::retry_on_intr(|| poll(&mut fds, None));
        polled.map_err(|errno| Broken::Part(Part::Report, None, errno))?;
        if fds[0].revents().is_empty() { Err(Broken::Silent) } else { Ok(()) }
    }

    /// Ends everything in the jail.
    pub(crate) fn kill(&self) {
        // Fails only when it has ended already.
        let _ended = rustix::process::pidfd_send_signal(&self.handle, Signal::KILL);
    }

    /// Waits for it to be gone; with it everything else is. Says what all of them used.
    pub(crate) fn reap(&mut self) -> Used {
        self.reaped = true;
        calls::wait_for(self.pid)
    }
}

impl Drop for First {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}

/// A first process in its namespaces, that builds what nearly every jail has and waits to be told the rest.
///
/// It can be made before anything is known of the jail but whether it has a network of its own: the kernel makes namespaces
/// while we find out the rest.
pub(crate) struct Seed {
    first: First,
    /// What it builds meanwhile. Dropped after `first`, which ends it.
    base: Box<Base>,
}

impl Seed {
    /// Makes one. Also gives what was found out about the machine.
    pub(crate) fn sow(soil: Soil) -> Result<(Self, Host), Broken> {
        let first = First::plant(soil.own_network)?;
        // The kernel is busy with namespaces meanwhile.
        let machine = machine(soil.powerful);
        let usual = usual(&machine);
        let seed = Self { first, base: Box::new(base(&usual, soil.bare)) };
        seed.first.plot.give_base(&seed.base);
        let admitted = map(seed.first.pid, &usual.identity);
        admitted.map_err(|errno| Broken::Part(Part::Identity, None, errno))?;
        seed.first.ours.leave()?;
        Ok((seed, machine))
    }

    /// Tells the process what else to build, and holds the command at the gate.
    pub(crate) fn grow(self, order: Order<'_>, plan: &Plan) -> Result<Jail, Broken> {
        let ready = idmap::ready(plan)?;
        let handles = handles(&order, &ready.mounts);
        let made = script(order, plan, &ready.mounts, &self.base);
        let (script, groups) = made.ok_or(Broken::Outgrown)?;
        let script = Box::new(script);
        self.first.plot.give(&script);
        self.send(&handles, "be given all its views")?;
        // They have them; and the processes are busy meanwhile.
        drop(ready);
        let groups: Vec<_> = groups().into_iter().map(confine::handle).collect();
        self.send(&groups, "be given its cgroups")?;
        let mut heard = self.listen(&script)?;
        let command = heard.command.take().ok_or(Broken::Silent)?;
        let Heard { root, sockets, terminal, listener, .. } = heard;
        let Self { first, base } = self;
        Ok(Jail { first, command, root, sockets, terminal, listener, _shared: (script, base) })
    }

    /// Sends descriptors, which are leave to go on. Whoever does not take them has ended, and has said why.
    fn send(&self, handles: &[BorrowedFd<'_>], what: &str) -> Result<(), Broken> {
        match send(&self.first.ours.report, handles) {
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
            sent => sent.map_err(|errno| Broken::Part(Part::Leave, Some(what.to_owned()), errno)),
        }
    }

    /// Until the command stands at the gate.
    fn listen(&self, script: &Script) -> Result<Heard, Broken> {
        let mut heard = Heard::default();
        while !(heard.ready && heard.command.is_some()) {
            self.first.wait_for_word()?;
            match self.first.ours.receive()? {
                None => return Err(Broken::Silent),
                Some((Report::Failed(part, errno), _)) => return Err(self.explain(script, part, errno)),
                Some((Report::NotStarted(errno), _)) => return Err(Broken::Part(Part::Command, None, errno)),
                Some((Report::Handles, handles)) => heard.handles(handles, script),
                Some((Report::Ready, handles)) => {
                    (heard.ready, heard.listener) = (true, handles.into_iter().next());
                }
            }
        }
        Ok(heard)
    }

    fn explain(&self, script: &Script, part: Part, errno: Errno) -> Broken {
        let Part::Tree(index) = part else { return Broken::Part(part, None, errno) };
        let step = self.base.steps.iter().chain(&script.steps).nth(usize::from(index));
        match step {
            Some(step @ Step::Layer { .. }) => Broken::Layer(step.to_string(), errno),
            step => Broken::Part(part, step.map(ToString::to_string), errno),
        }
    }
}

fn base(usual: &Usual, bare: bool) -> Base {
    let handled = landlock::about();
    let (steps, grants) = if bare {
        (Vec::new(), Vec::new())
    } else {
        let grants = landlock::rules(&usual.grants, handled.as_ref());
        (steps(&usual.skeleton, &usual.mounts, &Prepared::default()), grants)
    };
    let becomes = usual.identity.shows.map(|_| usual.identity.inside);
    Base { becomes, root: options(SCRATCH), steps, init: super::init::image(), handled, grants }
}

/// Has a new process run at once on another processor than ours, which it shall not wait for. It undoes this itself.
///
/// The scheduler likes to leave a new process where it was made until that processor is free, a millisecond later.
fn start_elsewhere(pid: Pid, processors: Option<&CpuSet>) {
    let Some(mut others) = processors.copied() else { return };
    others.unset(rustix::thread::sched_getcpu());
    // Where that is not allowed it starts later.
    let _as_it_is = rustix::thread::sched_setaffinity(Some(pid), &others);
}

/// The processes of a jail.
pub(crate) struct Jail {
    /// The first process and what leads to it.
    pub(crate) first: First,
    /// The command.
    pub(crate) command: OwnedFd,
    /// The root directory, and with it the jail's private space.
    pub(crate) root: Option<OwnedFd>,
    /// Where the supervisor listens inside the jail's network, and what it connects with.
    pub(crate) sockets: Sockets,
    /// The supervisor's side of the jail's terminal.
    pub(crate) terminal: Option<OwnedFd>,
    /// Where the calls come from that are heard of.
    pub(crate) listener: Option<OwnedFd>,
    /// What the processes share with us until they execute something. Dropped after `first`, which ends them.
    _shared: (Box<Script>, Box<Base>),
}

impl Cell for Jail {
    fn end(&self) -> BorrowedFd<'_> {
        self.first.handle.as_fd()
    }

    fn status(&self) -> BorrowedFd<'_> {
        self.first.ours.status.as_fd()
    }

    fn command(&self) -> BorrowedFd<'_> {
        self.command.as_fd()
    }

    fn private_space(&self) -> Option<BorrowedFd<'_>> {
        self.root.as_ref().map(AsFd::as_fd)
    }

    fn go(&self) -> Result<Result<(), Errno>, Broken> {
        self.first.ours.go()
    }

    fn kill(&self) {
        self.first.kill();
    }

    fn reap(&mut self) -> Used {
        self.first.reap()
    }
}

/// Everything that the first process gets beside its script, in the order of its slots: the streams, then the mounts.
fn handles<'a>(order: &Order<'_>, ready: &'a [(PathBuf, OwnedFd)]) -> Vec<BorrowedFd<'a>> {
    let numbers = order.streams.iter().flatten();
    let mut handles: Vec<BorrowedFd<'a>> = numbers.map(|number| confine::handle(*number)).collect();
    handles.extend(ready.iter().map(|(_, mount)| mount.as_fd()));
    handles
}

/// The script of a plan; `None` if what the base has done does not belong to it.
fn script<'a>(
    order: Order<'a>,
    plan: &Plan,
    ready: &[(PathBuf, OwnedFd)],
    base: &Base,
) -> Option<(Script, Groups<'a>)> {
    let mut slots = 0..;
    let streams = order.streams.map(|stream| stream.and_then(|_| slots.next()));
    let ready: Vec<_> = ready.iter().zip(slots).map(|((path, _), slot)| (path.clone(), slot)).collect();
    let prepared = Prepared { ready, kept: &plan.kept };
    let mut steps = rest(steps(&plan.skeleton, &plan.mounts, &prepared), &base.steps)?;
    steps.extend(plan.late.iter().cloned().map(made));
    let root = options(plan.scratch);
    let mut grants = landlock::rules(&plan.grants, base.handled.as_ref());
    grants.retain(|grant| !base.grants.contains(grant));
    let script = Script {
        resized: root != base.root,
        root,
        steps,
        listen: plan.listen.clone(),
        dial: plan.dial,
        cut_off: plan.own_network,
        init_words: Words::new(vec![text("ringfence".as_ref())]),
        grants,
        limits: order.limits,
        absent: plan.absent.iter().map(|path| text(path.as_os_str())).collect(),
        filter: order.filter,
        heard: order.heard,
        cwd: text(order.cwd.as_os_str()),
        start: Start {
            programs: order.programs,
            arguments: Words::new(order.argv),
            environment: variables(order.environment),
            mask: order.mask,
        },
        streams,
    };
    Some((script, order.cgroups))
}

/// An environment as the kernel takes it.
pub(super) fn variables(environment: &[(OsString, OsString)]) -> Words {
    let each = environment.iter().map(|(name, value)| {
        let mut both = name.clone();
        both.push("=");
        both.push(value);
        text(&both)
    });
    Words::new(each.collect())
}

/// One inode for every 16 KiB: enough for source trees, too few to fill the kernel's memory.
fn options(scratch: u64) -> Options {
    let number = |value: u64| text(value.to_string().as_ref());
    Options { size: number(scratch), inodes: number((scratch / 16384).max(4096)) }
}

/// The processes' ends, with what only those of a native jail have.
struct Ends {
    theirs: Theirs,
    sealed: OwnedFd,
    seal: OwnedFd,
    /// Ourselves.
    supervisor: OwnedFd,
}

fn ends() -> Result<(Ours, Ends), Errno> {
    let (ours, theirs) = wire()?;
    let (seal, sealed) = pipe()?;
    let supervisor = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    Ok((ours, Ends { theirs, sealed, seal, supervisor }))
}

impl Ends {
    fn numbers(&self) -> Numbers {
        Numbers {
            report: self.theirs.report.as_raw_fd(),
            gate: self.theirs.gate.as_raw_fd(),
            sealed: self.sealed.as_raw_fd(),
            seal: self.seal.as_raw_fd(),
            status: self.theirs.status.as_raw_fd(),
            supervisor: self.supervisor.as_raw_fd(),
        }
    }
}

/// What came over the report socket.
#[derive(Default)]
struct Heard {
    ready: bool,
    command: Option<OwnedFd>,
    root: Option<OwnedFd>,
    sockets: Sockets,
    terminal: Option<OwnedFd>,
    listener: Option<OwnedFd>,
}

/// Sockets in the jail's network that are ours.
#[derive(Default)]
pub(crate) struct Sockets {
    /// Where we listen.
    pub(crate) listeners: Vec<TcpListener>,
    /// What we connect with; each of the first half speaks IPv4, each of the second IPv6.
    pub(crate) dialers: Vec<OwnedFd>,
}

impl Heard {
    fn handles(&mut self, handles: Vec<OwnedFd>, script: &Script) {
        let mut handles = handles.into_iter();
        (self.command, self.root) = (handles.next(), handles.next());
        let dialers = if script.dial { DIALERS } else { 0 };
        self.sockets.listeners = handles.by_ref().take(script.listen.len()).map(TcpListener::from).collect();
        self.sockets.dialers = handles.by_ref().take(dialers).collect();
        self.terminal = handles.next();
    }
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
pub(super) fn write(pid: Pid, name: &str, text: impl std::fmt::Display) -> Result<(), Errno> {
    namespaces::write(&format!("/proc/{}/{name}", pid.as_raw_nonzero()), text)
}

/// Sends descriptors to the first process, which are its leave to go on.
fn send(to: &OwnedFd, handles: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    if handles.len() > Hands::MOST {
        return Err(Errno::TOOBIG);
    }
    let mut rest = handles;
    while rest.len() > Hands::AT_ONCE {
        let (some, others) = rest.split_at(Hands::AT_ONCE);
        send_some(to, some, MORE)?;
        rest = others;
    }
    send_some(to, rest, LAST)
}

fn send_some(to: &OwnedFd, handles: &[BorrowedFd<'_>], word: u8) -> Result<(), Errno> {
    let mut space = vec![MaybeUninit::uninit(); SendAncillaryMessage::ScmRights(handles).size()];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() && !control.push(SendAncillaryMessage::ScmRights(handles)) {
        return Err(Errno::NOBUFS);
    }
    let text = [word];
    let text = [rustix::io::IoSlice::new(&text)];
    rustix::net::sendmsg(to, &text, &mut control, SendFlags::NOSIGNAL).map(drop)
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
            Self::Processes { .. } => "mount the jail's processes at",
            Self::Terminals { .. } => "mount the jail's terminals at",
            Self::Lock { .. } => "make read-only",
        };
        write!(f, "{what} /{}", Shown::text(&self.path().to_string_lossy()))
    }
}
