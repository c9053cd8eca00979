//! The process of the command: gives up what is left, tries the jail, waits for leave, and executes the command.

use std::ffi::{CStr, CString};

use rustix::io::Errno;

use super::{
    MASTER, NOT_IN_CGROUP, SCRATCH_FD, SLAVE, UMASK, drop_capabilities, filter_program, send, socket,
};
use crate::seccomp::Instruction;
use crate::sys::linux::calls::confine;
use crate::sys::linux::init::ops;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::{Argument, Register, Script, arguments};
use crate::sys::linux::setup::rootfs::close;

/// Everything that a command is started with.
pub(crate) struct Command<'a> {
    /// Cgroups to join.
    pub(crate) groups: Vec<Group>,
    pub(crate) streams: Streams,
    /// Resource, soft limit, hard limit.
    pub(crate) limits: &'a [(u32, u64, u64)],
    /// The directory it starts in.
    pub(crate) cwd: &'a CStr,
    /// Ruleset that Landlock enforces.
    pub(crate) ruleset: Option<Register>,
    /// The filter of system calls.
    pub(crate) filter: &'a [Instruction],
    /// The filter that notifies the supervisor of calls.
    pub(crate) notified: Option<&'a [Instruction]>,
    /// Actions that must not be possible.
    pub(crate) checks: Checks<'a>,
    /// Paths at which the program may be, in order.
    pub(crate) programs: &'a [CString],
    pub(crate) argv: &'a [CString],
    pub(crate) environment: &'a [CString],
    /// Blocked-signal mask.
    pub(crate) mask: u64,
    /// True if it has namespaces of its own.
    pub(crate) namespaced: bool,
}

/// A cgroup to join.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    /// File that is written to in order to join it.
    pub(crate) entrance: Register,
    /// The group itself, where a process can be started in it.
    pub(crate) whole: Option<Register>,
}

/// The standard streams; `None` is the jail's own terminal.
pub(crate) struct Streams(pub(crate) [Option<Register>; 3]);

impl Streams {
    pub(crate) fn has_terminal(&self) -> bool {
        self.0.contains(&None)
    }
}

/// Actions that are tried before the command starts, and have to fail.
#[derive(Default)]
pub(crate) struct Checks<'a> {
    /// Paths that must not be there.
    pub(crate) absent: &'a [CString],
    /// Paths that must not be readable.
    pub(crate) unreadable: &'a [CString],
    /// Families of sockets that must not be made.
    pub(crate) families: &'a [i32],
    /// True if no way may lead out of the network.
    pub(crate) cut_off: bool,
}

/// Writes what the process of the command does; it begins here. Hands over itself, other descriptors, and its terminal.
pub(crate) fn command(script: &mut Script, command: &Command<'_>, handed: &[Register]) {
    script.begin_spawned();
    if !command.namespaced {
        script.step(SetupStep::Lifeline);
        let arguments = arguments![libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0];
        script.call(libc::SYS_prctl, arguments);
    }
    hand_over(script, handed);
    join_groups(script, &command.groups, true);
    if command.namespaced {
        script.step(SetupStep::Namespaces);
        script.call(libc::SYS_unshare, arguments![libc::CLONE_NEWCGROUP]);
        script.call(libc::SYS_umask, arguments![UMASK]);
    }
    session(script, &command.streams);
    streams(script, &command.streams);
    keep(script, command.ruleset);
    limits(script, command);
    script.step(SetupStep::Cwd);
    let cwd = script.text(command.cwd);
    script.call(libc::SYS_chdir, arguments![cwd]);
    drop_capabilities(script);
    if let Some(ruleset) = command.ruleset {
        script.step(SetupStep::Landlock);
        script.call(libc::SYS_landlock_restrict_self, arguments![ruleset, 0]);
    }
    check_files(script, &command.checks);
    super::filter(script, command.filter);
    check_sockets(script, &command.checks);
    notify(script, command.notified);
    script.step(SetupStep::Leave);
    script.add(ops::WAIT, []);
    signals(script, command.mask);
    start(script, command);
}

/// Gives the supervisor descriptors, and keeps the way to it away from the standard streams.
fn hand_over(script: &mut Script, handed: &[Register]) {
    script.step(SetupStep::Report);
    let moved = arguments![Register::CONTROL, libc::F_DUPFD_CLOEXEC, 3];
    script.call(libc::SYS_fcntl, moved).into(Register::CONTROL);
    script.step(SetupStep::Command);
    script.call(libc::SYS_getpid, []).into(SCRATCH_FD);
    script.call(libc::SYS_pidfd_open, arguments![SCRATCH_FD, 0]).into(SCRATCH_FD);
    let all: Vec<_> = [SCRATCH_FD].into_iter().chain(handed.iter().copied()).chain([MASTER]).collect();
    send(script, ops::HANDED, &all);
    close(script, SCRATCH_FD);
}

/// Joins cgroups. The supervisor has opened them, and its right to do this counts. A process that was spawned is in those
/// already in which the kernel could start it.
pub(super) fn join_groups(script: &mut Script, groups: &[Group], spawned: bool) {
    script.step(SetupStep::Cgroup);
    let own = script.bytes(b"0");
    for group in groups {
        let joined = script.call(libc::SYS_write, arguments![group.entrance, own, 1]);
        if group.whole.is_some() && spawned {
            joined.only_if(NOT_IN_CGROUP);
        }
    }
}

/// A session of its own; with a terminal, a job in the session of its parent.
fn session(script: &mut Script, streams: &Streams) {
    script.step(SetupStep::Session);
    if !streams.has_terminal() {
        script.call(libc::SYS_setsid, []);
        return;
    }
    script.call(libc::SYS_setpgid, arguments![0, 0]);
    script.call(libc::SYS_getpid, []).into(SCRATCH_FD);
    script.call(libc::SYS_ioctl, [SLAVE.into(), Argument::from(libc::TIOCSPGRP), Argument::At(SCRATCH_FD)]);
}

pub(super) fn streams(script: &mut Script, streams: &Streams) {
    script.step(SetupStep::Streams);
    for (number, stream) in (0..).zip(streams.0) {
        script.call(libc::SYS_dup3, arguments![stream.unwrap_or(SLAVE), number, 0]);
    }
}

/// Closes what only the making of the jail needed: the command may be allowed few descriptors.
fn keep(script: &mut Script, ruleset: Option<Register>) {
    script.add(ops::CLOSE_OTHERS, arguments![ops::CONTROL, ruleset.map_or(0, |ruleset| ruleset.0)]);
}

pub(super) fn limits(script: &mut Script, command: &Command<'_>) {
    script.step(SetupStep::Limits);
    for (resource, soft, hard) in command.limits {
        let both = script.words(&[*soft, *hard]);
        script.call(libc::SYS_prlimit64, arguments![0, *resource, both, 0]);
    }
}

/// The jail is tried before it is trusted: what must not be there is not there, what must not be read is not.
fn check_files(script: &mut Script, checks: &Checks<'_>) {
    script.step(SetupStep::HostVisible);
    let at = |script: &mut Script, path: &CString, flags: i32| {
        let path = script.text(path);
        let arguments = arguments![libc::AT_FDCWD, path, flags | libc::O_CLOEXEC, 0];
        script.refused(libc::SYS_openat, arguments).accept_any();
    };
    for path in checks.absent {
        at(script, path, libc::O_PATH | libc::O_NOFOLLOW);
    }
    for path in checks.unreadable {
        at(script, path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY);
    }
}

/// And what must not be reached is not reached.
fn check_sockets(script: &mut Script, checks: &Checks<'_>) {
    script.step(SetupStep::NetworkAlive);
    for family in checks.families {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        script.refused(libc::SYS_socket, arguments![*family, kind, 0]).accept_any();
    }
    if checks.cut_off {
        check_cut_off(script);
    }
}

/// No way leads out of the network.
pub(super) fn check_cut_off(script: &mut Script) {
    // An address that is reserved for documents. Nothing is sent: connecting a datagram socket looks up the way and no
    // more.
    let (family, bytes) = super::kernel_address(([192, 0, 2, 1], 9).into());
    let address = script.bytes(&bytes);
    socket(script, family, libc::SOCK_DGRAM, SCRATCH_FD);
    let unreachable = [Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::NETDOWN];
    script.refused(libc::SYS_connect, arguments![SCRATCH_FD, address, bytes.len()]).accept(&unreachable);
    close(script, SCRATCH_FD);
}

/// Says that every layer is on. Calls that the supervisor is notified of come out of the handle that goes with this.
fn notify(script: &mut Script, program: Option<&[Instruction]>) {
    let Some(program) = program else { return send(script, ops::READY, &[]) };
    script.step(SetupStep::Listener);
    let program = filter_program(script, program);
    let flags = confine::listener_flags();
    script
        .call(libc::SYS_seccomp, arguments![libc::SECCOMP_SET_MODE_FILTER, flags, program])
        .into(SCRATCH_FD);
    send(script, ops::READY, &[SCRATCH_FD]);
    close(script, SCRATCH_FD);
}

/// The command has the signals of the caller. Handled ones have their default meaning since init was executed; ignored ones
/// stay ignored, except a broken pipe.
pub(super) fn signals(script: &mut Script, mask: u64) {
    script.step(SetupStep::Command);
    let (default, mask) = (script.words(&[0; 4]), script.words(&[mask]));
    script.call(libc::SYS_rt_sigaction, arguments![libc::SIGPIPE, default, 0, 8]);
    script.call(libc::SYS_rt_sigprocmask, arguments![libc::SIG_SETMASK, mask, 0, 8]);
}

fn start(script: &mut Script, command: &Command<'_>) {
    let (programs, argv) = (script.texts(command.programs), script.texts(command.argv));
    let environment = script.texts(command.environment);
    script.add(ops::START, arguments![programs, argv, environment]);
}
