//! The process between the supervisor and a command without namespaces.
//!
//! It adopts whatever in the jail loses its parent, so that all of the jail is below it, and nothing else is. It ends all of
//! that when the command ends, when it is told to, and when the supervisor is gone, however that happened.
//!
//! **Invariant.** It shares the supervisor's memory for as long as it lives, and the command does until it executes something.
//! As in `child`, nothing here allocates, panics, or uses the C library; everything was prepared in a [`Post`].

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use crate::seccomp::Instruction;
use crate::sys::linux::calls::clone::{StackTop, clone_in_our_memory};
use crate::sys::linux::calls::confine::{self, handle};
use crate::sys::linux::child::{
    At, Tried, join, open_terminal, send, session, start, streams, tell, wait_for_leave, without_keyrings,
};
use crate::sys::linux::report::{Part, Report};
use crate::sys::linux::script::Start;

/// What both processes are given.
pub(super) struct Post {
    /// Where to tell how it goes.
    pub(super) report: RawFd,
    /// Where to wait for leave to go on.
    pub(super) gate: RawFd,
    /// Where the wait status of the command is told.
    pub(super) status: RawFd,
    /// Open for as long as a process of the jail may use its private space.
    pub(super) lock: RawFd,
    /// What Landlock allows.
    pub(super) ruleset: RawFd,
    /// What it allows on the jail's terminal.
    pub(super) terminal: u64,
    /// The stack of the command.
    pub(super) stack: StackTop,
    /// Cgroups to join, before anything else.
    pub(super) cgroups: Vec<RawFd>,
    /// Resource, soft limit, hard limit.
    pub(super) limits: Vec<(u32, u64, u64)>,
    /// The filter of system calls.
    pub(super) filter: Vec<Instruction>,
    /// Kinds of sockets that it has to refuse.
    pub(super) refused: &'static [AddressFamily],
    /// Paths that must not be readable.
    pub(super) unreadable: Vec<CString>,
    /// Where the command starts.
    pub(super) cwd: CString,
    /// What is executed there.
    pub(super) start: Start,
    /// The standard streams of the command; `None` is the jail's own terminal.
    pub(super) streams: [Option<RawFd>; 3],
    /// Every descriptor that is named here, and the three that every process has, in order.
    pub(super) kept: Vec<RawFd>,
}

enum Never {}

/// Starts the command, and watches over everything that comes of it.
pub(super) extern "C" fn stand(post: &Post) -> ! {
    let Err((part, errno)) = start_and_watch(post);
    tell(handle(post.report), Report::Failed(part, errno));
    confine::end(1)
}

fn start_and_watch(post: &Post) -> Tried<Never> {
    // Another thread may be making a jail: whoever keeps a copy of its ends keeps it from seeing that they are closed.
    confine::close_between(&post.kept).at(Part::Report)?;
    let children = adopt().at(Part::Processes)?;
    post.cgroups.iter().try_for_each(|entrance| join(*entrance)).at(Part::Cgroup)?;
    confine::new_keyring().or_else(without_keyrings).or_else(refused).at(Part::Keyring)?;
    let terminal = terminal(post)?;
    renounce()?;
    let command = Confined { post, terminal: terminal.as_ref().map(|(_, slave)| slave.as_fd()) };
    // SAFETY: `command` lives on this stack, which is not left: `watch` never comes back. Signals are blocked since before
    // this process was made, and `confined` keeps the rules of this module.
    let pid = unsafe { clone_in_our_memory(0, post.stack, confined, &command) }.at(Part::Command)?;
    hand_over(post, terminal.as_ref().map(|(master, _)| master.as_fd()), pid)?;
    confine::close_all_but([post.status, post.lock, children.as_raw_fd()]).at(Part::Streams)?;
    watch(post, &children, pid)
}

/// Becomes the one to whom orphans come. The handle lists the children of this process.
fn adopt() -> Result<OwnedFd, Errno> {
    confine::hear_of_parents_end()?;
    confine::adopt_orphans()?;
    confine::mind_children()?;
    rustix::fs::open(c"/proc/thread-self/children", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Who may not touch keyrings here has none that matters: the filter refuses them to the command as well.
fn refused(errno: Errno) -> Result<(), Errno> {
    if errno == Errno::PERM { Ok(()) } else { Err(errno) }
}

/// A terminal of the jail's own, if a stream wants one, and a session of our own in any case.
fn terminal(post: &Post) -> Tried<Option<(OwnedFd, OwnedFd)>> {
    if !post.streams.contains(&None) {
        return rustix::process::setsid().map(|_| None).at(Part::Session);
    }
    let terminal = open_terminal()?;
    confine::landlock_allow(handle(post.ruleset), terminal.1.as_fd(), post.terminal).at(Part::Landlock)?;
    Ok(Some(terminal))
}

/// What nobody in the jail can ever have again. Who may not change the bounding set has no capabilities to bound: with no new
/// privileges, executing something never gives more than there was before.
fn renounce() -> Tried<()> {
    confine::no_new_privileges().at(Part::NoNewPrivileges)?;
    let bounded = confine::empty_bounding_set().and_then(|()| confine::lock_secure_bits());
    bounded.or_else(refused).at(Part::Capabilities)
}

fn hand_over(post: &Post, master: Option<BorrowedFd<'_>>, pid: Pid) -> Tried<()> {
    let command = rustix::process::pidfd_open(pid, PidfdFlags::empty()).at(Part::Command)?;
    let all = [command.as_fd(), master.unwrap_or(command.as_fd())];
    let handles = if master.is_some() { &all[..] } else { &all[..1] };
    send(handle(post.report), Report::Handles, handles).at(Part::Report)
}

/// Until the command has ended, or somebody wants it to. Then everything ends.
fn watch(post: &Post, children: &OwnedFd, command: Pid) -> ! {
    while reap(post, command, WaitOptions::NOHANG | WaitOptions::UNTRACED) {
        match confine::next_signal() {
            Ok(libc::SIGCHLD) | Err(Errno::INTR) => {}
            _ => break,
        }
    }
    loop {
        end_children(children);
        // One at least; what it leaves behind is ours then, and ended next.
        match rustix::process::wait(ALL) {
            Ok(Some((pid, status))) => note(post, command, pid, status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => confine::end(0),
        }
        reap(post, command, WaitOptions::NOHANG);
    }
}

/// Children of every kind.
const ALL: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());

/// Takes notice of every child that has changed. Says whether there is still a command to wait for.
fn reap(post: &Post, command: Pid, how: WaitOptions) -> bool {
    loop {
        match rustix::process::wait(how | ALL) {
            Ok(Some((pid, status))) => {
                note(post, command, pid, status);
                if pid == command && !status.stopped() {
                    return false;
                }
            }
            Ok(None) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Tells the supervisor about the command.
fn note(post: &Post, command: Pid, pid: Pid, status: WaitStatus) {
    if pid == command {
        // When nobody listens any more, we are about to hear of that.
        let _nobody_listens = rustix::io::write(handle(post.status), &status.as_raw().to_le_bytes());
    }
}

/// Ends our children and their process groups, which the kernel ends in one step, however fast they multiply.
///
/// Only children: while we do not wait for one, its number is nobody else's. Whatever is below becomes our child in turn.
fn end_children(children: &OwnedFd) {
    let mut list = [0_u8; 4096];
    let Ok(length) = rustix::io::pread(children, &mut list, 0) else { return };
    let mut number = 0_i32;
    for byte in list.get(..length).unwrap_or_default() {
        if byte.is_ascii_digit() {
            number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
        } else {
            // A number that the buffer cut off has nothing behind it, and waits for the next look.
            if let Some(child) = Pid::from_raw(number.max(0)) {
                end_group(child);
            }
            number = 0;
        }
    }
}

fn end_group(child: Pid) {
    // Nothing here fails but for a child that has ended already.
    let _ended = rustix::process::kill_process(child, Signal::KILL);
    if let Ok(group) = rustix::process::getpgid(Some(child))
        && group != rustix::process::getpgrp()
    {
        let _ended = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// What the process of the command is given.
struct Confined<'a> {
    post: &'a Post,
    terminal: Option<BorrowedFd<'a>>,
}

extern "C" fn confined(command: &Confined<'_>) -> ! {
    let report = handle(command.post.report);
    match confine_and_wait(command) {
        Ok(()) => tell(report, Report::NotStarted(start(&command.post.start))),
        Err((part, errno)) => tell(report, Report::Failed(part, errno)),
    }
    confine::end(127)
}

fn confine_and_wait(command: &Confined<'_>) -> Tried<()> {
    let post = command.post;
    confine::die_with_parent().at(Part::Lifeline)?;
    session(command.terminal).at(Part::Session)?;
    streams(&post.streams, command.terminal).at(Part::Streams)?;
    let mut limits = post.limits.iter();
    limits.try_for_each(|(what, soft, hard)| confine::limit(*what, *soft, *hard)).at(Part::Limits)?;
    rustix::process::chdir(post.cwd.as_c_str()).at(Part::Cwd)?;
    confine::drop_capabilities().at(Part::Capabilities)?;
    confine::landlock_enter(handle(post.ruleset)).at(Part::Landlock)?;
    check_files(post)?;
    confine::filter(&post.filter).at(Part::Filter)?;
    check_sockets(post)?;
    send(handle(post.report), Report::Ready, &[]).at(Part::Report)?;
    wait_for_leave(post.gate).at(Part::Leave)
}

/// The jail is tried before it is trusted: what must not be readable is not.
fn check_files(post: &Post) -> Tried<()> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opens = |path: &CString| rustix::fs::open(path.as_c_str(), flags, Mode::empty()).is_ok();
    if post.unreadable.iter().any(opens) { Err((Part::HostVisible, Errno::EXIST)) } else { Ok(()) }
}

/// And what must not be made is not made.
fn check_sockets(post: &Post) -> Tried<()> {
    let flags = SocketFlags::CLOEXEC;
    let makes =
        |family: &AddressFamily| rustix::net::socket_with(*family, SocketType::STREAM, flags, None).is_ok();
    if post.refused.iter().any(makes) { Err((Part::NetworkAlive, Errno::ISCONN)) } else { Ok(()) }
}
