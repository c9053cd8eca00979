//! The native provider: makes the processes of a jail and holds them at the gate.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::calls::clone::{Stack, clone_in_our_memory};
use super::calls::confine::{self, Words};
use super::calls::{self, Used};
use super::child::{Build, first};
use super::report::{Part, Report};
use super::script::{Ends, Options, Script, Step, steps, text};
use super::{idmap, landlock};
use crate::plan::{Identity, Plan};
use crate::seccomp::Instruction;

/// What the native provider is asked for.
pub(crate) struct Order<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) limits: Vec<(u32, u64, u64)>,
    pub(crate) filter: Vec<Instruction>,
    pub(crate) observe: Option<Vec<Instruction>>,
    pub(crate) argv: Vec<CString>,
    pub(crate) programs: Vec<CString>,
    pub(crate) cwd: &'a Path,
    /// The standard streams; `None` is a terminal of the jail's own.
    pub(crate) streams: [Option<RawFd>; 3],
    /// What is written to in order to join the jail's cgroups.
    pub(crate) cgroups: Vec<RawFd>,
}

/// Why there is no jail.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The first process could not be made at all.
    NoProcess(Errno),
    /// A part failed.
    Part(Part, Option<String>, Errno),
    /// The processes ended without a word.
    Silent,
}

/// The processes of a jail. Ends them when dropped.
pub(crate) struct Jail {
    /// The first process.
    pub(crate) first: OwnedFd,
    pub(crate) pid: Pid,
    /// The command.
    pub(crate) command: OwnedFd,
    /// The root directory, and with it the jail's private space.
    pub(crate) root: Option<OwnedFd>,
    /// The supervisor's side of the jail's terminal.
    pub(crate) terminal: Option<OwnedFd>,
    /// Where observed calls come from.
    pub(crate) listener: Option<OwnedFd>,
    /// Where the wait status of the command comes from.
    pub(crate) status: OwnedFd,
    report: OwnedFd,
    gate: OwnedFd,
    reaped: bool,
    /// What the processes share with us until they execute something.
    _shared: (Box<Build>, Stack, Stack),
}

/// Makes a jail and holds its command at the gate.
pub(crate) fn make(order: Order<'_>) -> Result<Jail, Broken> {
    let identity = order.plan.identity.clone();
    let ready = idmap::ready(order.plan)?;
    let pipes = Pipes::open().map_err(|errno| Broken::Part(Part::Report, None, errno))?;
    // Every signal waits from here on, so that no handler of ours runs in a process that shares our memory.
    let mask = confine::block_signals(u64::MAX).map_err(Broken::NoProcess)?;
    let started = start(order, &ready, &pipes, mask);
    let restored = confine::block_signals(mask).map(drop).map_err(Broken::NoProcess);
    let (pid, shared) = started?;
    let starting = Starting { pid, shared, pipes: pipes.ours() };
    restored?;
    starting.admit(&identity)
}

type Shared = (Box<Build>, Stack, Stack);

fn start(
    order: Order<'_>,
    ready: &[(PathBuf, OwnedFd)],
    pipes: &Pipes,
    mask: u64,
) -> Result<(Pid, Shared), Broken> {
    let (mut stack, mut second) = (Stack::new(), Stack::new());
    let script = script(order, ready, pipes.ends(), mask);
    let build = Box::new(Build { script, stack: second.top() });
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWPID;
    // SAFETY: the stacks and the script are kept in `Jail` until both processes have executed something or ended; all signals
    // are blocked; `first` keeps the rules of `child`.
    let pid = unsafe { clone_in_our_memory(flags, stack.top(), first, &*build) };
    Ok((pid.map_err(Broken::NoProcess)?, (build, stack, second)))
}

fn script(order: Order<'_>, ready: &[(PathBuf, OwnedFd)], ends: Ends, mask: u64) -> Script {
    let plan = order.plan;
    let ready: Vec<_> = ready.iter().map(|(path, mount)| (path.clone(), mount.as_raw_fd())).collect();
    let (handled, grants) = landlock::rules(plan);
    let own = libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;
    let environment = plan.environment.iter().map(|(name, value)| {
        let mut both = name.clone();
        both.push("=");
        both.push(value);
        text(&both)
    });
    Script {
        cgroups: order.cgroups,
        namespaces: own | if plan.own_network { libc::CLONE_NEWNET } else { 0 },
        becomes: plan.identity.shows.map(|_| plan.identity.inside),
        root: options(plan.scratch),
        steps: steps(plan, &ready),
        loopback: plan.own_network,
        init: super::init::image(),
        init_words: Words::new(vec![text("ringfence".as_ref())]),
        handled,
        grants,
        limits: order.limits,
        absent: plan.absent.iter().map(|path| text(path.as_os_str())).collect(),
        filter: order.filter,
        observe: order.observe,
        cwd: text(order.cwd.as_os_str()),
        programs: order.programs,
        arguments: Words::new(order.argv),
        environment: Words::new(environment.collect()),
        mask,
        streams: order.streams,
        ends,
    }
}

/// One inode for every 8 KiB: enough for source trees, too few to fill the kernel's memory.
fn options(scratch: u64) -> Options {
    let number = |value: u64| text(value.to_string().as_ref());
    Options { size: number(scratch), inodes: number((scratch / 8192).max(4096)) }
}

/// Both ends of everything between a jail's processes and their supervisor.
struct Pipes {
    report: (OwnedFd, OwnedFd),
    gate: (OwnedFd, OwnedFd),
    seal: (OwnedFd, OwnedFd),
    status: (OwnedFd, OwnedFd),
}

/// The supervisor's ends: report, gate, status.
struct Ours(OwnedFd, OwnedFd, OwnedFd);

impl Pipes {
    fn open() -> Result<Self, Errno> {
        let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC);
        let flags = SocketFlags::CLOEXEC;
        Ok(Self {
            report: rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?,
            gate: pipe()?,
            seal: pipe()?,
            status: pipe()?,
        })
    }

    fn ends(&self) -> Ends {
        Ends {
            report: self.report.1.as_raw_fd(),
            gate: self.gate.0.as_raw_fd(),
            sealed: self.seal.1.as_raw_fd(),
            seal: self.seal.0.as_raw_fd(),
            status: self.status.1.as_raw_fd(),
        }
    }

    /// Closes the others': from now on their end is the processes' end.
    fn ours(self) -> Ours {
        Ours(self.report.0, self.gate.1, self.status.0)
    }
}

/// A first process that waits for its user and for leave to go on.
struct Starting {
    pid: Pid,
    shared: Shared,
    pipes: Ours,
}

impl Starting {
    fn admit(self, identity: &Identity) -> Result<Jail, Broken> {
        let admitted = map(self.pid, identity).map_err(|errno| Broken::Part(Part::Identity, None, errno));
        let heard = admitted.and_then(|()| leave(&self.pipes.1)).and_then(|()| self.listen());
        heard.inspect_err(|_| self.end()).and_then(|heard| self.jail(heard))
    }

    /// Until the command stands at the gate.
    fn listen(&self) -> Result<Heard, Broken> {
        let mut heard = Heard::default();
        while !(heard.ready && heard.command.is_some()) {
            match receive(&self.pipes.0).map_err(|errno| Broken::Part(Part::Report, None, errno))? {
                None => return Err(Broken::Silent),
                Some((Report::Failed(part, errno), _)) => return Err(self.explain(part, errno)),
                Some((Report::NotStarted(errno), _)) => return Err(Broken::Part(Part::Command, None, errno)),
                Some((Report::Handles, handles)) => {
                    let mut handles = handles.into_iter();
                    (heard.command, heard.root, heard.terminal) =
                        (handles.next(), handles.next(), handles.next());
                }
                Some((Report::Ready, handles)) => {
                    (heard.ready, heard.listener) = (true, handles.into_iter().next());
                }
            }
        }
        Ok(heard)
    }

    fn explain(&self, part: Part, errno: Errno) -> Broken {
        let Part::Tree(index) = part else { return Broken::Part(part, None, errno) };
        let step = self.shared.0.script.steps.get(usize::from(index));
        Broken::Part(part, step.map(ToString::to_string), errno)
    }

    fn end(&self) {
        // It is our child and not reaped, so this is the process we mean; if it has ended already, all the better.
        let _ended = rustix::process::kill_process(self.pid, Signal::KILL);
        let _reaped = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
    }

    fn jail(self, heard: Heard) -> Result<Jail, Broken> {
        let silent = || Broken::Silent;
        let first = rustix::process::pidfd_open(self.pid, PidfdFlags::empty());
        let first =
            first.inspect_err(|_| self.end()).map_err(|errno| Broken::Part(Part::Command, None, errno))?;
        let Ours(report, gate, status) = self.pipes;
        Ok(Jail {
            first,
            pid: self.pid,
            command: heard.command.ok_or_else(silent)?,
            root: heard.root,
            terminal: heard.terminal,
            listener: heard.listener,
            status,
            report,
            gate,
            reaped: false,
            _shared: self.shared,
        })
    }
}

/// What came over the report socket.
#[derive(Default)]
struct Heard {
    ready: bool,
    command: Option<OwnedFd>,
    root: Option<OwnedFd>,
    terminal: Option<OwnedFd>,
    listener: Option<OwnedFd>,
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

fn leave(gate: &OwnedFd) -> Result<(), Broken> {
    rustix::io::write(gate, b"!").map(drop).map_err(|errno| Broken::Part(Part::Leave, None, errno))
}

/// The next report and what came with it; `None` when nobody is left to report.
fn receive(from: &OwnedFd) -> Result<Option<(Report, Vec<OwnedFd>)>, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
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

impl Jail {
    /// Lets the command go. Comes back when it runs, or with the reason why it could not be executed.
    pub(crate) fn go(&self) -> Result<Result<(), Errno>, Broken> {
        leave(&self.gate)?;
        match receive(&self.report).map_err(|errno| Broken::Part(Part::Report, None, errno))? {
            // Both processes have executed something: nobody shares our memory any more.
            None => Ok(Ok(())),
            Some((Report::NotStarted(errno), _)) => Ok(Err(errno)),
            Some((Report::Failed(part, errno), _)) => Err(Broken::Part(part, None, errno)),
            Some(_) => Err(Broken::Silent),
        }
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

impl Drop for Jail {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use policy::Shown;
        let (what, path) = match self {
            Self::Directory { path, .. } => ("make the directory", path),
            Self::Link { path, .. } => ("make the link", path),
            Self::File { path, .. } => ("make the file", path),
            Self::Bind { path, .. } | Self::Ready { path, .. } => ("show", path),
            Self::Device { path, .. } => ("show the device", path),
            Self::Scratch { path } | Self::Fresh { path } => ("make private space at", path),
            Self::Empty { path, .. } => ("hide", path),
            Self::Processes { path } => ("mount the jail's processes at", path),
            Self::Terminals { path } => ("mount the jail's terminals at", path),
            Self::Lock { path } => ("make read-only", path),
        };
        write!(f, "{what} /{}", Shown::text(&path.to_string_lossy()))
    }
}
