//! The processes that build a jail from inside.
//!
//! **Invariant.** Until they execute something they share the supervisor's memory. Nothing here allocates, panics, or uses the
//! C library; everything they need was prepared in a [`Script`], which nobody changes while they run.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd as _, OwnedFd, RawFd};
use std::sync::atomic::{AtomicPtr, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, FsPickFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::calls;
use super::calls::clone::{StackTop, clone_in_our_memory};
use super::calls::confine::{self, handle};
use super::calls::mounts::{MountChange, mount_setattr};
use super::report::{Part, Report};
use super::script::{BLANK, Base, Ends, Options, Script, Slot, Start, Step, VOID};

/// What both processes are given.
pub(super) struct Plot {
    ends: Ends,
    own_network: bool,
    /// The stack of the second process.
    stack: StackTop,
    /// What is done before the jail is known. Given when it is ready; the first process waits for leave before it looks.
    base: AtomicPtr<Base>,
    /// The rest, given in the same way.
    script: AtomicPtr<Script>,
}

impl Plot {
    pub(super) fn new(ends: Ends, own_network: bool, stack: StackTop) -> Self {
        let nothing = std::ptr::null_mut;
        Self {
            ends,
            own_network,
            stack,
            base: AtomicPtr::new(nothing()),
            script: AtomicPtr::new(std::ptr::null_mut()),
        }
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
    wait_for_leave(plot).at(Part::Leave)?;
    let base = calls::given(&plot.base).ok_or((Part::Leave, Errno::FAULT))?;
    let root = build_base(plot, base)?;
    let hands = Hands::receive(plot).at(Part::Leave)?;
    let script = calls::given(&plot.script).ok_or((Part::Leave, Errno::FAULT))?;
    let init = build_rest(script, base, &root, &hands)?;
    let ruleset = landlock(script)?;
    let terminal = if script.streams.contains(&None) { Some(open_terminal()?) } else { None };
    let listeners = listeners(script)?;
    renounce()?;
    confine::filter(&script.filter).at(Part::Filter)?;
    let second = Second {
        plot,
        script,
        hands: &hands,
        umask,
        ruleset: ruleset.as_ref().map(AsFd::as_fd),
        terminal: terminal.as_ref().map(|(_, slave)| slave.as_fd()),
    };
    // SAFETY: `second` lives on this stack, which is not left before `stay` executes something; the second process is
    // told only then to go on past its last use of it. Signals are blocked since before the first process was made.
    let pid = unsafe { clone_in_our_memory(0, plot.stack, second_main, &second) }.at(Part::Command)?;
    let master = terminal.as_ref().map(|(master, _)| master.as_fd());
    hand_over(plot, &root, &listeners, master, pid)?;
    stay(plot, script, &init)
}

/// What can be done before anything is known about the jail.
fn prepare(plot: &Plot) -> Tried<()> {
    // Another thread may be making a jail: whoever keeps a copy of its ends keeps it from seeing that they are closed.
    confine::close_all_but(plot.ends.and_standard_streams()).at(Part::Report)?;
    rustix::io::write(handle(plot.ends.status), b"!").at(Part::Report)?;
    live_and_die_with(plot).at(Part::Lifeline)?;
    let own = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    let network = if plot.own_network { UnshareFlags::NEWNET } else { UnshareFlags::empty() };
    calls::unshare_namespaces(own | network).at(Part::Namespaces)?;
    if plot.own_network {
        loopback().at(Part::Loopback)?;
    }
    rustix::system::sethostname(b"ringfence").at(Part::HostName)
}

/// The part of the tree that nearly every jail has.
fn build_base(plot: &Plot, base: &Base) -> Tried<OwnedFd> {
    use rustix::mount::MountPropagationFlags;
    if let Some(who) = base.becomes {
        confine::become_owner(who.uid, who.gid).at(Part::Identity)?;
        // The kernel forgets it with the old identity.
        live_and_die_with(plot).at(Part::Lifeline)?;
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private).at(Part::Private)?;
    let root = private_root(&base.root).at(Part::Root)?;
    // Nobody else has anything to say about these paths: they are the system's or our own.
    let site = Site { root: root.as_fd(), options: &base.root, hands: &Hands::EMPTY, shared: false };
    for (index, step) in (0..).zip(&base.steps) {
        site.perform(step).at(Part::Tree(index))?;
    }
    Ok(root)
}

/// The rest of the tree, and into it.
fn build_rest(script: &Script, base: &Base, root: &OwnedFd, hands: &Hands) -> Tried<OwnedFd> {
    script.cgroups.iter().try_for_each(|slot| join(hands.number(*slot)?)).at(Part::Cgroup)?;
    calls::unshare_namespaces(UnshareFlags::NEWCGROUP).at(Part::Namespaces)?;
    if script.resized {
        resize(root, &script.root).at(Part::Root)?;
    }
    let done = u16::try_from(base.steps.len()).unwrap_or(u16::MAX);
    let site = Site { root: root.as_fd(), options: &script.root, hands, shared: true };
    for (index, step) in (0..).zip(&script.steps) {
        site.perform(step).at(Part::Tree(done.saturating_add(index)))?;
    }
    let init = write_init(root.as_fd(), &script.init).at(Part::Init)?;
    clear_scaffold(root.as_fd()).at(Part::Root)?;
    lock(root.as_fd()).at(Part::Root)?;
    pivot(root.as_fd()).at(Part::Pivot)?;
    confine::new_keyring().or_else(without_keyrings).at(Part::Keyring)?;
    Ok(init)
}

/// Descriptors that came from the supervisor after this process was made.
struct Hands {
    numbers: [RawFd; Self::MOST],
    count: usize,
}

impl Hands {
    /// As many as the kernel sends at once.
    const MOST: usize = 253;
    const EMPTY: Self = Self { numbers: [-1; Self::MOST], count: 0 };

    /// Waits for them; they are the leave to go on.
    fn receive(plot: &Plot) -> Result<Self, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(Self::MOST))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0_u8];
        let mut text = [rustix::io::IoSliceMut::new(&mut byte)];
        let report = handle(plot.ends.report);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received =
            rustix::io::retry_on_intr(|| rustix::net::recvmsg(report, &mut text, &mut control, flags))?;
        if received.bytes == 0 {
            return Err(Errno::PIPE);
        }
        let mut hands = Self::EMPTY;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(handles) = message {
                handles.for_each(|handle| hands.take(handle.into_raw_fd()));
            }
        }
        Ok(hands)
    }

    fn take(&mut self, number: RawFd) {
        if let Some(place) = self.numbers.get_mut(self.count) {
            *place = number;
            self.count = self.count.saturating_add(1);
        }
    }

    fn numbers_of(&self, slots: &[Option<Slot>; 3]) -> Result<[Option<RawFd>; 3], Errno> {
        let mut numbers = [None; 3];
        for (number, slot) in numbers.iter_mut().zip(slots) {
            *number = slot.map(|slot| self.number(slot)).transpose()?;
        }
        Ok(numbers)
    }

    fn number(&self, slot: Slot) -> Result<RawFd, Errno> {
        self.numbers.get(slot).copied().filter(|number| *number >= 0).ok_or(Errno::BADF)
    }
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

/// One byte from the supervisor. Its death is the end of this process, too.
fn wait_for_leave(plot: &Plot) -> Result<(), Errno> {
    let mut byte = [0_u8];
    loop {
        match rustix::io::read(handle(plot.ends.gate), &mut byte) {
            Ok(1) => return Ok(()),
            Ok(_) => return Err(Errno::PIPE),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// The one private file system, mounted over the old root, where only its handle leads.
fn private_root(options: &Options) -> Result<OwnedFd, Errno> {
    let root = private_file_system(options)?;
    rustix::mount::move_mount(
        root.as_fd(),
        c"",
        rustix::fs::CWD,
        c"/",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?;
    Ok(root)
}

fn private_file_system(options: &Options) -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    bounds(&made, options)?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"mode", c"0755")?;
    mount_of(&made, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)
}

fn bounds(made: &OwnedFd, options: &Options) -> Result<(), Errno> {
    rustix::mount::fsconfig_set_string(made.as_fd(), c"size", options.size.as_c_str())?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"nr_inodes", options.inodes.as_c_str())
}

/// Gives the private file system other bounds.
fn resize(root: &OwnedFd, options: &Options) -> Result<(), Errno> {
    let flags = FsPickFlags::FSPICK_CLOEXEC | FsPickFlags::FSPICK_EMPTY_PATH;
    let picked = rustix::mount::fspick(root.as_fd(), c"", flags)?;
    bounds(&picked, options)?;
    rustix::mount::fsconfig_reconfigure(picked.as_fd())
}

fn mount_of(made: &OwnedFd, attributes: MountAttrFlags) -> Result<OwnedFd, Errno> {
    rustix::mount::fsconfig_create(made.as_fd())?;
    rustix::mount::fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Where a tree is built, and with what.
struct Site<'a> {
    root: BorrowedFd<'a>,
    options: &'a Options,
    hands: &'a Hands,
    /// Whether paths lie in what others can change meanwhile.
    shared: bool,
}

impl Site<'_> {
    fn perform(&self, step: &Step) -> Result<(), Errno> {
        let root = self.root;
        match step {
            Step::Directory { path, mode } => directory(root, path, *mode),
            Step::Link { path, to } => rustix::fs::symlinkat(to.as_c_str(), root, path.as_c_str()),
            Step::File { path, text } => file(root, path, text).map(drop),
            Step::Bind { from, path, attributes, id } => {
                let tree = tree(rustix::fs::CWD, from)?;
                same(&tree, *id)?;
                self.place_as(tree, *attributes, path)
            }
            Step::Ready { mount, path } => self.place(handle(self.hands.number(*mount)?), path),
            Step::Device { from, path } => {
                let device = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
                self.place_as(tree(rustix::fs::CWD, from)?, device, path)
            }
            Step::Scratch { path } => self.place_owned(tree(root, path)?, path),
            Step::Fresh { path } => self.place_owned(private_file_system(self.options)?, path),
            Step::Empty { path, of } => {
                self.place_as(tree(root, of)?, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOEXEC, path)
            }
            Step::Processes { path } => self.place_owned(processes()?, path),
            Step::Terminals { path } => self.place_owned(terminals()?, path),
            Step::Lock { path } => {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                lock(rustix::fs::openat(root, path.as_c_str(), flags, Mode::empty())?.as_fd())
            }
        }
    }

    fn place_as(&self, tree: OwnedFd, attributes: u64, path: &CStr) -> Result<(), Errno> {
        let change = MountChange { set: attributes, clear: 0, propagation: libc::MS_PRIVATE, idmap: 0 };
        mount_setattr(tree.as_fd(), &change, true)?;
        self.place_owned(tree, path)
    }

    fn place_owned(&self, tree: OwnedFd, path: &CStr) -> Result<(), Errno> {
        self.place(tree.as_fd(), path)?;
        // Closed with everything else when this process executes its program, for nothing.
        std::mem::forget(tree);
        Ok(())
    }

    /// Mounts at a path of the new root. A link that has appeared on the way since the path was judged would lead out of it.
    fn place(&self, tree: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
        let by_name = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        if !self.shared {
            return rustix::mount::move_mount(tree, c"", self.root, path, by_name);
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let straight = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let point = rustix::fs::openat2(self.root, path, flags, Mode::empty(), straight)?;
        let by_handle = by_name | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        rustix::mount::move_mount(tree, c"", point.as_fd(), c"", by_handle)
    }
}

fn directory(root: BorrowedFd<'_>, path: &CStr, mode: u32) -> Result<(), Errno> {
    match rustix::fs::mkdirat(root, path, Mode::from_raw_mode(mode)) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

fn file(root: BorrowedFd<'_>, path: &CStr, text: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(root, path, flags, Mode::from_raw_mode(0o644))?;
    let mut rest = text;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(file)
}

/// A copy of everything mounted at and below a path, attached nowhere.
fn tree(at: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    rustix::mount::open_tree(at, path, flags)
}

/// Whether this is the object that was judged, and not one that was put in its place since.
fn same(tree: &OwnedFd, id: (u64, u64)) -> Result<(), Errno> {
    let found = rustix::fs::fstat(tree)?;
    if (found.st_dev, found.st_ino) == id { Ok(()) } else { Err(Errno::STALE) }
}

fn lock(mount: BorrowedFd<'_>) -> Result<(), Errno> {
    let change = MountChange { set: libc::MOUNT_ATTR_RDONLY, clear: 0, propagation: 0, idmap: 0 };
    mount_setattr(mount, &change, false)
}

fn processes() -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    mount_of(&made, attributes)
}

fn terminals() -> Result<OwnedFd, Errno> {
    let made = rustix::mount::fsopen(c"devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"ptmxmode", c"0666")?;
    rustix::mount::fsconfig_set_string(made.as_fd(), c"mode", c"0600")?;
    mount_of(&made, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// Puts the image of the process that stays where only a handle leads to it.
fn write_init(root: BorrowedFd<'_>, image: &[u8]) -> Result<OwnedFd, Errno> {
    const NAME: &CStr = c".init";
    let written = file(root, NAME, image)?;
    rustix::fs::fchmod(&written, Mode::from_raw_mode(0o500))?;
    // A file that is open for writing cannot be executed.
    drop(written);
    let init = rustix::fs::openat(root, NAME, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    rustix::fs::unlinkat(root, NAME, AtFlags::empty())?;
    Ok(init)
}

fn clear_scaffold(root: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::fs::unlinkat(root, BLANK, AtFlags::empty())?;
    rustix::fs::unlinkat(root, VOID, AtFlags::REMOVEDIR)
}

/// Makes the new root the only one. The old one is stacked on it for a moment and then let go.
fn pivot(root: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::process::fchdir(root)?;
    rustix::process::pivot_root(c".", c".")?;
    rustix::mount::unmount(c".", UnmountFlags::DETACH)?;
    rustix::process::chdir(c"/")
}

fn loopback() -> Result<(), Errno> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    calls::loopback_up(socket)
}

/// The ruleset, made where the paths are those of the jail.
fn landlock(script: &Script) -> Tried<Option<OwnedFd>> {
    let Some(handled) = &script.handled else { return Ok(None) };
    let ruleset = confine::landlock_create(handled).at(Part::Landlock)?;
    for (path, access) in &script.grants {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path.as_c_str(), flags, Mode::empty()).at(Part::Landlock)?;
        confine::landlock_allow(ruleset.as_fd(), opened.as_fd(), *access).at(Part::Landlock)?;
    }
    Ok(Some(ruleset))
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

/// A terminal of the jail's own, and the session it belongs to.
pub(super) fn open_terminal() -> Tried<(OwnedFd, OwnedFd)> {
    let master = rustix::pty::openpt(
        rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY | rustix::pty::OpenptFlags::CLOEXEC,
    );
    let master = master.at(Part::Terminal)?;
    rustix::pty::unlockpt(&master).at(Part::Terminal)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(
        &master,
        rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY | rustix::pty::OpenptFlags::CLOEXEC,
    );
    let slave = slave.at(Part::Terminal)?;
    // The first process leads the session, so that the command is stopped and continued like a job of a shell.
    rustix::process::setsid().at(Part::Session)?;
    rustix::process::ioctl_tiocsctty(&slave).at(Part::Terminal)?;
    Ok((master, slave))
}

/// Gives the supervisor handles on the command, the root, the sockets that it listens on, and the terminal, in this order.
fn hand_over(
    plot: &Plot,
    root: &OwnedFd,
    listeners: &[Option<OwnedFd>; LISTENERS],
    master: Option<BorrowedFd<'_>>,
    pid: Pid,
) -> Tried<()> {
    let command = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).at(Part::Command)?;
    let all = [Some(command.as_fd()), Some(root.as_fd())].into_iter();
    let all = all.chain(listeners.iter().map(|listener| listener.as_ref().map(AsFd::as_fd))).chain([master]);
    let (mut handles, mut count) = ([command.as_fd(); HANDLES], 0_usize);
    for (place, handle) in handles.iter_mut().zip(all.flatten()) {
        *place = handle;
        count = count.saturating_add(1);
    }
    let handles = handles.get(..count).unwrap_or_default();
    send(handle(plot.ends.report), Report::Handles, handles).at(Part::Report)
}

/// As many as are ever handed over at once.
const HANDLES: usize = LISTENERS + 3;

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
    let listener = observe(script)?;
    let handles = listener.as_ref().map(AsFd::as_fd);
    send(handle(plot.ends.report), Report::Ready, handles.as_slice()).at(Part::Report)?;
    drop(listener);
    wait_for_leave(plot).at(Part::Leave)?;
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

fn observe(script: &Script) -> Tried<Option<OwnedFd>> {
    let Some(program) = &script.observe else { return Ok(None) };
    confine::filter_with_listener(program).map(Some).at(Part::Observe)
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
