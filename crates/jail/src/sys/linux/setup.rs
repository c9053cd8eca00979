//! Writes the operations that turn a process into a confined command, for every provider.

pub(crate) mod broker_network;
mod command;
pub(crate) mod idmap;
pub(crate) mod landlock_rules;
pub(crate) mod rootfs;
pub(crate) mod steps;

use std::net::SocketAddr;

use rustix::io::Errno;
use rustix::thread::CpuSet;

use super::calls::confine::HandledAccess;
use super::init::ops;
use super::init::report::SetupStep;
use super::init::script::{Argument, Register, Script, arguments};
use crate::plan::{HOSTNAME, Owner};
use crate::seccomp::Instruction;
use rootfs::{ROOT, Rootfs, close};
use steps::{Options, Step};

use command::command;
pub(super) use command::{Checks, Command, Group, Streams};

/// Marks descriptors to be closed when something is executed, and closes none.
const CLOSE_RANGE_CLOEXEC: u32 = 1 << 2;

/// Ruleset that Landlock enforces.
pub(super) const RULESET: Register = Register(4);
/// The two ends of the jail's terminal.
pub(super) const MASTER: Register = Register(5);
const SLAVE: Register = Register(6);
/// The umask of the caller.
const UMASK: Register = Register(7);
/// The process of the command, as its parent sees it.
const COMMAND: Register = Register(8);
/// More than 0 if the command has to join its cgroups by itself.
const NOT_IN_CGROUP: Register = Register(9);
/// A list of the children of a subreaper.
const CHILDREN: Register = Register(10);
/// A short-lived descriptor or number.
const SCRATCH_FD: Register = Register(11);
/// The first of those for sockets of the supervisor.
const SOCKETS: u16 = 32;

/// Moves init into its namespaces. Nothing has to be known about the jail for this.
pub(super) fn namespaces(script: &mut Script, own_network: bool) {
    script.step(SetupStep::Lifeline);
    script.add(ops::LIFELINE, arguments![libc::SIGKILL]);
    watch_children(script);
    script.step(SetupStep::Namespaces);
    let network = if own_network { libc::CLONE_NEWNET } else { 0 };
    let own = libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | network;
    script.call(libc::SYS_unshare, arguments![own]);
    if own_network {
        loopback(script);
    }
    set_hostname(script);
    // The tree is made as it is written down; the command has the caller's mask again.
    script.call(libc::SYS_umask, arguments![0]).into(UMASK);
    // The caller's directory may be closed to the user that init becomes, and is not needed here.
    let top = script.text(c"/");
    script.call(libc::SYS_chdir, arguments![top]);
}

fn set_hostname(script: &mut Script) {
    script.step(SetupStep::HostName);
    let name = script.bytes(HOSTNAME.as_bytes());
    script.call(libc::SYS_sethostname, arguments![name, HOSTNAME.len()]);
}

/// Children stay to be waited for, and their end is told, no matter what the caller has made of `SIGCHLD`: ignored signals
/// stay ignored in what is executed.
fn watch_children(script: &mut Script) {
    let default = script.words(&[0; 4]);
    script.call(libc::SYS_rt_sigaction, arguments![libc::SIGCHLD, default, 0, 8]);
}

/// Brings up the loopback interface.
fn loopback(script: &mut Script) {
    const SET_FLAGS: u64 = 0x8914;
    const UP: u8 = 1;
    script.step(SetupStep::Loopback);
    let mut request = [0; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..18].copy_from_slice(&u16::from(UP).to_ne_bytes());
    let request = script.bytes(&request);
    socket(script, libc::AF_INET, libc::SOCK_DGRAM, SCRATCH_FD);
    script.call(libc::SYS_ioctl, arguments![SCRATCH_FD, SET_FLAGS, request]);
    close(script, SCRATCH_FD);
    free_low_ports(script);
}

/// Lets every process in the jail's own network have ports below 1024: they belong to no service there. Where `/proc/sys`
/// cannot be written, as in a container, they stay closed.
fn free_low_ports(script: &mut Script) {
    let path = script.text(c"/proc/sys/net/ipv4/ip_unprivileged_port_start");
    let flags = libc::O_WRONLY | libc::O_CLOEXEC;
    script.call(libc::SYS_openat, arguments![libc::AT_FDCWD, path, flags]).accept_any().into(SCRATCH_FD);
    let zero = script.bytes(b"0");
    script.call(libc::SYS_write, arguments![SCRATCH_FD, zero, 1]).only_if(SCRATCH_FD).accept_any();
    script.call(libc::SYS_close, arguments![SCRATCH_FD]).only_if(SCRATCH_FD);
}

fn socket(script: &mut Script, family: i32, kind: i32, into: Register) {
    script.call(libc::SYS_socket, arguments![family, kind | libc::SOCK_CLOEXEC, 0]).into(into);
}

/// Has init run where the supervisor may run.
pub(super) fn processors(script: &mut Script, processors: &CpuSet) {
    let mut words = vec![0_u64; CpuSet::MAX_CPU.div_ceil(64)];
    for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| processors.is_set(*cpu)) {
        words[cpu / 64] |= 1 << (cpu % 64);
    }
    script.step(SetupStep::Lifeline);
    let mask = script.words(&words);
    script.call(libc::SYS_sched_setaffinity, arguments![0, words.len() * 8, mask]);
}

/// Work that init does before the jail is known: what nearly every jail has.
pub(super) struct EarlyScript {
    /// User that it becomes; it stays who it is where the caller is an ordinary user.
    pub(super) becomes: Option<Owner>,
    /// Options of the file system that holds everything private.
    pub(super) root: Options,
    /// The part of the tree that nearly every jail has.
    pub(super) steps: Vec<Step>,
    /// Access that Landlock handles; absent where the kernel has none.
    pub(super) handled: Option<HandledAccess>,
    /// Access that it allows in nearly every jail.
    pub(super) grants: Vec<Grant>,
}

/// A path relative to the root, and what may be done beneath it.
pub(super) type Grant = (std::ffi::CString, u64);

/// Builds what nearly every jail has, and gives up what none has.
pub(super) fn base(script: &mut Script, base: &EarlyScript) {
    if let Some(owner) = base.becomes {
        become_owner(script, owner);
    }
    leave_keyring(script, &[]);
    script.step(SetupStep::Private);
    let top = script.text(c"/");
    script.call(libc::SYS_mount, arguments![0, top, 0, libc::MS_REC | libc::MS_PRIVATE, 0]);
    rootfs::private_root(script, &base.root);
    // No other process can change these paths: they are the system's or our own.
    Rootfs { options: &base.root, shared: false }.build(script, &base.steps, 0);
    if let Some(handled) = &base.handled {
        script.step(SetupStep::Landlock);
        let about = script.words(&[handled.files, handled.network, handled.scoped]);
        script.call(libc::SYS_landlock_create_ruleset, arguments![about, 24, 0]).into(RULESET);
        allow(script, &base.grants);
    }
    drop_privileges(script, &[]);
}

/// Becomes another user, with no other groups.
fn become_owner(script: &mut Script, owner: Owner) {
    script.step(SetupStep::Identity);
    script.call(libc::SYS_setgroups, arguments![0, 0]);
    script.call(libc::SYS_setresgid, [Argument::from(owner.gid); 3]);
    script.call(libc::SYS_setresuid, [Argument::from(owner.uid); 3]);
    // The kernel forgets it with the old identity.
    script.step(SetupStep::Lifeline);
    script.add(ops::LIFELINE, arguments![libc::SIGKILL]);
}

/// Leaves the session keyring that was inherited for an empty one. A kernel without keyrings has none to leave.
fn leave_keyring(script: &mut Script, accepted: &[Errno]) {
    const JOIN_SESSION_KEYRING: u32 = 1;
    script.step(SetupStep::Keyring);
    let accepted: Vec<_> = accepted.iter().copied().chain([Errno::NOSYS]).collect();
    script.call(libc::SYS_keyctl, arguments![JOIN_SESSION_KEYRING, 0]).accept(&accepted);
}

/// Allows what a jail may do beneath its paths.
fn allow(script: &mut Script, grants: &[Grant]) {
    for (path, access) in grants {
        rootfs::open_beneath(script, path, SCRATCH_FD);
        script.add(ops::GRANT, arguments![RULESET.0, SCRATCH_FD.0, *access]);
        close(script, SCRATCH_FD);
    }
}

/// Gives up what no process in the jail can ever have again.
fn drop_privileges(script: &mut Script, accepted: &[Errno]) {
    /// `NOROOT`, `NO_SETUID_FIXUP`, `NO_CAP_AMBIENT_RAISE`, and the locks of these and of `KEEP_CAPS`.
    const SECURE_BITS: u32 = 0b1110_1111;
    script.step(SetupStep::NoNewPrivileges);
    script.call(libc::SYS_prctl, arguments![libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
    script.step(SetupStep::Capabilities);
    // Those that this kernel does not know are invalid.
    let accepted_or_unknown: Vec<_> = accepted.iter().copied().chain([Errno::INVAL]).collect();
    for capability in 0..64 {
        let arguments = arguments![libc::PR_CAPBSET_DROP, capability, 0, 0, 0];
        script.call(libc::SYS_prctl, arguments).accept(&accepted_or_unknown);
    }
    script.call(libc::SYS_prctl, arguments![libc::PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0]).accept(accepted);
}

/// The part of a tree that the base has not built.
pub(super) struct LateScript<'a> {
    /// Options of the file system that holds everything private, if they are others than it was made with.
    pub(super) resized: bool,
    pub(super) root: Options,
    pub(super) steps: &'a [Step],
    /// Number of steps that were performed before.
    pub(super) before: usize,
    /// Access that Landlock allows, besides what nearly every jail allows.
    pub(super) grants: Vec<Grant>,
    /// True if there is a Landlock.
    pub(super) landlock: bool,
}

/// Builds the rest of the tree, and enters it.
pub(super) fn rest(script: &mut Script, rest: &LateScript<'_>) {
    if rest.resized {
        rootfs::resize(script, &rest.root);
    }
    Rootfs { options: &rest.root, shared: true }.build(script, rest.steps, rest.before);
    if rest.landlock {
        script.step(SetupStep::Landlock);
        allow(script, &rest.grants);
    }
    rootfs::enter(script);
}

/// Sockets inside the jail's network for the supervisor. No process inside gets them: they are closed when something is executed.
pub(super) struct Sockets<'a> {
    /// Addresses on which it listens.
    pub(super) listen: &'a [SocketAddr],
    /// True if it connects to servers there.
    pub(super) dial: bool,
    /// True if it is the only way out.
    pub(super) broker: bool,
}

/// Number of connections into a jail that there can be at once, of each version of the protocol.
const DIALERS_PER_FAMILY: usize = 32;
/// Number of sockets for them.
pub(super) const DIALERS: usize = 2 * DIALERS_PER_FAMILY;
/// As many listeners as a spec can ask for.
const LISTENERS: usize = 16;

/// Makes them. Returns where they are.
fn sockets(script: &mut Script, sockets: &Sockets<'_>) -> Vec<Register> {
    script.step(SetupStep::Listen);
    let mut registers = (SOCKETS..).map(Register);
    let mut made = Vec::new();
    for (address, register) in sockets.listen.iter().take(LISTENERS).zip(registers.by_ref()) {
        listener(script, *address, register);
        made.push(register);
    }
    let dialers = if sockets.dial { DIALERS } else { 0 };
    // Without IPv6 the second half is more of the first.
    let second = if has_ipv6() { libc::AF_INET6 } else { libc::AF_INET };
    for (number, register) in (0..dialers).zip(registers) {
        socket(
            script,
            if number < DIALERS_PER_FAMILY { libc::AF_INET } else { second },
            libc::SOCK_STREAM,
            register,
        );
        made.push(register);
    }
    if sockets.broker {
        // Last: how many there are depends on the kernel.
        made.extend(broker_network::broker_network(script));
    }
    made
}

fn has_ipv6() -> bool {
    use rustix::net::{AddressFamily, SocketFlags, SocketType};
    rustix::net::socket_with(AddressFamily::INET6, SocketType::STREAM, SocketFlags::CLOEXEC, None).is_ok()
}

fn listener(script: &mut Script, address: SocketAddr, into: Register) {
    let (family, bytes) = kernel_address(address);
    socket(script, family, libc::SOCK_STREAM, into);
    let address = script.bytes(&bytes);
    script.call(libc::SYS_bind, arguments![into, address, bytes.len()]);
    script.call(libc::SYS_listen, arguments![into, 128]);
}

/// An address as the kernel takes it, and its family.
fn kernel_address(address: SocketAddr) -> (i32, Vec<u8>) {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut bytes = u16::try_from(family).unwrap_or_default().to_ne_bytes().to_vec();
    bytes.extend(address.port().to_be_bytes());
    match address {
        SocketAddr::V4(address) => {
            bytes.extend(address.ip().octets());
            bytes.extend([0; 8]);
        }
        SocketAddr::V6(address) => {
            bytes.extend(address.flowinfo().to_be_bytes());
            bytes.extend(address.ip().octets());
            bytes.extend(address.scope_id().to_ne_bytes());
        }
    }
    (family, bytes)
}

/// A terminal of the jail's own. Init leads its session, so that the command is stopped and continued like a job of a shell.
fn terminal(script: &mut Script) {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    script.step(SetupStep::Terminal);
    let (path, unlocked) = (script.text(c"/dev/ptmx"), script.words(&[0]));
    script.call(libc::SYS_openat, arguments![libc::AT_FDCWD, path, flags, 0]).into(MASTER);
    script.call(libc::SYS_ioctl, arguments![MASTER, libc::TIOCSPTLCK, unlocked]);
    script.call(libc::SYS_ioctl, arguments![MASTER, libc::TIOCGPTPEER, flags]).into(SLAVE);
    script.step(SetupStep::Session);
    script.call(libc::SYS_setsid, []);
    script.call(libc::SYS_ioctl, arguments![SLAVE, libc::TIOCSCTTY, 0]);
}

/// The address of a filter as the kernel takes it.
fn filter_program(script: &mut Script, program: &[Instruction]) -> u64 {
    let bytes: Vec<u8> = program.iter().flat_map(|instruction| instruction.bytes()).collect();
    let instructions = script.bytes(&bytes);
    script.words(&[program.len() as u64, instructions])
}

fn filter(script: &mut Script, program: &[Instruction]) {
    script.step(SetupStep::Filter);
    let program = filter_program(script, program);
    script.call(libc::SYS_seccomp, arguments![libc::SECCOMP_SET_MODE_FILTER, 0, program]);
}

/// Gives up every capability.
fn drop_capabilities(script: &mut Script) {
    const VERSION_3: u64 = 0x2008_0522;
    script.step(SetupStep::Capabilities);
    let (header, none) = (script.words(&[VERSION_3]), script.words(&[0; 3]));
    script.call(libc::SYS_capset, arguments![header, none]);
}

/// Sends a report with descriptors. Registers that hold none are left out.
fn send(script: &mut Script, report: u8, registers: &[Register]) {
    script.step(SetupStep::Report);
    let bytes: Vec<u8> = registers.iter().flat_map(|register| register.0.to_ne_bytes()).collect();
    let list = script.bytes(&bytes);
    script.add(ops::SEND, arguments![u64::from(report), list, registers.len()]);
}

/// The first process of a jail: starts the command and reaps.
pub(super) fn init(script: &mut Script, sockets: &Sockets<'_>, to_start: &Command<'_>) {
    if to_start.streams.has_terminal() {
        terminal(script);
    }
    let sockets = self::sockets(script, sockets);
    spawn(script, to_start);
    script.add(ops::CLOSE_OTHERS, arguments![ops::CONTROL]);
    script.call(libc::SYS_close, arguments![1]);
    script.call(libc::SYS_close, arguments![2]);
    drop_capabilities(script);
    filter(script, to_start.filter);
    send(script, ops::STARTED, &[]);
    script.add(ops::REAP, arguments![COMMAND.0]);
    let handed: Vec<_> = [ROOT].into_iter().chain(sockets).collect();
    command(script, to_start, &handed);
}

/// Starts the process of the command, which goes on with what `command` writes at the end of the script.
fn spawn(script: &mut Script, to_start: &Command<'_>) {
    script.step(SetupStep::Command);
    // No process inside looks into this process, from the first moment on.
    script.call(libc::SYS_prctl, arguments![libc::PR_SET_DUMPABLE, 0, 0, 0, 0]);
    let group = to_start.groups.iter().find(|group| group.whole.is_some());
    let into = group.and_then(|group| group.whole).unwrap_or(Register(0));
    script.add(ops::SPAWN, arguments![0, into.0, NOT_IN_CGROUP.0]).into(COMMAND);
}

/// The process between the supervisor and a command without namespaces: adopts what loses its parent in the jail, so that all
/// of it is below it and nothing else is, and ends all of that with the command or the supervisor.
///
/// It stays outside the cgroups of the command: what the command does there must not end it.
pub(super) fn subreaper(script: &mut Script, lock: Register, terminal_access: u64, to_start: &Command<'_>) {
    script.step(SetupStep::Lifeline);
    script.add(ops::LIFELINE, arguments![libc::SIGTERM]);
    script.step(SetupStep::Processes);
    watch_children(script);
    script.call(libc::SYS_prctl, arguments![libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0]);
    let children = script.text(c"/proc/thread-self/children");
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    script.call(libc::SYS_openat, arguments![libc::AT_FDCWD, children, flags, 0]).into(CHILDREN);
    // A process that may not touch keyrings here has none that matters: the filter refuses them to the command as well.
    leave_keyring(script, &[Errno::PERM]);
    if to_start.streams.has_terminal() {
        terminal(script);
        script.step(SetupStep::Landlock);
        script.add(
            ops::GRANT,
            arguments![to_start.ruleset.map_or(0, |ruleset| ruleset.0), SLAVE.0, terminal_access],
        );
    } else {
        script.step(SetupStep::Session);
        script.call(libc::SYS_setsid, []);
    }
    // A process that may not change the bounding set has no capabilities to bound: with no new privileges, executing
    // something never gives more than there was before.
    drop_privileges(script, &[Errno::PERM]);
    spawn(script, to_start);
    script.add(ops::CLOSE_OTHERS, arguments![ops::CONTROL, lock.0, CHILDREN.0]);
    drop_capabilities(script);
    send(script, ops::STARTED, &[]);
    script.add(ops::SUBREAP, arguments![COMMAND.0, CHILDREN.0]);
    command(script, to_start, &[]);
}

/// Becomes a program by its handle, such as bubblewrap, which makes the jail itself. Descriptors come with the numbers that it
/// is told.
pub(super) fn wrapper(
    script: &mut Script,
    program: Register,
    numbered: &[(Register, usize)],
    to_start: &Command<'_>,
) {
    script.step(SetupStep::Lifeline);
    script.add(ops::LIFELINE, arguments![libc::SIGKILL]);
    watch_children(script);
    command::join_groups(script, &to_start.groups, false);
    if to_start.streams.has_terminal() {
        terminal(script);
        send(script, ops::HANDED, &[MASTER]);
    } else {
        script.step(SetupStep::Session);
        script.call(libc::SYS_setsid, []);
    }
    // Away from the standard streams; closed when the program is executed.
    script.step(SetupStep::Report);
    let moved = arguments![Register::CONTROL, libc::F_DUPFD_CLOEXEC, 3];
    script.call(libc::SYS_fcntl, moved).into(Register::CONTROL);
    command::streams(script, &to_start.streams);
    script.call(libc::SYS_close_range, arguments![3, u32::MAX, CLOSE_RANGE_CLOEXEC]);
    for (register, number) in numbered {
        script.call(libc::SYS_dup3, arguments![*register, *number, 0]);
    }
    command::limits(script, to_start);
    command::signals(script, to_start.mask);
    let (none, argv, empty) = (script.text(c""), script.texts(to_start.argv), script.words(&[0]));
    script.call(libc::SYS_execveat, arguments![program, none, argv, empty, libc::AT_EMPTY_PATH]);
}
