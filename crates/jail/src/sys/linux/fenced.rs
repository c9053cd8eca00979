//! The provider for machines without namespaces: files by Landlock, sockets and system calls by seccomp, and a process that
//! ends whatever the command leaves behind.

mod warden;

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use policy::Shown;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::AddressFamily;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::calls::clone::{Stack, StackTop, end, spawn_in_our_memory};
use super::calls::confine::{self, Words};
use super::calls::{self, Used};
use super::cell::Cell;
use super::hold::{Started, Terms, begin, error, full, partial};
use super::host::{machine, with_views};
use super::landlock;
use super::native::{Broken, Order, variables};
use super::report::{Part, Report};
use super::scratch::Scratch;
use super::script::{Start, text};
use super::supervise::Running;
use super::wire::{Ours, Theirs, wire};
use crate::enforcement::{Enforcement, Level, Reached};
use crate::launch::{Command, JailError, Provider};
use crate::plan::{Access, Door, Fence, fence, moved};
use crate::seccomp::Sockets;
use crate::spec::{Network, Spec};
use warden::Post;

/// Makes a jail and stops before the command.
pub(super) fn hold(spec: &Spec, command: &Command) -> Result<(Running, Enforcement), JailError> {
    let abi = version()?;
    let fence = fence(spec, &with_views(machine(false), spec))?;
    attempt(spec, command, &fence, abi).map_err(|broken| error(Provider::Landlock, broken))
}

/// Before version 3 every file of the caller could be emptied, whatever the rules say.
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
    fence: &Fence,
    abi: u32,
) -> Result<(Running, Enforcement), Broken> {
    let scratch = Scratch::make().map_err(in_private_space)?;
    let environment = moved(&spec.environment, &scratch.home(), &scratch.tmp());
    let (ruleset, doors) = ruleset(fence, &scratch, abi)?;
    let sockets = if spec.network == Network::Open { Sockets::Internet } else { Sockets::Refused };
    let terms = Terms { environment: &environment, sockets, own_users: false, heard: None };
    let ground = Ground {
        terminal: landlock::rights(Access::Device, false) & landlock::handled(abi).files,
        unreadable: fence.unreadable.iter().map(|path| text(path.as_os_str())).collect(),
        refused: refused(sockets),
        ruleset,
        doors,
        scratch,
    };
    let (running, resources) = begin(spec, command, &terms, |order| {
        let warden = Warden::start(order, ground)?;
        let (command, terminal) = warden.listen()?;
        Ok(Started { pid: warden.pid, terminal, cell: Box::new(Fenced { warden, command }) })
    })?;
    Ok((running, enforcement(spec, abi, resources)))
}

fn in_private_space(errno: Errno) -> Broken {
    Broken::Part(Part::Root, Some("make a private directory among the temporary files".to_owned()), errno)
}

/// What Landlock allows, and handles on all of it. They have to stay open: rules are tied to what the kernel has in memory, and
/// for files that are on no disk it would make another one when it forgets the first.
fn ruleset(fence: &Fence, scratch: &Scratch, abi: u32) -> Result<(OwnedFd, Vec<OwnedFd>), Broken> {
    let part = |errno| Broken::Part(Part::Landlock, None, errno);
    let about = landlock::handled(abi);
    let ruleset = confine::landlock_create(&about).map_err(part)?;
    let allow = |handle: &OwnedFd, access| {
        let directory = FileType::from_raw_mode(rustix::fs::fstat(handle)?.st_mode) == FileType::Directory;
        let rights = landlock::rights(access, directory) & about.files;
        confine::landlock_allow(ruleset.as_fd(), handle.as_fd(), rights)
    };
    let mut handles = Vec::new();
    for door in &fence.doors {
        let what = || Some(format!("show {}", Shown::path(&door.path)));
        let broken = |errno| Broken::Part(Part::Landlock, what(), errno);
        if let Some(handle) = open(door).map_err(broken)? {
            allow(&handle, door.access).map_err(broken)?;
            handles.push(handle);
        }
    }
    for handle in scratch.handles().map_err(in_private_space)? {
        allow(&handle, Access::Write).map_err(part)?;
    }
    Ok((ruleset, handles))
}

/// What is behind a door. A view has to be the object that was judged; what the system lacks is left out.
fn open(door: &Door) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let Some(id) = door.id else {
        return match rustix::fs::open(&door.path, flags, Mode::empty()) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => Ok(None),
            opened => opened.map(Some),
        };
    };
    let opened = rustix::fs::open(&door.path, flags | OFlags::NOFOLLOW, Mode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    if (found.st_dev, found.st_ino) == id { Ok(Some(opened)) } else { Err(Errno::STALE) }
}

/// Everything but the processes.
struct Ground {
    ruleset: OwnedFd,
    doors: Vec<OwnedFd>,
    scratch: Scratch,
    /// What may be done with a terminal.
    terminal: u64,
    unreadable: Vec<CString>,
    refused: &'static [AddressFamily],
}

/// Kinds of sockets that a filter has to refuse; one that it allows is tried by using it.
const fn refused(sockets: Sockets) -> &'static [AddressFamily] {
    match sockets {
        Sockets::Refused => &[AddressFamily::UNIX, AddressFamily::INET, AddressFamily::INET6],
        Sockets::Internet => &[AddressFamily::UNIX, AddressFamily::VSOCK],
        Sockets::Namespaced => &[AddressFamily::VSOCK],
    }
}

/// The process that has the command below it. Dropping this ends everything below.
struct Warden {
    pid: Pid,
    process: OwnedFd,
    ours: Ours,
    reaped: bool,
    /// What the processes share with us until this one has ended.
    _post: Box<Post>,
    _stacks: (Stack, Stack),
    _doors: Vec<OwnedFd>,
    /// Removed last, when nobody is left to use it.
    _scratch: Scratch,
}

impl Warden {
    fn start(order: Order<'_>, ground: Ground) -> Result<Self, Broken> {
        let (ours, theirs) = wire().map_err(|errno| Broken::Part(Part::Report, None, errno))?;
        let (mut stack, mut second) = (Stack::new(), Stack::new());
        let post = Box::new(post(order, &ground, &theirs, second.top()));
        // SAFETY: the stacks and the post are kept here until the warden has ended, and with it the command; `stand` keeps the
        // rules of `warden`.
        let pid = unsafe { spawn_in_our_memory(0, stack.top(), warden::stand, &*post) };
        let pid = pid.map_err(Broken::NoProcess)?;
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let process = process.inspect_err(|_| end(pid)).map_err(Broken::NoProcess)?;
        Ok(Self {
            pid,
            process,
            ours,
            reaped: false,
            _post: post,
            _stacks: (stack, second),
            _doors: ground.doors,
            _scratch: ground.scratch,
        })
    }

    /// Until the command stands at the gate. Gives handles on it and on its terminal.
    fn listen(&self) -> Result<(OwnedFd, Option<OwnedFd>), Broken> {
        let (mut ready, mut given) = (false, None);
        loop {
            match self.ours.receive()? {
                None => return Err(Broken::Silent),
                Some((Report::Failed(part, errno), _)) => return Err(Broken::Part(part, None, errno)),
                Some((Report::NotStarted(errno), _)) => return Err(Broken::Part(Part::Command, None, errno)),
                Some((Report::Ready, _)) => ready = true,
                Some((Report::Handles, handles)) => given = Some(handles),
            }
            if ready && let Some(given) = given.take() {
                let mut given = given.into_iter();
                return given.next().map(|command| (command, given.next())).ok_or(Broken::Silent);
            }
        }
    }

    fn kill(&self) {
        // Blocked and waited for there: it ends everything below before itself. Fails only when it has ended already.
        let _ended = rustix::process::pidfd_send_signal(&self.process, Signal::TERM);
        let _ended = rustix::process::pidfd_send_signal(&self.process, Signal::CONT);
    }

    fn reap(&mut self) -> Used {
        self.reaped = true;
        calls::wait_for(self.pid)
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}

/// A command below its warden.
struct Fenced {
    warden: Warden,
    command: OwnedFd,
}

impl Cell for Fenced {
    fn end(&self) -> BorrowedFd<'_> {
        self.warden.process.as_fd()
    }

    fn status(&self) -> BorrowedFd<'_> {
        self.warden.ours.status.as_fd()
    }

    fn command(&self) -> BorrowedFd<'_> {
        self.command.as_fd()
    }

    fn private_space(&self) -> Option<BorrowedFd<'_>> {
        // It lies on a file system of the host, which others fill as well.
        None
    }

    fn go(&self) -> Result<Result<(), Errno>, Broken> {
        self.warden.ours.go()
    }

    fn kill(&self) {
        self.warden.kill();
    }

    fn reap(&mut self) -> Used {
        self.warden.reap()
    }
}

fn post(order: Order<'_>, ground: &Ground, theirs: &Theirs, stack: StackTop) -> Post {
    let cgroups = (order.cgroups)();
    let kept = kept(&order, &cgroups, ground, theirs);
    let start = Start {
        programs: order.programs,
        arguments: Words::new(order.argv),
        environment: variables(order.environment),
        mask: order.mask,
    };
    Post {
        report: theirs.report.as_raw_fd(),
        gate: theirs.gate.as_raw_fd(),
        status: theirs.status.as_raw_fd(),
        lock: ground.scratch.lock().as_raw_fd(),
        ruleset: ground.ruleset.as_raw_fd(),
        terminal: ground.terminal,
        stack,
        cgroups,
        limits: order.limits,
        filter: order.filter,
        refused: ground.refused,
        unreadable: ground.unreadable.clone(),
        cwd: text(order.cwd.as_os_str()),
        start,
        streams: order.streams,
        kept,
    }
}

/// Every descriptor that the processes use, in order.
fn kept(order: &Order<'_>, cgroups: &[RawFd], ground: &Ground, theirs: &Theirs) -> Vec<RawFd> {
    let own = [&theirs.report, &theirs.gate, &theirs.status, &ground.ruleset].map(AsRawFd::as_raw_fd);
    let given = order.streams.iter().flatten().chain(cgroups).copied();
    let lock = ground.scratch.lock().as_raw_fd();
    let mut kept: Vec<_> = (0..3).chain(own).chain([lock]).chain(given).collect();
    kept.sort_unstable();
    kept
}

/// What was reached. Everything named here was done: the jail would not be held otherwise.
fn enforcement(spec: &Spec, abi: u32, resources: Reached) -> Enforcement {
    let files = partial(
        &format!("Landlock {abi}"),
        "names, sizes and times of other files are seen, modes, times and attributes of the caller's can be changed, and \
         protected names are not protected",
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

/// Private space is a directory on the host, and nobody bounds its size.
fn bounded(resources: Reached) -> Reached {
    let own = "private space is bounded by the disk alone";
    let gap = resources.gap.map_or_else(|| own.to_owned(), |gap| format!("{gap}; {own}"));
    Reached { level: resources.level.min(Level::Partial), gap: Some(gap), ..resources }
}
