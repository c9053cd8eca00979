//! The native provider: makes the processes of a jail and holds them at the gate.

use std::ffi::{CString, OsString};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;

use super::calls::clone::{Stack, clone_in_our_memory};
use super::calls::confine::{self, Words};
use super::calls::{self, Used};
use super::child::{Plot, first};
use super::host::machine;
use super::report::{Part, Report};
use super::script::{Base, Ends, Options, Script, Start, Step, rest, steps, text};
use super::site::{Hands, LAST, MORE};
use super::{idmap, landlock};
use crate::plan::{Host, Identity, Plan, SCRATCH, usual};
use crate::seccomp::Instruction;

/// What a provider is asked for.
pub(crate) struct Order<'a> {
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) limits: Vec<(u32, u64, u64)>,
    pub(crate) filter: Vec<Instruction>,
    pub(crate) observe: Option<Vec<Instruction>>,
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

/// A first process in its namespaces, that waits to be told what to build.
///
/// It can be made before anything is known of the jail but whether it has a network of its own: the kernel makes namespaces
/// while we find out the rest. Ends everything in the jail when dropped.
pub(crate) struct Seed {
    pub(crate) pid: Pid,
    /// Readable when the first process has ended.
    pub(crate) first: OwnedFd,
    ours: Ours,
    reaped: bool,
    /// What is known of the machine.
    machine: Host,
    /// What the processes share with us until they execute something.
    plot: Box<Plot>,
    base: Box<Base>,
    _stacks: (Stack, Stack),
}

impl Seed {
    /// Makes one, and lets it build what nearly every jail has.
    pub(crate) fn sow(soil: Soil) -> Result<Self, Broken> {
        let mut seed = Self::plant(soil.own_network)?;
        // The kernel is busy with namespaces meanwhile.
        seed.machine = machine(soil.powerful);
        let usual = usual(&seed.machine);
        let becomes = usual.identity.shows.map(|_| usual.identity.inside);
        let steps = if soil.bare { Vec::new() } else { steps(&usual.skeleton, &usual.mounts, &[]) };
        let about = landlock::about();
        let grants = landlock::rules(if soil.bare { &[] } else { &usual.grants }, about.as_ref());
        let (root, init) = (options(SCRATCH), super::init::image());
        seed.base = Box::new(Base { becomes, root, steps, init, handled: about, grants });
        seed.plot.give_base(&seed.base);
        map(seed.pid, &usual.identity).map_err(|errno| Broken::Part(Part::Identity, None, errno))?;
        leave(&seed.ours.gate)?;
        Ok(seed)
    }

    fn plant(own_network: bool) -> Result<Self, Broken> {
        let (ours, theirs) = pipes().map_err(|errno| Broken::Part(Part::Report, None, errno))?;
        let (mut stack, mut second) = (Stack::new(), Stack::new());
        let processors = rustix::thread::sched_getaffinity(None).ok().filter(|all| all.count() > 1);
        let plot = Box::new(Plot::new(theirs.ends(), own_network, processors, second.top()));
        // Every signal waits, so that no handler of ours runs in a process that shares our memory.
        let mask = confine::block_signals(u64::MAX).map_err(Broken::NoProcess)?;
        let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWPID;
        // SAFETY: the stacks and the plot are kept here until both processes have executed something or ended; all
        // signals are blocked; `first` keeps the rules of `child`.
        let pid = unsafe { clone_in_our_memory(flags, stack.top(), first, &*plot) };
        let restored = confine::block_signals(mask);
        let pid = pid.map_err(Broken::NoProcess)?;
        drop(theirs);
        start_elsewhere(pid, processors.as_ref());
        let first = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let first = restored.and(first).inspect_err(|_| end(pid)).map_err(Broken::NoProcess)?;
        Ok(Self {
            pid,
            first,
            ours,
            reaped: false,
            machine: Host::unknown(),
            plot,
            base: Box::new(Base::nothing()),
            _stacks: (stack, second),
        })
    }

    /// What is known of the machine. Told once.
    pub(crate) fn machine(&mut self) -> Host {
        std::mem::replace(&mut self.machine, Host::unknown())
    }

    /// Tells the process what else to build, and holds the command at the gate.
    pub(crate) fn grow(self, order: Order<'_>, plan: &Plan) -> Result<Jail, Broken> {
        let ready = idmap::ready(plan)?;
        let handles = handles(&order, &ready.mounts);
        let made = script(order, plan, &ready.mounts, &self.base);
        let (script, groups) = made.ok_or(Broken::Outgrown)?;
        let script = Box::new(script);
        self.plot.give(&script);
        let too_many = |errno| Broken::Part(Part::Leave, Some("be given all its views".to_owned()), errno);
        send(&self.ours.report, &handles).map_err(too_many)?;
        // They have them; and the processes are busy meanwhile.
        drop(ready);
        let groups: Vec<_> = groups().into_iter().map(confine::handle).collect();
        // Whoever does not take them has ended, and has said why.
        let _ended = send(&self.ours.report, &groups);
        let mut heard = self.listen(&script)?;
        let command = heard.command.take().ok_or(Broken::Silent)?;
        let Heard { root, listeners, terminal, listener, .. } = heard;
        Ok(Jail { seed: self, command, root, listeners, terminal, listener, _script: script })
    }

    /// Until the command stands at the gate.
    fn listen(&self, script: &Script) -> Result<Heard, Broken> {
        let mut heard = Heard::default();
        while !(heard.ready && heard.command.is_some()) {
            self.wait_for_word()?;
            match receive(&self.ours.report).map_err(|errno| Broken::Part(Part::Report, None, errno))? {
                None => return Err(Broken::Silent),
                Some((Report::Failed(part, errno), _)) => return Err(self.explain(script, part, errno)),
                Some((Report::NotStarted(errno), _)) => return Err(Broken::Part(Part::Command, None, errno)),
                Some((Report::Handles, handles)) => heard.handles(handles, script.listen.len()),
                Some((Report::Ready, handles)) => {
                    (heard.ready, heard.listener) = (true, handles.into_iter().next());
                }
            }
        }
        Ok(heard)
    }

    /// Until there is a report. The end of the processes is no end of the socket while we hold both sides.
    fn wait_for_word(&self) -> Result<(), Broken> {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds =
            [PollFd::new(&self.ours.report, PollFlags::IN), PollFd::new(&self.first, PollFlags::IN)];
        let polled = rustix::io::retry_on_intr(|| poll(&mut fds, None));
        polled.map_err(|errno| Broken::Part(Part::Report, None, errno))?;
        if fds[0].revents().is_empty() { Err(Broken::Silent) } else { Ok(()) }
    }

    fn explain(&self, script: &Script, part: Part, errno: Errno) -> Broken {
        let Part::Tree(index) = part else { return Broken::Part(part, None, errno) };
        let step = self.base.steps.iter().chain(&script.steps).nth(usize::from(index));
        Broken::Part(part, step.map(ToString::to_string), errno)
    }

    /// Ends everything in the jail.
    pub(crate) fn kill(&self) {
        // Fails only when it has ended already.
        let _ended = rustix::process::pidfd_send_signal(&self.first, Signal::KILL);
    }

    /// Waits for the first process to be gone; with it everything else is. Says what all of them used.
    pub(crate) fn reap(&mut self) -> Used {
        self.reaped = true;
        calls::wait_for(self.pid)
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
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

/// Ends a child of ours that is not reaped, so that its number is still its own.
pub(super) fn end(pid: Pid) {
    let _ended = rustix::process::kill_process(pid, Signal::KILL);
    calls::wait_for(pid);
}

/// The processes of a jail.
pub(crate) struct Jail {
    /// The first process and what leads to it.
    pub(crate) seed: Seed,
    /// The command.
    pub(crate) command: OwnedFd,
    /// The root directory, and with it the jail's private space.
    pub(crate) root: Option<OwnedFd>,
    /// Where the supervisor listens inside the jail's network.
    pub(crate) listeners: Vec<TcpListener>,
    /// The supervisor's side of the jail's terminal.
    pub(crate) terminal: Option<OwnedFd>,
    /// Where observed calls come from.
    pub(crate) listener: Option<OwnedFd>,
    /// What the processes share with us until they execute something. Dropped after `seed`, which ends them.
    _script: Box<Script>,
}

impl Jail {
    /// Where the wait status of the command comes from.
    pub(crate) fn status(&self) -> &OwnedFd {
        &self.seed.ours.status
    }

    /// Lets the command go. Comes back when it runs, or with the reason why it could not be executed.
    pub(crate) fn go(&self) -> Result<Result<(), Errno>, Broken> {
        leave(&self.seed.ours.gate)?;
        match receive(&self.seed.ours.report).map_err(|errno| Broken::Part(Part::Report, None, errno))? {
            // Both processes have executed something: nobody shares our memory any more.
            None => Ok(Ok(())),
            Some((Report::NotStarted(errno), _)) => Ok(Err(errno)),
            Some((Report::Failed(part, errno), _)) => Err(Broken::Part(part, None, errno)),
            Some(_) => Err(Broken::Silent),
        }
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
    let steps = rest(steps(&plan.skeleton, &plan.mounts, &ready), &base.steps)?;
    let root = options(plan.scratch);
    let mut grants = landlock::rules(&plan.grants, base.handled.as_ref());
    grants.retain(|grant| !base.grants.contains(grant));
    let script = Script {
        resized: root != base.root,
        root,
        steps,
        listen: plan.listen.clone(),
        cut_off: plan.own_network,
        init_words: Words::new(vec![text("ringfence".as_ref())]),
        grants,
        limits: order.limits,
        absent: plan.absent.iter().map(|path| text(path.as_os_str())).collect(),
        filter: order.filter,
        observe: order.observe,
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

/// The supervisor's ends of everything between it and a jail's processes.
struct Ours {
    report: OwnedFd,
    gate: OwnedFd,
    status: OwnedFd,
}

/// The processes' ends.
struct Theirs {
    report: OwnedFd,
    gate: OwnedFd,
    sealed: OwnedFd,
    seal: OwnedFd,
    status: OwnedFd,
    /// Ourselves.
    supervisor: OwnedFd,
}

fn pipes() -> Result<(Ours, Theirs), Errno> {
    let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC);
    let flags = SocketFlags::CLOEXEC;
    let (our_report, report) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    let ((gate, our_gate), (seal, sealed), (our_status, status)) = (pipe()?, pipe()?, pipe()?);
    let ours = Ours { report: our_report, gate: our_gate, status: our_status };
    let supervisor = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    Ok((ours, Theirs { report, gate, sealed, seal, status, supervisor }))
}

impl Theirs {
    fn ends(&self) -> Ends {
        Ends {
            report: self.report.as_raw_fd(),
            gate: self.gate.as_raw_fd(),
            sealed: self.sealed.as_raw_fd(),
            seal: self.seal.as_raw_fd(),
            status: self.status.as_raw_fd(),
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
    listeners: Vec<TcpListener>,
    terminal: Option<OwnedFd>,
    listener: Option<OwnedFd>,
}

impl Heard {
    fn handles(&mut self, handles: Vec<OwnedFd>, listeners: usize) {
        let mut handles = handles.into_iter();
        (self.command, self.root) = (handles.next(), handles.next());
        self.listeners = handles.by_ref().take(listeners).map(TcpListener::from).collect();
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
    write(pid, "uid_map", &format!("{} {} 1", inside.uid, outside.uid))?;
    write(pid, "gid_map", &format!("{} {} 1", inside.gid, outside.gid))
}

pub(super) fn write(pid: Pid, name: &str, text: &str) -> Result<(), Errno> {
    use rustix::fs::{Mode, OFlags};
    let path = format!("/proc/{}/{name}", pid.as_raw_nonzero());
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    let written = rustix::io::write(file, text.as_bytes())?;
    if written == text.len() { Ok(()) } else { Err(Errno::IO) }
}

pub(super) fn leave(gate: &OwnedFd) -> Result<(), Broken> {
    rustix::io::write(gate, b"!").map(drop).map_err(|errno| Broken::Part(Part::Leave, None, errno))
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

/// The next report and what came with it; `None` when nobody is left to report.
pub(super) fn receive(from: &OwnedFd) -> Result<Option<(Report, Vec<OwnedFd>)>, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(24))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0_u8; 8];
    let mut text = [rustix::io::IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| rustix::net::recvmsg(from, &mut text, &mut control, flags))?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles.collect::<Vec<_>>()),
        _ => None,
    });
    let handles = handles.flatten().collect();
    Report::read(bytes).map(|report| Some((report, handles))).ok_or(Errno::PROTO)
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use policy::Shown;
        let what = match self {
            Self::Directory { .. } => "make the directory",
            Self::Link { .. } => "make the link",
            Self::File { .. } => "make the file",
            Self::Bind { .. } | Self::Ready { .. } => "show",
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
