//! The processes that build a jail from inside.
//!
//! **Invariant.** Until they execute something they share the supervisor's memory. Nothing here allocates, panics, or uses the
//! C library (but for closing a handle, which leaves nothing behind); everything they need was prepared in a [`Script`], which
//! nobody changes while they run.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicPtr, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::Pid;
use rustix::thread::{CpuSet, UnshareFlags};

use super::calls::clone::{StackTop, clone_in_our_memory};
use super::calls::confine::{self, handle};
use super::report::{Part, Report};
use super::script::{Base, Numbers, Script, Start, Step};
use super::site::{self, Hands, Site};
use super::{calls, namespaces};

/// What both processes are given.
pub(super) struct Plot {
    ends: Numbers,
    own_network: bool,
    /// Where the process may run, if the supervisor has told it to start elsewhere.
    processors: Option<CpuSet>,
    /// The stack of the second process.
    stack: StackTop,
    /// What is done before the jail is known. Given when it is ready; the first process waits for leave before it looks.
    base: AtomicPtr<Base>,
    /// The rest, given in the same way.
    script: AtomicPtr<Script>,
}

impl Plot {
    pub(super) fn new(ends: Numbers, own_network: bool, processors: Option<CpuSet>, stack: StackTop) -> Self {
        let (base, script) = (AtomicPtr::new(std::ptr::null_mut()), AtomicPtr::new(std::ptr::null_mut()));
        Self { ends, own_network, processors, stack, base, script }
    }

    /// Gives the base, which stays alive and unchanged until both processes have executed something or ended.
    pub(super) fn give_base(&self, base: &Base) {
        self.base.store(std::ptr::from_ref(base).cast_mut(), Ordering::Release);
    }

    /// Gives the script, which stays alive and unchanged until both processes have executed something or ended.
    pub(super) fn give(&self, script: &Script) {
        self.script.store(std::ptr::from_ref(script).cast_mut(), Ordering::Release);
    }
}

/// Where a step of ours failed, and how.
pub(super) type Tried<T> = Result<T, (Part, Errno)>;

/// Names the step that a call belongs to.
pub(super) trait At<T> {
    fn at(self, part: Part) -> Tried<T>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, part: Part) -> Tried<T> {
        self.map_err(|errno| (part, errno))
    }
}

/// The first process: builds, starts the second, and becomes the one that reaps.
pub(super) extern "C" fn first(plot: &Plot) -> ! {
    let Err((part, errno)) = build_and_stay(plot);
    tell(handle(plot.ends.report), Report::Failed(part, errno));
    confine::end(1)
}

enum Never {}

fn build_and_stay(plot: &Plot) -> Tried<Never> {
    // The tree is made as it is written down; the command has the caller's again.
    let umask = rustix::process::umask(Mode::empty());
    prepare(plot)?;
    wait_for_leave(plot.ends.gate).at(Part::Leave)?;
    let base = calls::given(&plot.base).ok_or((Part::Leave, Errno::FAULT))?;
    let begun = begin(plot, base)?;
    let hands = Hands::receive(plot.ends.report).at(Part::Leave)?;
    let script = calls::given(&plot.script).ok_or((Part::Leave, Errno::FAULT))?;
    complete(script, base, &begun, &hands)?;
    join_groups(plot)?;
    let terminal = if script.streams.contains(&None) { Some(open_terminal()?) } else { None };
    let (listeners, dialers) = (listeners(script)?, dialers(script)?);
    confine::filter(&script.filter).at(Part::Filter)?;
    let second = Second {
        plot,
        script,
        hands: &hands,
        umask,
        ruleset: begun.ruleset.as_ref().map(AsFd::as_fd),
        terminal: terminal.as_ref().map(|(_, slave)| slave.as_fd()),
    };
    // SAFETY: `second` lives on this stack, which is not left before `stay` executes something; the second process is
    // told only then to go on past its last use of it. Signals are blocked since before the first process was made.
    let pid = unsafe { clone_in_our_memory(0, plot.stack, second_main, &second) }.at(Part::Command)?;
    let master = terminal.as_ref().map(|(master, _)| master.as_fd());
    hand_over(plot, &begun.root, [&listeners[..], &dialers[..]], master, pid)?;
    stay(plot, script, &begun.init)
}

/// What can be done before anything is known about the jail.
fn prepare(plot: &Plot) -> Tried<()> {
    // Another thread may be making a jail: whoever keeps a copy of its ends keeps it from seeing that they are closed.
    confine::close_all_but(plot.ends.and_standard_streams()).at(Part::Report)?;
    live_and_die_with(plot).at(Part::Lifeline)?;
    let own = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    let network = if plot.own_network { UnshareFlags::NEWNET } else { UnshareFlags::empty() };
    calls::unshare_namespaces(own | network).at(Part::Namespaces)?;
    if plot.own_network {
        namespaces::loopback().at(Part::Loopback)?;
    }
    rustix::system::sethostname(b"ringfence").at(Part::HostName)
}

/// What is made before the jail is known.
struct Begun {
    root: OwnedFd,
    init: OwnedFd,
    ruleset: Option<OwnedFd>,
}

/// What nearly every jail has, and what none has.
fn begin(plot: &Plot, base: &Base) -> Tried<Begun> {
    use rustix::mount::MountPropagationFlags;
    // With leave to go on: not before the supervisor has told where to start.
    if let Some(processors) = &plot.processors {
        rustix::thread::sched_setaffinity(None, processors).at(Part::Lifeline)?;
    }
    if let Some(who) = base.becomes {
        confine::become_owner(who.uid, who.gid).at(Part::Identity)?;
        // The kernel forgets it with the old identity.
        live_and_die_with(plot).at(Part::Lifeline)?;
    }
    confine::new_keyring().or_else(without_keyrings).at(Part::Keyring)?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private).at(Part::Private)?;
    let root = site::private_root(&base.root).at(Part::Root)?;
    // Nobody else has anything to say about these paths: they are the system's or our own.
    let site = Site { root: root.as_fd(), options: &base.root, hands: &Hands::EMPTY, shared: false };
    build(&site, &base.steps, 0)?;
    let init = site::write_init(root.as_fd(), &base.init).at(Part::Init)?;
    let ruleset = landlock(base, root.as_fd())?;
    renounce()?;
    Ok(Begun { root, init, ruleset })
}

/// The rest of the tree, and into it.
fn complete(script: &Script, base: &Base, begun: &Begun, hands: &Hands) -> Tried<()> {
    let root = begun.root.as_fd();
    if script.resized {
        site::resize(root, &script.root).at(Part::Root)?;
    }
    let site = Site { root, options: &script.root, hands, shared: true };
    build(&site, &script.steps, base.steps.len())?;
    allow(begun.ruleset.as_ref(), &script.grants, root)?;
    site::clear_scaffold(root).at(Part::Root)?;
    site::lock(root).at(Part::Root)?;
    site::pivot(root).at(Part::Pivot)
}

/// Performs steps; the first of them has a number, by which the supervisor finds the one that failed.
fn build(site: &Site<'_>, steps: &[Step], first: usize) -> Tried<()> {
    for (index, step) in steps.iter().enumerate() {
        let number = u16::try_from(first.saturating_add(index)).unwrap_or(u16::MAX);
        site.perform(step).at(Part::Tree(number))?;
    }
    Ok(())
}

/// Joins the jail's cgroups, which come last: the supervisor makes them while the tree is built.
fn join_groups(plot: &Plot) -> Tried<()> {
    let groups = Hands::receive(plot.ends.report).at(Part::Leave)?;
    groups.numbers().iter().try_for_each(|entrance| join(*entrance)).at(Part::Cgroup)?;
    calls::unshare_namespaces(UnshareFlags::NEWCGROUP).at(Part::Namespaces)
}

/// Binds the life of this process to the supervisor's. One that has died before is seen by its handle.
fn live_and_die_with(plot: &Plot) -> Result<(), Errno> {
    confine::die_with_parent()?;
    let supervisor = handle(plot.ends.supervisor);
    let mut fds = [PollFd::new(&supervisor, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut fds, Some(&now))? == 0 { Ok(()) } else { Err(Errno::SRCH) }
}

/// Moves this process into a cgroup. The handle was opened by the supervisor, whose right to do this counts.
pub(super) fn join(entrance: RawFd) -> Result<(), Errno> {
    rustix::io::write(handle(entrance), b"0").map(drop)
}

/// A kernel without keyrings has none to leave.
pub(super) fn without_keyrings(errno: Errno) -> Result<(), Errno> {
    if errno == Errno::NOSYS { Ok(()) } else { Err(errno) }
}

/// One byte through a gate from the supervisor. Its death is the end of this process, too.
pub(super) fn wait_for_leave(gate: RawFd) -> Result<(), Errno> {
    let mut byte = [0_u8];
    match rustix::io::retry_on_intr(|| rustix::io::read(handle(gate), &mut byte))? {
        1 => Ok(()),
        _ => Err(Errno::PIPE),
    }
}

/// The ruleset, with what nearly every jail allows.
fn landlock(base: &Base, root: BorrowedFd<'_>) -> Tried<Option<OwnedFd>> {
    let Some(handled) = &base.handled else { return Ok(None) };
    let ruleset = confine::landlock_create(handled).at(Part::Landlock)?;
    allow(Some(&ruleset), &base.grants, root)?;
    Ok(Some(ruleset))
}

/// Allows what a jail may do beneath its paths, which are relative to its root.
fn allow(ruleset: Option<&OwnedFd>, grants: &[(CString, u64)], root: BorrowedFd<'_>) -> Tried<()> {
    let Some(ruleset) = ruleset else { return Ok(()) };
    for (path, access) in grants {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let straight = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let opened = rustix::fs::openat2(root, path.as_c_str(), flags, Mode::empty(), straight);
        let opened = opened.at(Part::Landlock)?;
        confine::landlock_allow(ruleset.as_fd(), opened.as_fd(), *access).at(Part::Landlock)?;
    }
    Ok(())
}

/// As many as a spec can ask for.
const LISTENERS: usize = 16;

/// Sockets inside the jail's network, for the supervisor. Nobody inside gets them: they are closed when something is executed.
fn listeners(script: &Script) -> Tried<[Option<OwnedFd>; LISTENERS]> {
    let mut made = [const { None }; LISTENERS];
    for (place, address) in made.iter_mut().zip(&script.listen) {
        *place = Some(listener(address).at(Part::Listen)?);
    }
    Ok(made)
}

fn listener(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&socket, address)?;
    rustix::net::listen(&socket, 128)?;
    Ok(socket)
}

/// How many connections into a jail there can be at once, of each version of the protocol.
const HALF: usize = 32;
/// How many sockets there are for them.
pub(super) const DIALERS: usize = 2 * HALF;

/// Sockets that belong to the jail's network wherever they are used, for the supervisor to connect with. Where there is no IPv6
/// the second half is more of the first.
fn dialers(script: &Script) -> Tried<[Option<OwnedFd>; DIALERS]> {
    let mut made = [const { None }; DIALERS];
    if !script.dial {
        return Ok(made);
    }
    for (number, place) in made.iter_mut().enumerate() {
        let family = if number < HALF { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket =
            |family| rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        *place = Some(socket(family).or_else(|_| socket(AddressFamily::INET)).at(Part::Listen)?);
    }
    Ok(made)
}

/// A terminal of the jail's own, and the session it belongs to.
pub(super) fn open_terminal() -> Tried<(OwnedFd, OwnedFd)> {
    use rustix::pty::OpenptFlags;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags).at(Part::Terminal)?;
    rustix::pty::unlockpt(&master).at(Part::Terminal)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).at(Part::Terminal)?;
    // The first process leads the session, so that the command is stopped and continued like a job of a shell.
    rustix::process::setsid().at(Part::Session)?;
    rustix::process::ioctl_tiocsctty(&slave).at(Part::Terminal)?;
    Ok((master, slave))
}

/// Gives the supervisor handles on the command, the root, the sockets that it listens on and connects with, and the terminal, in
/// this order.
fn hand_over(
    plot: &Plot,
    root: &OwnedFd,
    sockets: [&[Option<OwnedFd>]; 2],
    master: Option<BorrowedFd<'_>>,
    pid: Pid,
) -> Tried<()> {
    let command = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).at(Part::Command)?;
    let all = [Some(command.as_fd()), Some(root.as_fd())].into_iter();
    let sockets = sockets.into_iter().flatten().map(|socket| socket.as_ref().map(AsFd::as_fd));
    let all = all.chain(sockets).chain([master]);
    let (mut handles, mut count) = ([command.as_fd(); HANDLES], 0_usize);
    for (place, handle) in handles.iter_mut().zip(all.flatten()) {
        *place = handle;
        count = count.saturating_add(1);
    }
    let handles = handles.get(..count).unwrap_or_default();
    send(handle(plot.ends.report), Report::Handles, handles).at(Part::Report)
}

/// As many as are ever handed over at once.
pub(super) const HANDLES: usize = LISTENERS + DIALERS + 3;

pub(super) fn send(to: BorrowedFd<'_>, report: Report, handles: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() && !control.push(SendAncillaryMessage::ScmRights(handles)) {
        return Err(Errno::NOBUFS);
    }
    let bytes = report.bytes();
    let text = [rustix::io::IoSlice::new(&bytes)];
    rustix::net::sendmsg(to, &text, &mut control, SendFlags::NOSIGNAL).map(drop)
}

pub(super) fn tell(to: BorrowedFd<'_>, report: Report) {
    // When nobody listens any more there is nobody to tell that to.
    let _nobody_listens = send(to, report, &[]);
}

/// Becomes the process that reaps. Its end is the end of the jail.
fn stay(plot: &Plot, script: &Script, init: &OwnedFd) -> Tried<Never> {
    // Descriptor 3 is the only one it has. The image may have that number by chance.
    let init = &rustix::io::fcntl_dupfd_cloexec(init, 4).at(Part::Init)?;
    confine::duplicate(handle(plot.ends.status), 3).at(Part::Init)?;
    (0..3).for_each(confine::close);
    confine::close_on_exec_from(4).at(Part::Init)?;
    confine::drop_capabilities().at(Part::Capabilities)?;
    let errno = confine::execute_handle(init.as_fd(), &script.init_words);
    Err((Part::Init, errno))
}

/// What nobody in the jail can ever have again; the second process inherits it.
fn renounce() -> Tried<()> {
    confine::no_new_privileges().at(Part::NoNewPrivileges)?;
    confine::empty_bounding_set().at(Part::Capabilities)?;
    confine::lock_secure_bits().at(Part::Capabilities)
}

/// What the second process is given.
struct Second<'a> {
    plot: &'a Plot,
    script: &'a Script,
    hands: &'a Hands,
    umask: Mode,
    ruleset: Option<BorrowedFd<'a>>,
    terminal: Option<BorrowedFd<'a>>,
}

extern "C" fn second_main(second: &Second<'_>) -> ! {
    let report = handle(second.plot.ends.report);
    match confine_and_wait(second) {
        Ok(()) => tell(report, Report::NotStarted(start(&second.script.start))),
        Err((part, errno)) => tell(report, Report::Failed(part, errno)),
    }
    confine::end(127)
}

fn confine_and_wait(second: &Second<'_>) -> Tried<()> {
    let (plot, script) = (second.plot, second.script);
    confine::close(plot.ends.sealed);
    rustix::process::umask(second.umask);
    session(second.terminal).at(Part::Session)?;
    let three = second.hands.numbers_of(&script.streams).at(Part::Streams)?;
    streams(&three, second.terminal).at(Part::Streams)?;
    script
        .limits
        .iter()
        .try_for_each(|(what, soft, hard)| confine::limit(*what, *soft, *hard))
        .at(Part::Limits)?;
    rustix::process::chdir(script.cwd.as_c_str()).at(Part::Cwd)?;
    confine::drop_capabilities().at(Part::Capabilities)?;
    second.ruleset.map_or(Ok(()), confine::landlock_enter).at(Part::Landlock)?;
    check(script)?;
    let listener = hear(script)?;
    let handles = listener.as_ref().map(AsFd::as_fd);
    send(handle(plot.ends.report), Report::Ready, handles.as_slice()).at(Part::Report)?;
    drop(listener);
    wait_for_leave(plot.ends.gate).at(Part::Leave)?;
    wait_for_seal(plot).at(Part::Seal)
}

pub(super) fn session(terminal: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
    let Some(terminal) = terminal else { return rustix::process::setsid().map(drop) };
    let own = rustix::process::getpid();
    rustix::process::setpgid(None, Some(own))?;
    rustix::termios::tcsetpgrp(terminal, own)
}

pub(super) fn streams(three: &[Option<RawFd>; 3], terminal: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
    for (number, from) in (0..).zip(three) {
        let from = match (from, terminal) {
            (Some(from), _) => handle(*from),
            (None, Some(terminal)) => terminal,
            (None, None) => return Err(Errno::BADF),
        };
        confine::duplicate(from, number)?;
    }
    confine::close_on_exec_from(3)
}

/// The jail is tried before it is trusted: what must not be there is not there.
fn check(script: &Script) -> Tried<()> {
    for path in &script.absent {
        if rustix::fs::statat(rustix::fs::CWD, path.as_c_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err((Part::HostVisible, Errno::EXIST));
        }
    }
    if script.cut_off && reaches_out().at(Part::NetworkAlive)? {
        return Err((Part::NetworkAlive, Errno::ISCONN));
    }
    Ok(())
}

/// Whether there is a way to an address that is reserved for documents. Nothing is sent: connecting a datagram socket looks up
/// the way and no more.
fn reaches_out() -> Result<bool, Errno> {
    use std::net::{Ipv4Addr, SocketAddrV4};
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    match rustix::net::connect(&socket, &SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 9)) {
        Ok(()) => Ok(true),
        Err(Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn hear(script: &Script) -> Tried<Option<OwnedFd>> {
    let Some(program) = &script.heard else { return Ok(None) };
    confine::filter_with_listener(program).map(Some).at(Part::Listener)
}

/// Until the first process has left the supervisor's memory: from then on there is nothing of it to be seen inside.
fn wait_for_seal(plot: &Plot) -> Result<(), Errno> {
    let mut byte = [0_u8];
    loop {
        match rustix::io::read(handle(plot.ends.seal), &mut byte) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Executes the command, wherever it is found first. Comes back with the reason if it is nowhere.
pub(super) fn start(start: &Start) -> Errno {
    if let Err(errno) = confine::reset_signals().and_then(|()| confine::block_signals(start.mask).map(drop)) {
        return errno;
    }
    let mut reason = Errno::NOENT;
    for program in &start.programs {
        match confine::execute(program, &start.arguments, &start.environment) {
            Errno::NOENT | Errno::NOTDIR => {}
            // Found and not allowed: a later one may be, and if not, this is what to say.
            Errno::ACCESS => reason = Errno::ACCESS,
            errno => return errno,
        }
    }
    reason
}
