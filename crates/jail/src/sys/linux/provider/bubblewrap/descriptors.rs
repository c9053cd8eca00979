//! Everything that bubblewrap is told, as descriptors.

use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use policy::Shown;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use crate::plan::{Handle, Word};
use crate::seccomp::Instruction;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::memory_file::sealed;
use crate::sys::linux::provider::native::SetupError;

/// Bubblewrap's ends, with the one its arguments come from at the end.
pub(super) struct Descriptors {
    all: Vec<OwnedFd>,
    /// The number that the first of them has in bubblewrap.
    first: usize,
}

/// Our ends.
pub(super) struct Ours {
    /// Pipe by which it is let go.
    pub(super) gate: OwnedFd,
    /// Closed by the other side when everything is mounted.
    mounted: OwnedFd,
    /// Pipe by which it tells its status.
    status: OwnedFd,
    /// Text that it has told and that has not been asked for yet.
    told: RefCell<Vec<u8>>,
}

impl Descriptors {
    pub(super) fn open(words: &[Word], filter: &[Instruction]) -> Result<(Self, Ours), SetupError> {
        let broken = |errno| SetupError::Step(SetupStep::Streams, None, errno);
        let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(broken);
        let ((gate, our_gate), (our_status, status), (our_last, last)) =
            (pipe()?, pipe()?, pair().map_err(broken)?);
        let mut ends =
            Ends { gate, sync_fd: our_gate.try_clone().map_err(|_| broken(Errno::MFILE))?, status, last };
        // Above every number that init is given, so that no number is taken by one that has not got its own yet.
        let first = RESERVED + words.iter().filter(|word| matches!(word, Word::Handle(_))).count();
        let (mut all, mut text) = (Vec::new(), Vec::new());
        for word in words {
            match word {
                Word::Plain(word) => text.extend(word.as_bytes()),
                Word::Handle(handle) => {
                    text.extend((first + all.len()).to_string().bytes());
                    all.push(ends.open(handle, filter, &our_last)?);
                }
            }
            text.push(0);
        }
        all.push(sealed(&text).map_err(broken)?);
        let ours = Ours { gate: our_gate, mounted: our_last, status: our_status, told: RefCell::default() };
        Ok((Self { all, first }, ours))
    }

    /// The number that the one has which its arguments come from.
    pub(super) fn arguments(&self) -> usize {
        (self.first + self.all.len()).saturating_sub(1)
    }

    /// All of them, with the numbers that they have in bubblewrap.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (BorrowedFd<'_>, usize)> {
        self.all.iter().map(AsFd::as_fd).zip(self.first..)
    }
}

/// More than init has open besides these: standard streams, its own and those of the command, cgroups, the program.
const RESERVED: usize = 32;

struct Ends {
    gate: OwnedFd,
    sync_fd: OwnedFd,
    status: OwnedFd,
    last: OwnedFd,
}

impl Ends {
    fn open(
        &mut self,
        wanted: &Handle,
        filter: &[Instruction],
        our_last: &OwnedFd,
    ) -> Result<OwnedFd, SetupError> {
        let broken = |errno| SetupError::Step(SetupStep::Streams, None, errno);
        let own = |end: &OwnedFd| end.try_clone().map_err(|_| broken(Errno::MFILE));
        match wanted {
            Handle::Text(text) => sealed(text).map_err(broken),
            Handle::Filter => {
                let bytes: Vec<u8> = filter.iter().flat_map(|instruction| instruction.bytes()).collect();
                sealed(&bytes).map_err(broken)
            }
            Handle::View(path, id) => view(path, *id).map_err(|errno| {
                SetupError::Step(SetupStep::Root, Some(format!("show {}", Shown::path(path))), errno)
            }),
            Handle::Last(text) => say(our_last, text).map_err(broken).and_then(|()| own(&self.last)),
            Handle::Gate => own(&self.gate),
            Handle::SyncFd => own(&self.sync_fd),
            Handle::Status => own(&self.status),
        }
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

/// All of a text, and that it is all.
fn say(to: &OwnedFd, text: &[u8]) -> Result<(), Errno> {
    // A list of users that does not fit into a socket is none of ours.
    rustix::fs::fcntl_setfl(to, OFlags::NONBLOCK)?;
    let written = rustix::io::write(to, text)?;
    rustix::fs::fcntl_setfl(to, OFlags::empty())?;
    rustix::net::shutdown(to, Shutdown::Write)?;
    if written == text.len() { Ok(()) } else { Err(Errno::FBIG) }
}

/// The object that was judged, and not one that was put in its place since.
fn view(path: &Path, id: (u64, u64)) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    if (found.st_dev, found.st_ino) == id { Ok(opened) } else { Err(Errno::STALE) }
}

impl Ours {
    /// The first thing it says, if it says anything before it ends.
    pub(super) fn first_word(&self) -> Option<String> {
        let mut told = self.told.borrow_mut();
        while !told.contains(&b'\n') && told.len() < MOST {
            self.read_more(&mut told)?;
        }
        let end = told.iter().position(|byte| *byte == b'\n')?;
        Some(String::from_utf8_lossy(&told.drain(..=end).collect::<Vec<_>>()).into_owned())
    }

    /// Everything else that it has said. To be asked when it has ended.
    pub(super) fn rest(&self) -> String {
        let mut told = self.told.borrow_mut();
        while told.len() < MOST && self.read_more(&mut told).is_some() {}
        String::from_utf8_lossy(&told).into_owned()
    }

    fn read_more(&self, told: &mut Vec<u8>) -> Option<()> {
        let mut space = [0; 512];
        let count = rustix::io::retry_on_intr(|| rustix::io::read(&self.status, &mut space)).ok()?;
        told.extend(&space[..count]);
        (count > 0).then_some(())
    }

    /// Waits until the last text was read and no process has the other side any more.
    pub(super) fn wait_until_mounted(&self) {
        // Nothing comes but the end; an error is one as well, and what it means is seen by whether any process is left.
        let _end = rustix::io::retry_on_intr(|| rustix::io::read(self.mounted.as_fd(), &mut [0]));
    }
}

/// More than it has any reason to say.
const MOST: usize = 64 << 10;
